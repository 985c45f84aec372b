// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what an image's DWARF has of addresses: their source lines, and the compiler that made the code
// (LLVM's reader).

#pragma once

#include "sframe/base/budget.h"
#include "sframe/elf/image.h"
#include "sframe/elf/llvm_dwarf.h"
#include "sframe/elf/llvm_dwarf_check.h"
#include "sframe/verify/names.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sframe::verify {

class SourceLines {
public:
  /// nullptr if the image has no .debug_line, or if LLVM cannot read the file. The image must outlive this.
  /// Line tables are read when the first address in their unit is looked up; what would cost too much is not
  /// read.
  static std::unique_ptr<SourceLines> open(const elf::Image& image, Limits limits);
  ~SourceLines();

  std::optional<Names::Source> find(const Location& at);

  /// DW_AT_producer of the unit with the address; empty if that is not known. At most `max_producer` bytes.
  std::string producer(const Location& at);
  /// DW_AT_producer of all units, each once, sorted; at most `limit` of them. Linear in the number of units.
  std::vector<std::string> producers(std::size_t limit);
  static constexpr std::size_t max_producer = 1000;

  /// Why some lines are left out, so far; empty if none are.
  const std::string& problem() const { return problem_; }

private:
  SourceLines(const elf::Image& image, Limits limits, std::vector<std::byte> plain,
              std::unique_ptr<elf::LlvmDwarf> dwarf);

  std::string producer_of(llvm::DWARFUnit& unit);

  std::vector<std::byte> plain_; ///< decompressed debug sections, if LLVM cannot decompress them
  std::unique_ptr<elf::LlvmDwarf> dwarf_;
  elf::DebugCheck check_; ///< refers to `dwarf_`
  bool relocatable_;
  bool has_units_;
  std::string problem_;
};

} // namespace sframe::verify
