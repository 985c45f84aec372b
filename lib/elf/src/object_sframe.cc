// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/bytes.h"
#include "sframe/elf/object.h"
#include "sframe/section.h"

namespace sframe::elf {

namespace {

/// Adds to each start of `section`, whose bytes are `bytes`, the offset of its field in the section.
Result<void> count_from_section(const sframe::Section& section, std::span<std::byte> bytes,
                                std::string_view name) {
  const ByteOrder order = section.header().byte_order;
  for (std::uint32_t i = 0; i < section.num_fdes(); ++i) {
    const auto fde = section.fde(i);
    if (!fde) return unexpected(to_problem(fde.error(), name));
    std::byte* field = bytes.data() + fde->index_offset;
    const unsigned size = section.version().start_size;
    store_sized(field, load_sized(field, size, order) + fde->index_offset, size, order);
  }
  return {};
}

} // namespace

Result<Contents> ObjectLayout::sframe_contents(const Image& object, const SframeLocation& table) {
  auto contents = object.contents(table);
  if (!contents) return contents;
  std::vector<std::byte> bytes(contents->bytes().begin(), contents->bytes().end());
  Concatenated parts(contents->bytes(), table.address);
  for (;;) {
    const auto part = parts.next();
    if (!part) return unexpected(to_problem(part.error(), table.name));
    if (!*part) return Contents(std::move(bytes));
    if ((*part)->header().flags & flag_func_start_pcrel) continue;
    const auto its_bytes = std::span(bytes).subspan(parts.offset());
    if (const auto done = count_from_section(**part, its_bytes, table.name); !done)
      return unexpected(done.error());
  }
}

} // namespace sframe::elf
