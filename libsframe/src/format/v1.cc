// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Version 1 (obsolete, but binutils 2.40 and 2.41 write it): packed index entries of 17 bytes (version.h),
// starts relative to the section. No rep_size: rows of a PCMASK function repeat after the ABI's PLT entry
// size. (SFrame 3 specification, section 1.3.)

#include "format/version.h"

namespace sframe::format {

namespace {

constexpr FlagTraits flags[] = {sorted, frame_pointer};

} // namespace

const Version version1 = {
    {
        .number = 1,
        .entry_size = 17,
        .start_size = 4,
        .attribute_size = 0,
        .max_fres = 0xffffffff,
        .flag_names = flags,
        .flags = bits_of(flags),
        .info = info_bits::fre_type | info_bits::pc_mask | info_bits::pauth_key_b,
        .info2 = 0,
        .has_rep_size = false,
        .has_signal = false,
        .has_flex = false,
        .has_outermost_rows = false,
        .empty_is_outermost = false,
        .register_words = false,
    },
    {
        .read_entry = read_narrow_entry,
        .read_attributes = [](const std::byte*, ByteOrder, EncodedFde&) {},
        .write_entry = write_narrow_entry,
        .write_attributes = [](std::byte*, ByteOrder, const EncodedFde&) {},
        .swap_entry = swap_narrow_entry,
        .swap_attributes = [](std::byte*) {},
    },
};

} // namespace sframe::format
