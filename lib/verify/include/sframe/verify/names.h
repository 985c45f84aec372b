// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What findings report about an address in addition to the number: the function and, if there is a line
// table, file and line.

#pragma once

#include "sframe/base/budget.h"
#include "sframe/elf/symbols.h"
#include "sframe/verify/findings.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sframe::verify {

class SourceLines;

/// Files are read when the first name or line is requested. Not thread-safe.
class Names {
public:
  Names();
  /// Symbols and lines each come from the first image that has any. The images must outlive the Names.
  /// `limits`: on the cost of reading debug information.
  explicit Names(std::vector<const elf::Image*> images, Limits limits = Limits::standard);
  ~Names();
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  /// "function" or "function+0x12", demangled, shown_name(); empty if no symbol covers the location.
  std::string describe(const Location& at);

  /// The name without an offset.
  std::string function(const Location& at);

  struct Source {
    std::string file;
    std::uint32_t line = 0;
  };
  /// Empty if .debug_line does not cover the location.
  std::optional<Source> source(const Location& at);

  /// The compiler that made the code at the location, as its debug information has it (DW_AT_producer: often
  /// with its options); empty if that is not known.
  std::string producer(const Location& at);
  /// Those of the whole file, each once, sorted; at most `limit` of them.
  std::vector<std::string> producers(std::size_t limit);

  /// Why source() left out lines, so far; empty if it left out none.
  std::string source_problem() const;

private:
  std::optional<elf::SymbolTable::Match> find(const Location& at);

  SourceLines* lines();
  std::string demangled(std::string_view name) const;

  std::vector<const elf::Image*> images_;
  Limits limits_ = Limits::standard;
  std::optional<elf::SymbolTable> table_;
  std::unique_ptr<SourceLines> lines_;
  std::string lines_problem_; ///< of images whose lines are not read
  bool lines_asked_ = false;
};

} // namespace sframe::verify
