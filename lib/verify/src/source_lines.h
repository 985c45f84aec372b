// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: maps addresses to source lines by an image's DWARF line table (LLVM's reader).

#pragma once

#include "sframe/base/budget.h"
#include "sframe/elf/image.h"
#include "sframe/elf/llvm_dwarf.h"
#include "sframe/elf/llvm_dwarf_check.h"
#include "sframe/verify/names.h"

#include <memory>
#include <optional>
#include <string>

namespace sframe::verify {

class SourceLines {
public:
  /// nullptr if the image has no .debug_line, or if LLVM cannot read the file. The image must outlive this.
  /// Line tables are read when the first address in their unit is looked up; what would cost too much is not
  /// read.
  static std::unique_ptr<SourceLines> open(const elf::Image& image, Limits limits);
  ~SourceLines();

  std::optional<Names::Source> find(const Location& at);

  /// Why some lines are left out, so far; empty if none are.
  const std::string& problem() const { return problem_; }

private:
  SourceLines(const elf::Image& image, Limits limits, std::unique_ptr<elf::LlvmDwarf> dwarf);

  std::unique_ptr<elf::LlvmDwarf> dwarf_;
  elf::DebugCheck check_; ///< refers to `dwarf_`
  bool relocatable_;
  bool has_units_;
  std::string problem_;
};

} // namespace sframe::verify
