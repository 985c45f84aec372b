// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a language-specific data area. The first byte selects the ABI, the second the addresses
// of function and area. Properties: there are at most half as many call sites as bytes, each has ascending
// addresses, and the result does not depend on the list's old contents.

#include "chosen_abi.h"
#include "cost.h"

#include "sframe/cfi/lsda.h"

#include <algorithm>

using namespace sframe;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const fuzz::Cost cost(size);
  const AbiTraits& abi = sframe::fuzz::chosen_abi(data[0]);
  const std::uint64_t start =
      data[1] & 0x80 ? std::uint64_t(0) - 256 * (data[1] & 0x7f) : 0x400000u + 16 * data[1];
  const auto bytes = std::as_bytes(std::span(data + 2, size - 2));
  std::vector<cfi::LandingPad> pads;
  const auto done = cfi::read_landing_pads(bytes, start + 0x100000, start, abi, pads);
  fuzz::require(pads.size() <= bytes.size() / 2, "more call sites than bytes");
  std::vector<cfi::LandingPad> more(1, cfi::LandingPad{1, 2, 3});
  const auto again = cfi::read_landing_pads(bytes, start + 0x100000, start, abi, more);
  fuzz::require(done.has_value() == again.has_value() && more.size() == pads.size() + 1 &&
                    more.front() == cfi::LandingPad{1, 2, 3} &&
                    std::equal(pads.begin(), pads.end(), more.begin() + 1),
                "the list's contents matter");
  if (!done) fuzz::require(done.error().offset <= bytes.size(), "a fault outside");
  return 0;
}
