// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "bpf_table.h"

#include <sframe/bpf/make_table.h>
#include <sframe/bpf/table.h>
#include <sframe/code/call_end.h>
#include <sframe/section.h>

#include <utility>

namespace sframe::gen {

Result<std::vector<std::byte>> make_bpf_table(const Input& input, std::span<const std::byte> section,
                                              std::uint64_t address) {
  const auto parsed = Section::parse(section, address);
  if (!parsed) return unexpected(to_problem(parsed.error()));
  code::CallEnds code(parsed->abi());
  const auto is_padding = [&](AddressRange range) {
    const auto bytes = input.image->read(range.start, range.size);
    return bytes && bytes->size() == range.size && code.is_padding(*bytes, range.start, input.budget);
  };
  std::span<const std::byte> build_id;
  if (input.image) build_id = input.image->build_id();
  if (build_id.size() > SFRAME_BPF_MAX_BUILD_ID) build_id = {}; // Go's own, which has 83: no linker's
  auto made = bpf::make_table({&*parsed, 1}, build_id, input.image ? is_padding : bpf::IsPadding());
  if (!made) return unexpected(std::move(made.error()));
  return std::move(made->bytes);
}

} // namespace sframe::gen
