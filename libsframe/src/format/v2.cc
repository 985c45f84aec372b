// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Version 2: naturally aligned index entries of 20 bytes, the 17 of version 1 (version.h) and
//   17 uint8 rep_size   18 uint16 padding
// Errata 1 added the flag FUNC_START_PCREL and s390x, errata 2 the row without data words: outermost frame.
// The version number does not distinguish the errata, and need not: neither changes the meaning of bytes that
// were valid before. (Specification of version 2, section "SFrame FDE".)

#include "format/version.h"

namespace sframe::format {

namespace {

constexpr FlagTraits flags[] = {sorted, frame_pointer, func_start_pcrel};

void read_entry(const std::byte* entry, ByteOrder order, EncodedFde& out) {
  read_narrow_entry(entry, order, out);
  out.rep_size = load<std::uint8_t>(entry + 17, order);
  out.padding = load<std::uint16_t>(entry + 18, order);
}

void write_entry(std::byte* entry, ByteOrder order, const FdeFields& fields) {
  write_narrow_entry(entry, order, fields);
  store(entry + 17, fields.fde.rep_size, order);
  store(entry + 18, fields.fde.padding, order);
}

void swap_entry(std::byte* entry) {
  swap_narrow_entry(entry);
  swap_bytes(entry + 18, 2);
}

} // namespace

const Version version2 = {
    {
        .number = 2,
        .entry_size = 20,
        .start_size = 4,
        .attribute_size = 0,
        .max_fres = 0xffffffff,
        .flag_names = flags,
        .flags = bits_of(flags),
        .info = info_bits::fre_type | info_bits::pc_mask | info_bits::pauth_key_b,
        .info2 = 0,
        .has_rep_size = true,
        .has_signal = false,
        .has_flex = false,
        .has_outermost_rows = true,
        .empty_is_outermost = false,
        .register_words = true,
    },
    {
        .read_entry = read_entry,
        .read_attributes = [](const std::byte*, ByteOrder, EncodedFde&) {},
        .write_entry = write_entry,
        .write_attributes = [](std::byte*, ByteOrder, const EncodedFde&) {},
        .swap_entry = swap_entry,
        .swap_attributes = [](std::byte*) {},
    },
};

} // namespace sframe::format
