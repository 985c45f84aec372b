// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as an archive. Properties: members are parts of the archive; replacing every member by its
// own bytes gives an archive of the same members; the names together are no longer than the archive, since
// each is stored in it once.

#include "cost.h"

#include "sframe/edit/archive.h"
#include "sframe/elf/archive.h"

#include <algorithm>
#include <functional>

namespace archive_fuzzer {

using namespace sframe;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Cost cost(size);
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto members = elf::archive_members(bytes);
  if (!members) {
    fuzz::require(!members.error().text().empty());
    return 0;
  }
  const auto inside = [&](std::span<const std::byte> part) {
    return part.empty() || (!std::less<>()(part.data(), bytes.data()) &&
                            !std::less<>()(bytes.data() + bytes.size(), part.data() + part.size()));
  };
  std::vector<std::optional<std::vector<std::byte>>> contents;
  for (const elf::Member& member : *members) {
    fuzz::require(inside(member.bytes), "a member is outside");
    contents.emplace_back(std::in_place, member.bytes.begin(), member.bytes.end());
  }
  const auto again = edit::replace_members(bytes, contents);
  if (!again) return 0; // thin archives, symbol tables that cannot be kept
  const auto copies = elf::archive_members(*again);
  fuzz::require(copies && copies->size() == members->size(), "the copy has other members");
  for (std::size_t i = 0; i < members->size(); ++i)
    fuzz::require((*copies)[i].name == (*members)[i].name &&
                      std::ranges::equal((*copies)[i].bytes, (*members)[i].bytes),
                  "a member has changed");
  return 0;
}

} // namespace archive_fuzzer
