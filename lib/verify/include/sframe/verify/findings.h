// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What verification finds: identifiers from one table (findings.def), findings, and who receives them.
//
// Checks hand each finding to a Sink as soon as it is complete, so that a file with a million of them costs
// no memory.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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
  Severity severity;     ///< unless the user says otherwise
  std::string_view title;
  std::string_view text;    ///< what it means and what to do: one paragraph
  std::string_view example; ///< lines as a report or a dump shows them
};

/// The whole table, by identifier: checks()[size_t(id)] is that of `id`.
std::span<const Check> checks();

/// The line of an identifier.
const Check& check(Id id);

/// The line with this name ("C102"), or nullptr.
const Check* find_check(std::string_view name);

/// "error", "warning", "note".
std::string_view severity_name(Severity severity);

/// The table as the text of docs/findings.md.
std::string checks_markdown();

/// An address as users know it: in a relocatable object, an offset in a section.
struct Location {
  std::uint32_t section = 0; ///< in a relocatable object: the section's index; else 0
  std::uint64_t pc = 0;

  friend bool operator==(const Location&, const Location&) = default;
};

/// Something found. The texts are plain English without a final period.
struct Finding {
  Id id{};
  std::optional<Location> at; ///< the first address concerned; none where it is about the section as a whole
  std::uint64_t end = 0;      ///< behind the last address concerned; at->pc where one address says it all
  std::string message;        ///< what is found here, in one line
  std::string sframe;         ///< what SFrame says: "cfa=sp+16 ra=[cfa-8] fp=same"; may be empty
  std::string cfi;            ///< what the CFI says
  std::string instruction;    ///< the instruction at the address: "f+0x4: push %rbx"; may be empty
  std::string code;           ///< what the machine code says, computed; may be empty
  bool compiler = false;      ///< SFrame repeats the CFI, which is wrong: the section is not to blame
  std::string table;          ///< the section with the bytes to blame: ".sframe", ".eh_frame"; may be empty
  std::optional<std::uint64_t> offset; ///< bytes from the start of `table`
};

/// Who receives findings.
class Sink {
public:
  virtual void add(Finding finding) = 0;

protected:
  ~Sink() = default;
};

/// Verdicts on the section's functions, and how much was compared. functions = agree + contradiction +
/// undecided + unreached.
struct Summary {
  std::uint64_t functions = 0;
  std::uint64_t agree = 0;         ///< all was compared, nothing differs
  std::uint64_t contradiction = 0; ///< something differs
  std::uint64_t contradiction_in_cfi = 0; ///< of these: nothing but what the CFI has wrong as well
  std::uint64_t undecided = 0;     ///< nothing differs, but not all could be compared
  std::uint64_t unreached = 0;     ///< not looked at
  std::uint64_t addresses = 0;     ///< bytes of code for which rules were compared
};

/// What users make of the identifiers: another severity, or silence.
class Policy {
public:
  enum class Action : std::uint8_t { note, warning, error, ignore };

  Policy();

  /// Applies to all identifiers that start with `prefix`; the longest prefix that was given for an identifier
  /// counts, of equals the last. False where none starts with it, or the prefix is empty.
  bool set(std::string_view prefix, Action action);

  /// What becomes of findings that the compiler is to blame for (Finding::compiler), unless set() was called for
  /// their identifier. Warnings unless this is called.
  void set_compiler(Action action) { compiler_ = action; }

  /// The severity of a finding; nothing where it is to be ignored.
  std::optional<Severity> severity(const Finding& finding) const;

private:
  struct Choice {
    Action action = Action::note;
    std::uint8_t prefix_size = 0;
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
