// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What findings say of an address besides the number: function, and file and line where there is a line
// table.

#pragma once

#include "sframe/elf/symbols.h"
#include "sframe/verify/findings.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sframe::verify {

class SourceLines;

/// Read from the files only when the first name or line is asked for. Not for several threads at once.
class Names {
public:
  Names();
  /// Symbols, and lines, come from the first image that has any. The images must outlive the Names.
  explicit Names(std::vector<const elf::Image*> images);
  ~Names();
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  /// "function" or "function+0x12", demangled; empty where no symbol covers the location.
  std::string describe(const Location& at);

  /// The name alone.
  std::string function(const Location& at);

  struct Source {
    std::string file;
    std::uint32_t line = 0;
  };
  /// Nothing where there is no .debug_line for the location.
  std::optional<Source> source(const Location& at);

private:
  std::optional<elf::SymbolTable::Match> find(const Location& at);

  std::string demangled(std::string_view name) const;

  std::vector<const elf::Image*> images_;
  std::optional<elf::SymbolTable> table_;
  std::unique_ptr<SourceLines> lines_;
  bool lines_asked_ = false;
};

} // namespace sframe::verify
