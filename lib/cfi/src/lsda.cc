// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Call-site tables. The area starts with the encoding of the landing pads' base and, unless omitted, that
// base (else the function's start); then the encoding of the type table and its offset; then the encoding and
// size of the call-site table. An entry has start, size, landing pad (0 = none) and an action.

#include "sframe/cfi/lsda.h"

#include "pointer.h"
#include "sframe/base/budget.h"
#include "sframe/cfi/reader.h"

namespace sframe::cfi {

expected<void, Error> read_landing_pads(std::span<const std::byte> bytes, std::uint64_t address,
                                        std::uint64_t function_start, const AbiTraits& abi,
                                        std::vector<LandingPad>& out, Budget* budget) {
  DwarfReader reader(bytes, 0, bytes.size(), abi.byte_order);
  const PointerContext context{.section_address = address, .bases = {}, .function = function_start};
  std::uint64_t base = function_start;
  if (const std::uint8_t encoding = reader.u8(); encoding != pe_omit)
    base = read_pointer(reader, encoding, context).value;
  if (reader.u8() != pe_omit) reader.uleb(); // the type table
  const std::uint8_t encoding = reader.u8();
  const std::uint64_t size = reader.uleb();
  if (!reader.failed() && size > reader.left()) reader.fail(ErrorKind::truncated);
  if (reader.failed()) return unexpected(reader.error());
  // Any number of functions may have the same table.
  if (budget && !budget->take(Resource::section_bytes, size)) return {};

  DwarfReader sites(bytes, reader.at(), reader.at() + size, abi.byte_order);
  while (sites.left()) {
    const std::uint64_t start = read_raw_pointer(sites, encoding, context).number;
    const std::uint64_t length = read_raw_pointer(sites, encoding, context).number;
    const std::uint64_t pad = read_raw_pointer(sites, encoding, context).number;
    sites.uleb(); // the action
    if (sites.failed()) return unexpected(sites.error());
    if (pad) out.push_back({function_start + start, function_start + start + length, base + pad});
  }
  return {};
}

} // namespace sframe::cfi
