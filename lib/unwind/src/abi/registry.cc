// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of ABIs that can be unwound.

#include "abi/abis.h"

#include "sframe/abi.h"
#include "sframe/address.h"
#include "sframe/base/find_entry.h"

#include <algorithm>
#include <bit>

namespace sframe::unwind {

namespace {

constexpr const UnwindAbi* registry[] = {
#define SFRAME_DEFINE_ABI(name, identifier) &abi::name,
#include "sframe/abis.def"
};

} // namespace

std::uint64_t code_address_mask(const AbiTraits& abi, std::uint64_t signature,
                                std::optional<std::uint64_t> highest_address) {
  const UnwindAbi* const unwind = find_unwind_abi(abi.id);
  if (!abi.signs_return_addresses || !unwind) return last_address;
  if (signature) return ~signature;
  const int needed = static_cast<int>(std::bit_width(highest_address.value_or(0)));
  const int bits =
      highest_address ? std::max<int>(unwind->fewest_address_bits, needed) : unwind->usual_address_bits;
  return bits < 64 ? (std::uint64_t{1} << bits) - 1 : last_address;
}

const UnwindAbi* find_unwind_abi(Abi id) {
  return find_entry(registry, id, &UnwindAbi::id);
}

} // namespace sframe::unwind
