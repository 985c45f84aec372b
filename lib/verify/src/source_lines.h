// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: maps addresses to source lines by an image's DWARF line table (LLVM's reader).

#pragma once

#include "sframe/elf/image.h"
#include "sframe/verify/names.h"

#include <memory>
#include <optional>

namespace sframe::elf {
class LlvmDwarf;
}

namespace sframe::verify {

class SourceLines {
public:
  /// nullptr if the image has no .debug_line, or if LLVM cannot read the file. The image must outlive this.
  /// Cheap: units are read when their first address is looked up.
  static std::unique_ptr<SourceLines> open(const elf::Image& image);
  ~SourceLines();

  std::optional<Names::Source> find(const Location& at);

private:
  SourceLines(std::unique_ptr<elf::LlvmDwarf> dwarf, bool relocatable);

  std::unique_ptr<elf::LlvmDwarf> dwarf_;
  bool relocatable_;
};

} // namespace sframe::verify
