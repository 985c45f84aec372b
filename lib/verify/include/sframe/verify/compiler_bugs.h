// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of call frame information that the code contradicts, where it proves another row right, as a
// report for those who write compilers: grouped by the compiler and by what went wrong, each group with its
// smallest example. The decision is that of sframe-gen --repair (generate/from_cfi.h).
//
//    CompilerBugs all;
//    for (each file) all.merge(*find_compiler_bugs({.path = path, .image = &image}, names));
//    write(bugs_text(all));

#pragma once

#include "sframe/base/budget.h"
#include "sframe/elf/image.h"
#include "sframe/verify/names.h"
#include "sframe/verify/report.h"

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::verify {

/// What went wrong. A place is a run of instructions with wrong rows, one after the other.
struct BugPattern {
  /// Where the place begins and ends.
  enum class Shape : std::uint8_t {
    late,    ///< after an instruction without a new row; ends at the next row, which is right for all of it
    early,   ///< where a row begins, although the row before is right; ends after the instruction that it
             ///< should have followed
    missing, ///< after an instruction without a new row; no row follows that is right for it
    carried_over, ///< after a jump, a return or a call that does not return, whose row goes on
    wrong,        ///< where a row begins that changes the rule at fault
  };
  /// What is wrong in its first row.
  enum class Fault : std::uint8_t {
    cfa_too_high, ///< the CFA, towards the caller's frames
    cfa_too_low,
    cfa_register, ///< the register or word that the CFA is based on has nothing to do with it
    ra,           ///< the place of the return address
    ra_signature, ///< whether it is signed
    fp_unsaved,   ///< FP is the caller's in the CFI, but not in fact
    fp_place,     ///< the place or register that has the caller's FP
  };
  /// What the instruction does to SP.
  enum class SpChange : std::uint8_t { none, up, down, other };

  Shape shape{};
  Fault fault{};
  std::string mnemonic; ///< of the instruction that changes the frame, or comes first; empty: none does
  SpChange sp{};
  bool changes_fp = false; ///< the instruction

  friend auto operator<=>(const BugPattern&, const BugPattern&) = default;
};

/// "late", "early", "missing", "carried-over", "wrong".
std::string_view shape_name(BugPattern::Shape shape);
/// "cfa-too-high" and so on.
std::string_view fault_name(BugPattern::Fault fault);
/// "add (SP up)", "pop (SP up, FP)"; empty if there is no instruction.
std::string instruction_name(const BugPattern& pattern);
/// In one line: "the row changes late, after add (SP up): the CFA is too high".
std::string title(const BugPattern& pattern);

/// The compiler, and how it is known. Several if the file does not have which of them made the code.
struct Compiler {
  enum class From : std::uint8_t { producer, comment, build_info, nothing };

  std::string name; ///< as the file has it, without options; "unknown"
  From from = From::nothing;

  friend auto operator<=>(const Compiler&, const Compiler&) = default;
};
/// "DW_AT_producer", ".comment", ".go.buildinfo"; empty.
std::string_view from_name(Compiler::From from);

struct BugExample {
  struct Line {
    std::uint64_t address = 0;
    std::string instruction;
    std::string cfi;  ///< the CFI's row; empty if no row can represent it
    std::string code; ///< the right row, at wrong ones; else empty
  };
  std::string path;                  ///< of the file
  std::string function;              ///< its name with the offset of `begin`; empty if it has none
  std::uint64_t start = 0, size = 0; ///< of the FDE
  std::uint64_t begin = 0, end = 0;  ///< of the place
  std::optional<Names::Source> source;
  std::string producer;    ///< DW_AT_producer, with the options
  std::vector<Line> lines; ///< the place with a few instructions on both sides
  /// Instructions of a long place that are left out, before the line of this number.
  std::uint64_t left_out = 0;
  std::size_t left_out_at = 0;
};

struct BugGroup {
  std::uint64_t places = 0, bytes = 0, functions = 0, files = 0;
  BugExample example; ///< the smallest function
};

class CompilerBugs {
public:
  using Key = std::pair<Compiler, BugPattern>;
  struct Counts {
    std::uint64_t files = 0;       ///< with code by it
    std::uint64_t wrong_files = 0; ///< of them: with a place
    std::uint64_t places = 0;
  };

  /// Adds those of another file. Of equally small examples, the one that was here stays.
  void merge(CompilerBugs other);

  bool empty() const { return groups.empty(); }

  std::map<Key, BugGroup> groups;
  std::map<Compiler, Counts> compilers; ///< all that are named, also without a place
  std::uint64_t files = 0;
};

struct BugSources {
  std::string path;
  const elf::Image* image = nullptr;       ///< linked, with code
  const elf::Image* debug_image = nullptr; ///< has .debug_frame and names that `image` may lack
  unsigned threads = 1;
  std::function<void(double share)> progress; ///< as in generate::Options
};

/// The bugs in one file; `files` is 0 if it has no CFI. `names` is for both images. Fails if SFrame does not
/// support the ABI or if the CFI cannot be opened. Costs the analysis of all code that has CFI; takes from
/// the image's budget, and what is past that is not found.
Result<CompilerBugs> find_compiler_bugs(const BugSources& sources, Names& names);

/// The report for people.
std::string bugs_text(const CompilerBugs& bugs);
/// The same for scripts (docs/json.md), with the files that could not be read, or only in part.
std::string bugs_json(const CompilerBugs& bugs, std::span<const Failure> failures);

} // namespace sframe::verify
