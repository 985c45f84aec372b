// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converting a section: to the other byte order, byte for byte reversible, or to another version, if that
// version can represent it.

#pragma once

#include "sframe/builder.h"
#include "sframe/expected.h"
#include "sframe/section.h"

#include <cstddef>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe {

/// The section at the start of `bytes` in the other byte order. Layout, flags and the ABI identifier stay;
/// unreferenced bytes stay unchanged; shared rows are swapped once. Flipping twice gives the input. Fails on
/// any malformed part and if functions' rows overlap without being identical. Time and memory linear in the
/// section.
expected<std::vector<std::byte>, Error> flip_byte_order(std::span<const std::byte> bytes);

/// A function, or a part of one, that the target version cannot represent.
struct RefusedFunction {
  std::uint32_t section = 0; ///< number of the section in the input
  EncodedFde fde;
  AddressRange range; ///< what is left out: the whole function, or some of its rows
  Refusal refusal;

  bool is_whole() const { return range.start == fde.start && range.size == fde.size; }
};

/// The result of convert(): the new section, and what it could not represent.
struct Converted {
  std::vector<std::byte> bytes;
  std::vector<RefusedFunction> refused;
  std::uint32_t num_fdes = 0;
  std::uint64_t rows_at_end = 0; ///< rows at their function's end, which hold for no address: left out
};

/// Re-encodes the functions of `sections` (of one ABI) as one sorted section at `address`: another version,
/// another byte order, several sections merged. Fails with an Error on malformed input. Rows that the target
/// version cannot represent are left out and listed, as Builder::add_parts() does. options.abi must be the
/// sections' ABI; options.start_fields is not used. Fixed offsets of the inputs that differ from the ABI's
/// become explicit rules. An auxiliary header that all inputs share is kept, and so is SFRAME_F_FRAME_POINTER
/// if both versions have it.
expected<Converted, Error> convert(std::span<const Section> sections, const BuildOptions& options,
                                   std::uint64_t address);

/// convert() in two steps, for callers that know the section's address only after its size.
struct Reencoded {
  Builder builder;                      ///< ready for finish() at any address from `lowest` to `highest`
  std::vector<RefusedFunction> refused; ///< by section and function
  std::uint64_t rows_at_end = 0;        ///< as in Converted
  /// Numbers of functions of the input.
  std::uint64_t whole = 0, partial = 0, skipped = 0;
};
/// A function of one of several sections: their numbers.
struct FunctionNumber {
  std::uint32_t section = 0, function = 0;

  friend auto operator<=>(const FunctionNumber&, const FunctionNumber&) = default;
};
/// `without`: functions that are left out, unread and uncounted, in ascending order.
expected<Reencoded, Error> reencode(std::span<const Section> sections, const BuildOptions& options,
                                    std::uint64_t lowest, std::uint64_t highest,
                                    std::span<const FunctionNumber> without = {});

/// Replaces every `fixed` rule by the location that the header's offsets give, so that equivalent rows
/// compare equal. In place: to copy a row that was just written in pieces is slow.
constexpr void resolve_fixed_of(FrameRow& row, std::int8_t fixed_ra_offset, std::int8_t fixed_fp_offset) {
  if (row.ra.kind == Rule::Kind::fixed) row.ra = Rule::at_cfa(fixed_ra_offset);
  if (row.fp.kind == Rule::Kind::fixed) row.fp = Rule::at_cfa(fixed_fp_offset);
}

/// Same, of a copy.
constexpr FrameRow resolve_fixed(const FrameRow& row, std::int8_t fixed_ra_offset,
                                 std::int8_t fixed_fp_offset) {
  FrameRow out = row;
  resolve_fixed_of(out, fixed_ra_offset, fixed_fp_offset);
  return out;
}

} // namespace sframe

#pragma GCC visibility pop
