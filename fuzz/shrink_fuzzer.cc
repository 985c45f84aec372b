// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary call frame information, written again in fewer bytes. The input is that of the target cfi: the
// first byte selects the ABI, the second one how entries are aligned, whether functions are joined over what
// is between them, how far, and whether some addresses are loose. Properties: what is made is proved by
// compare(), has the announced size, and does not get larger if it is made again.

#include "chosen_abi.h"
#include "cost.h"

#include "sframe/shrink/compare.h"
#include "sframe/shrink/shrink.h"

#include <algorithm>
#include <vector>

namespace shrink_fuzzer {

using namespace sframe;
using fuzz::require;

namespace {

constexpr std::uint64_t old_address = 0x400000, new_address = 0x380000, header_address = 0x300000;

/// Two addresses after each odd one near the start of a function.
std::span<const AddressRange> some_addresses(const AddressRange& function) {
  static std::vector<AddressRange> ranges;
  ranges.clear();
  for (std::uint64_t at = 1; at + 2 < std::min<std::uint64_t>(function.size, 64); at += 4)
    ranges.push_back({function.start + at, 2});
  return ranges;
}

shrink::Options options_of(std::uint8_t choice) {
  shrink::Options options;
  options.alignment = choice & 1 ? 4 : 1;
  options.max_cfi_bytes = choice & 2 ? 16 : choice & 4 ? 1024 : 128;
  options.join = !(choice & 8);
  if (choice & 32) options.loose = some_addresses;
  if (choice & 16) options.is_padding = [](const AddressRange& range) { return range.size < 64; };
  return options;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  if (size < 2) return 0;
  const AbiTraits& abi = sframe::fuzz::chosen_abi(data[0]);
  const auto bytes = std::as_bytes(std::span(data + 2, size - 2));
  const cfi::CfiSection before(cfi::SectionKind::eh_frame, bytes, old_address, abi);
  const shrink::Options options = options_of(data[1]);
  const auto plan = shrink::Plan::make(before, options);
  if (!plan) {
    require(!plan.error().what.empty(), "no reason");
    return 0;
  }
  require(plan->fdes() <= plan->functions(), "more FDEs than functions");
  const auto tables = plan->write(new_address, header_address);
  if (!tables) return 0; // out of reach
  require(tables->eh_frame.size() == plan->eh_frame_size(), "another size of .eh_frame");
  require(tables->eh_frame_hdr.size() == plan->eh_frame_hdr_size(), "another size of .eh_frame_hdr");
  const cfi::CfiSection after(cfi::SectionKind::eh_frame, tables->eh_frame, new_address, abi);
  const shrink::CompareOptions how{.is_padding = options.is_padding, .loose = options.loose};
  const auto same = shrink::compare(before, {after, tables->eh_frame_hdr, header_address}, how);
  if (!same) std::fprintf(stderr, "%s\n", same.error().text().c_str());
  require(same && same->functions == plan->functions() && same->fdes == plan->fdes(), "not proved");
  if (options.loose) return 0; // other addresses of joined functions
  const auto again = shrink::Plan::make(after, options);
  require(again && again->eh_frame_size() <= plan->eh_frame_size(), "larger when made again");
  return 0;
}

} // namespace shrink_fuzzer
