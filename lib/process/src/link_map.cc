// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "link_map.h"

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
std::uint32_t type_of(const core::Core& core, std::uint64_t first_word) {
  return static_cast<std::uint32_t>(core.byte_order() == ByteOrder::big ? first_word >> 32 : first_word);
}

} // namespace

std::string text_at(const core::Core& core, std::uint64_t address) {
  constexpr std::size_t longest = 4096; // PATH_MAX
  const auto bytes = core.bytes_at(address);
  const auto text = bytes.first(std::min(bytes.size(), longest));
  const auto end = std::ranges::find(text, std::byte{});
  if (end == text.end()) return {};
  return std::string(reinterpret_cast<const char*>(text.data()),
                     static_cast<std::size_t>(end - text.begin()));
}

std::optional<std::uint64_t> dynamic_section(const core::Core& core) {
  const auto headers = core.auxv(elf::at_phdr), count = core.auxv(elf::at_phnum);
  if (!headers || !count) return std::nullopt;
  std::optional<std::uint64_t> bias, dynamic;
  for (std::uint64_t i = 0; i < std::min(*count, most_headers); ++i) {
    const std::uint64_t header = *headers + i * header_size;
    const auto type = core.read_word(header), address = core.read_word(header + 16); // p_type, p_vaddr
    if (!type || !address) return std::nullopt;
    if (type_of(core, *type) == pt_phdr) bias = *headers - *address;
    if (type_of(core, *type) == elf::pt_dynamic) dynamic = *address;
  }
  if (!dynamic || !bias) return std::nullopt;
  return *dynamic + *bias;
}

std::vector<LinkedObject> linked_objects(const core::Core& core, std::uint64_t dynamic) {
  std::vector<LinkedObject> objects;
  const auto bytes = core.bytes_at(dynamic);
  const std::size_t size = std::min<std::size_t>(bytes.size(), most_dynamic * elf::tagged_value_size);
  const auto debug = elf::find_value(bytes.first(size), core.byte_order(), elf::dt_debug);
  std::uint64_t at = debug && *debug ? core.read_word(*debug + 8).value_or(0) : 0; // r_map
  std::size_t name_bytes = 0;
  while (at && objects.size() < most_objects && name_bytes < most_name_bytes) {
    const auto bias = core.read_word(at), name = core.read_word(at + 8), ld = core.read_word(at + 16),
               next = core.read_word(at + 24);
    if (!bias || !name || !ld || !next) break;
    objects.push_back({*bias, *ld, text_at(core, *name)});
    name_bytes += objects.back().name.size();
    if (*next == at) break;
    at = *next;
  }
  return objects;
}

} // namespace sframe::process
