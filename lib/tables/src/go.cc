// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function's sizes are read once, in order. The frame is proved at the first address with a size: all
// others have the same saved FP, since Go's compiler saves it once and restores it in front of the last
// change of SP.

#include "sframe/tables/go.h"

#include "sframe/bytes.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <utility>

namespace sframe::tables {

namespace {

constexpr std::int32_t word = 8;
constexpr std::size_t before_change = 1, after_change = 8; ///< bytes of code to look at

bool starts_with(std::span<const std::byte> code, std::initializer_list<std::uint8_t> bytes) {
  return code.size() >= bytes.size() &&
         std::ranges::equal(code.first(bytes.size()), bytes, {},
                            [](std::byte b) { return std::to_integer<int>(b); });
}

FrameRow row_of(const AbiTraits& abi, std::int32_t size, bool is_saved) {
  return {.offset = 0,
          .cfa = Rule::value(abi.sp, size + word),
          .ra = Rule::fixed(),
          .fp = is_saved ? Rule::at_cfa(-2 * word) : Rule::same()};
}

/// How many bytes after the first address with a frame of `size` bytes FP is saved, of which `code` has the
/// byte before it and what follows: `push %rbp` in front of it, or `mov %rbp, size-8(%rsp)` at it.
std::optional<std::uint32_t> saved_after(std::span<const std::byte> code, std::uint32_t size) {
  if (size == word && code[before_change - 1] == std::byte{0x55}) return 0;
  code = code.subspan(before_change);
  const std::uint32_t offset = size - word;
  if (offset == 0 && starts_with(code, {0x48, 0x89, 0x2c, 0x24})) return 4;
  if (offset < 0x80 && starts_with(code, {0x48, 0x89, 0x6c, 0x24, static_cast<std::uint8_t>(offset)}))
    return 5;
  if (starts_with(code, {0x48, 0x89, 0xac, 0x24}) && code.size() >= 8 &&
      load<std::uint32_t>(&code[4], ByteOrder::little) == offset)
    return 8;
  return std::nullopt;
}

} // namespace

std::optional<GoTable> GoTable::load(const elf::Image& image) {
  if (image.machine() != llvm::ELF::EM_X86_64 || !image.abi()) return std::nullopt;
  auto functions = elf::GoFunctions::open(image);
  if (!functions || !functions->has_frames()) return std::nullopt;
  return GoTable(image, std::move(*functions));
}

bool GoTable::rows(std::uint64_t number, GoRows& rows) const {
  rows.rows.clear();
  const auto function = functions_.at(number);
  if (!function) return true;
  rows.signal = function->is_injected;
  std::vector<elf::GoFrameSize> sizes;
  const bool in_budget = functions_.frame_sizes(*function, image_->budget(), sizes);
  const auto add = [&](AddressRange range, const FrameRow& row) { rows.rows.push_back({range, row}); };
  if (function->is_top) {
    if (!sizes.empty())
      add({function->extent.start, sizes.back().range.end() - function->extent.start},
          FrameRow::outermost(0));
    return in_budget;
  }
  bool is_proved = false;
  for (const auto& [range, size] : sizes) {
    constexpr std::uint32_t largest = std::numeric_limits<std::int32_t>::max() - 2 * word;
    const auto row = [&](bool is_saved) {
      return row_of(*image_->abi(), static_cast<std::int32_t>(size), is_saved);
    };
    if (function->sets_sp || size > largest || size % word != 0) {
      rows.rows.push_back({range, {}, GoRow::Missing::stack_switch});
    } else if (size == 0) {
      add(range, row(false));
    } else if (is_proved) {
      add(range, row(true));
    } else {
      const auto code = image_->read(range.start - before_change, before_change + after_change);
      const auto after = code ? saved_after(*code, size) : std::nullopt;
      is_proved = after && *after <= range.size;
      if (!is_proved) {
        rows.rows.push_back({range, {}, GoRow::Missing::frame_layout});
        continue;
      }
      if (*after) add({range.start, *after}, row(false));
      if (*after < range.size) add({range.start + *after, range.size - *after}, row(true));
    }
  }
  return in_budget;
}

} // namespace sframe::tables
