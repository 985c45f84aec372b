// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as an ELF image with the function table of Go's linker. Properties: a function that is
// found contains the address, and is found again at its own start; a line has a file; rows of a function are
// in it, in order.

#include "cost.h"

#include "sframe/elf/go_functions.h"
#include "sframe/tables/go.h"

#include <algorithm>
#include <span>

namespace go_fuzzer {

using namespace sframe;
using sframe::fuzz::require;

namespace {

void ask(const elf::GoFunctions& functions, std::uint64_t address, Budget& budget) {
  const auto function = functions.find(address);
  if (!function) return;
  require(address - function->extent.start < function->extent.size, "another function");
  const auto again = functions.find(function->extent.start);
  require(!again || again->extent.start <= function->extent.start, "a function that starts later");
  const auto size = functions.frame_size(*function, address, &budget);
  const auto line = functions.line(*function, address, &budget);
  require(functions.has_frames() || (!size && !line), "frames of a table without");
  if (line) require(!line->file.empty(), "no file");
}

void make_rows(const elf::Image& image, const elf::GoFunctions& functions) {
  auto table = tables::GoTable::load(image);
  if (!table) return;
  tables::GoRows made;
  for (std::uint64_t i = 0; i < table->size() && table->rows(i, made); ++i) {
    if (made.rows.empty()) continue;
    const auto function = functions.at(i);
    require(function.has_value(), "rows without a function");
    std::uint64_t at = 0;
    for (const tables::GoRow& row : made.rows) {
      const std::uint64_t start = row.range.start - function->extent.start;
      require(start >= at && row.range.size != 0, "rows overlap");
      require(start <= function->extent.size && row.range.size <= function->extent.size - start,
              "a row beyond its function");
      at = start + row.range.size;
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Cost cost(size);
  Budget budget(Limits::standard, size);
  const auto image = elf::Image::parse(std::as_bytes(std::span(data, size)), &budget);
  if (!image) return 0;
  const auto functions = elf::GoFunctions::open(*image);
  if (!functions) return 0;
  require(functions->size() <= size, "more functions than bytes");
  ask(*functions, image->entry(), budget);
  constexpr std::uint64_t most = 256;
  for (const elf::CodeRange& range : image->executable_ranges())
    for (std::uint64_t i = 0, step = std::max<std::uint64_t>(1, range.size / most); i < most; ++i)
      ask(*functions, range.start + i * step, budget);
  make_rows(*image, *functions);
  return 0;
}

} // namespace go_fuzzer
