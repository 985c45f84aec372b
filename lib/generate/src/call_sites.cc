// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/generate/call_sites.h"

#include "sframe/cfi/lsda.h"

namespace sframe::generate {

std::vector<code::CallSite> call_sites(const elf::Image& image, const cfi::Fde& fde, const AbiTraits& abi,
                                       Budget* budget) {
  std::vector<code::CallSite> sites;
  if (!fde.lsda || fde.lsda->indirect) return sites;
  const std::uint64_t address = fde.lsda->value;
  std::vector<cfi::LandingPad> pads;
  // The entries before a fault are still valid.
  (void)cfi::read_landing_pads(image.bytes_at(address), address, fde.start, abi, pads, budget);
  for (const cfi::LandingPad& pad : pads) sites.push_back({pad.begin, pad.end, pad.landing_pad});
  return sites;
}

} // namespace sframe::generate
