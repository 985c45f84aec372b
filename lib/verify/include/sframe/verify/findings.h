// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The findings of verification: identifiers from one table (findings.def), findings, and their receivers.
//
// Checks pass each finding to a Sink as soon as it is complete, so a file with a million findings costs no
// memory.

#pragma once

#include "sframe/base/coverage.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::verify {

enum class Severity : std::uint8_t { note, warning, error };

enum class Id : std::uint8_t {
#define FINDING(id, severity, title, text, example) id,
#include "sframe/verify/findings.def"
#undef FINDING
};

/// One line of the table. All text is static.
struct Check {
  Id id;
  std::string_view name; ///< "C102"
  Severity severity;     ///< default, which users can override
  std::string_view title;
  std::string_view text;    ///< the meaning and what to do: one paragraph
  std::string_view example; ///< lines as shown in a report or dump
};

/// The whole table, by identifier: checks()[size_t(id)] is the entry of `id`.
std::span<const Check> checks();

/// The entry of an identifier.
const Check& check(Id id);

/// The entry with this name ("C102"), or nullptr.
const Check* find_check(std::string_view name);

/// "error", "warning", "note".
std::string_view severity_name(Severity severity);

/// `text` in lines of at most `width` columns, each ended by a newline; longer words are not broken.
std::string wrapped(std::string_view text, std::size_t width);

/// The table as the text of docs/findings.md.
std::string checks_markdown();

/// An address as shown to users: in a relocatable object, an offset in a section.
struct Location {
  std::uint32_t section = 0; ///< in a relocatable object: the section's index; else 0
  std::uint64_t pc = 0;

  friend bool operator==(const Location&, const Location&) = default;
};

/// A finding. The texts are plain English without a final period.
struct Finding {
  Id id{};
  std::optional<Location> at; ///< the first address concerned; none if it concerns the whole section
  std::uint64_t end = 0;      ///< end of the addresses concerned (exclusive); at->pc if there is only one
  std::string message;        ///< what is wrong, in one line
  std::string sframe;         ///< the rules in SFrame: "cfa=sp+16 ra=[cfa-8] fp=same"; may be empty
  std::string cfi;            ///< the rules in the CFI
  std::string instruction;    ///< the instruction at the address: "f+0x4: push %rbx"; may be empty
  std::string code;           ///< the rules computed from the machine code; may be empty
  std::string orc;            ///< the rules in ORC; may be empty
  bool compiler = false;      ///< SFrame reproduces wrong CFI: the section is not the cause
  bool usual = false;         ///< what sframe-gen does by default is the cause
  std::string table;          ///< the section with the wrong bytes: ".sframe", ".eh_frame"; may be empty
  std::optional<std::uint64_t> offset; ///< bytes from the start of `table`
};

/// A side of a finding, as reports in text show it.
struct Evidence {
  std::string_view label; ///< "At", "SFrame", "CFI", "Code", "ORC"
  std::string_view text;  ///< a view into the finding
};

/// The instruction and the rules that the finding has, in that order.
std::vector<Evidence> evidence_of(const Finding& finding);

/// Receives findings.
class Sink {
public:
  virtual void add(Finding finding) = 0;

protected:
  ~Sink() = default;
};

/// Bytes of code that are in some function of the sections.
struct Coverage {
  CoveredBytes executable; ///< of all executable bytes
  CoveredBytes described;  ///< of those that CFI describes; 0 of 0 if no CFI was read
};

/// What a program executed of a file (--check=run).
struct RunCoverage {
  std::uint64_t steps = 0;     ///< instructions that were executed, each time
  std::uint64_t compared = 0;  ///< of them, those compared
  std::uint64_t functions = 0; ///< functions of the section of which something was executed
  std::uint64_t addresses = 0; ///< different instructions
  std::uint64_t addresses_compared = 0;
  std::uint64_t addresses_without_row = 0;
};

/// Number of functions by verdict, and how much was compared. functions = agree + contradiction + undecided +
/// unreached.
struct Summary {
  std::uint64_t functions = 0;
  std::uint64_t agree = 0;                ///< everything was compared, nothing differs
  std::uint64_t contradiction = 0;        ///< something differs
  std::uint64_t contradiction_in_cfi = 0; ///< of these: only differences that the CFI has as well
  std::uint64_t undecided = 0;            ///< nothing differs, but not everything could be compared
  std::uint64_t unreached = 0;            ///< not checked
  std::uint64_t addresses = 0;            ///< bytes of code whose rules were compared
  Coverage coverage;
  std::optional<RunCoverage> run; ///< if the program was run
};

/// The user's choice of severities by identifier: another severity, or ignore.
class Policy {
public:
  enum class Action : std::uint8_t { note, warning, error, ignore };

  Policy();

  /// Applies to all identifiers that start with `prefix`. For an identifier, the longest matching prefix
  /// wins; of equal ones, the last. False if no identifier starts with it, or if the prefix is empty.
  bool set(std::string_view prefix, Action action);

  /// The default of an identifier, which applies unless set() was called for it.
  void set_default(Id id, Action action);

  /// The action for findings whose cause is the compiler (Finding::compiler), unless set() was called for
  /// their identifier. The default is a warning.
  void set_compiler(Action action) { compiler_ = action; }

  /// Findings that would be warnings are errors (--werror): all of them, or those whose identifier starts
  /// with `prefix`. False if no identifier does, or if the prefix is empty.
  void set_warnings_are_errors();
  bool set_warnings_are_errors(std::string_view prefix);

  /// The severity of a finding; empty if it is ignored.
  std::optional<Severity> severity(const Finding& finding) const;

private:
  struct Choice {
    Action action = Action::note;
    std::uint8_t prefix_size = 0;
    bool warning_is_error = false;
  };
#define FINDING(id, severity, title, text, example) +1
  static constexpr std::size_t count_ = 0
#include "sframe/verify/findings.def"
      ;
#undef FINDING
  std::array<Choice, count_> choices_;
  Action compiler_ = Action::warning;
};

/// The action of this name ("error", "warning", "note", "ignore"), or nothing.
std::optional<Policy::Action> find_action(std::string_view name);

} // namespace sframe::verify
