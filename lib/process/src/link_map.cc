// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "link_map.h"

#include "sframe/base/text.h"
#include "sframe/bytes.h"
#include "sframe/elf/tagged_values.h"

#include <algorithm>
#include <array>

namespace sframe::process {

namespace {

constexpr std::uint32_t pt_phdr = 6;
constexpr std::size_t header_size = 56; // Elf64_Phdr
// A damaged list may be cyclic and name one long string many times.
constexpr std::uint64_t most_headers = 256, most_dynamic = 4096, most_objects = 4096;
constexpr std::size_t most_name_bytes = std::size_t{1} << 20; // of all names

/// p_type is the first half of the first word, in memory order.
std::uint32_t type_of(const LinkedMemory& memory, std::uint64_t first_word) {
  return static_cast<std::uint32_t>(memory.order == ByteOrder::big ? first_word >> 32 : first_word);
}

std::optional<std::uint64_t> word_at(const LinkedMemory& memory, std::uint64_t address) {
  std::array<std::byte, 8> word{};
  if (memory.read(address, word) != word.size()) return std::nullopt;
  return load<std::uint64_t>(word.data(), memory.order);
}

/// Up to `most` bytes: page by page, since what follows may not be mapped.
std::vector<std::byte> bytes_at(const LinkedMemory& memory, std::uint64_t address, std::size_t most,
                                const std::function<bool(std::span<const std::byte>)>& is_enough) {
  std::vector<std::byte> bytes;
  while (bytes.size() < most) {
    const std::size_t done = bytes.size();
    const std::uint64_t to_page_end = smallest_page - (address + done) % smallest_page;
    bytes.resize(done + std::min<std::uint64_t>(to_page_end, most - done));
    const auto piece = std::span(bytes).subspan(done);
    const std::size_t got = memory.read(address + done, piece);
    bytes.resize(done + got);
    if (got != piece.size() || is_enough(piece)) break;
  }
  return bytes;
}

} // namespace

LinkedMemory memory_of(const core::Core& core) {
  return {
      .order = core.byte_order(),
      .read = [&core](std::uint64_t address, std::span<std::byte> out) { return core.read(address, out); },
      .auxv = [&core](std::uint64_t tag) { return core.auxv(tag); }};
}

std::string text_at(const LinkedMemory& memory, std::uint64_t address) {
  constexpr std::size_t longest = 4096; // PATH_MAX
  const auto text = bytes_at(memory, address, longest, [](std::span<const std::byte> piece) {
    return std::ranges::find(piece, std::byte{}) != piece.end();
  });
  const auto end = std::ranges::find(text, std::byte{});
  if (end == text.end()) return {};
  return std::string(as_text(std::span(text.begin(), end)));
}

std::optional<std::uint64_t> dynamic_section(const LinkedMemory& memory) {
  const auto headers = memory.auxv(elf::at_phdr), count = memory.auxv(elf::at_phnum);
  if (!headers || !count) return std::nullopt;
  std::optional<std::uint64_t> bias, dynamic;
  for (std::uint64_t i = 0; i < std::min(*count, most_headers); ++i) {
    const std::uint64_t header = *headers + i * header_size;
    const auto type = word_at(memory, header), address = word_at(memory, header + 16); // p_type, p_vaddr
    if (!type || !address) return std::nullopt;
    if (type_of(memory, *type) == pt_phdr) bias = *headers - *address;
    if (type_of(memory, *type) == elf::pt_dynamic) dynamic = *address;
  }
  if (!dynamic || !bias) return std::nullopt;
  return *dynamic + *bias;
}

std::vector<LinkedObject> linked_objects(const LinkedMemory& memory, std::uint64_t dynamic) {
  std::vector<LinkedObject> objects;
  const auto find_debug = [&](std::span<const std::byte> bytes) {
    return elf::find_value(bytes, memory.order, elf::dt_debug);
  };
  const auto bytes =
      bytes_at(memory, dynamic, most_dynamic * elf::tagged_value_size,
               [&](std::span<const std::byte> piece) { return find_debug(piece).has_value(); });
  const auto debug = find_debug(bytes);
  std::uint64_t at = debug && *debug ? word_at(memory, *debug + 8).value_or(0) : 0; // r_map
  std::size_t name_bytes = 0;
  while (at && objects.size() < most_objects && name_bytes < most_name_bytes) {
    const auto bias = word_at(memory, at), name = word_at(memory, at + 8), ld = word_at(memory, at + 16),
               next = word_at(memory, at + 24);
    if (!bias || !name || !ld || !next) break;
    objects.push_back({*bias, *ld, text_at(memory, *name)});
    name_bytes += objects.back().name.size();
    if (*next == at) break;
    at = *next;
  }
  return objects;
}

} // namespace sframe::process
