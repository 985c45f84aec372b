// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: addresses to source lines, by the DWARF line table of an image (LLVM's reader).

#pragma once

#include "sframe/elf/image.h"
#include "sframe/verify/names.h"

#include <memory>
#include <optional>

namespace sframe::verify {

class SourceLines {
public:
  /// nullptr where the image has no .debug_line, or LLVM cannot read the file. The image must outlive this.
  /// Costs little: units are read when the first address in them is asked for.
  static std::unique_ptr<SourceLines> open(const elf::Image& image);
  ~SourceLines();

  std::optional<Names::Source> find(const Location& at);

private:
  struct Reader;
  explicit SourceLines(std::unique_ptr<Reader> reader);
  std::unique_ptr<Reader> reader_;
};

} // namespace sframe::verify
