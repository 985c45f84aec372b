// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Version 3: the FDE is split. The index holds aligned entries of 16 bytes,
//   0 int64 start   8 uint32 size   12 uint32 start of the function's data, from the FRE sub-section
// and the function's data starts with 5 unaligned bytes of attributes before the rows,
//   0 uint16 number of rows   2 uint8 info   3 uint8 info2 (FDE type)   4 uint8 rep_size
// (SFrame 3 specification, section 2.3.)

#include "format/version.h"

namespace sframe::format {

namespace {

constexpr FlagTraits flags[] = {sorted, func_start_pcrel};

void read_entry(const std::byte* entry, ByteOrder order, EncodedFde& out) {
  out.size = load<std::uint32_t>(entry + 8, order);
  out.fre_offset = load<std::uint32_t>(entry + 12, order);
}

void read_attributes(const std::byte* attributes, ByteOrder order, EncodedFde& out) {
  out.num_fres = load<std::uint16_t>(attributes, order);
  read_info(load<std::uint8_t>(attributes + 2, order), out);
  out.signal_frame = out.info & info_bits::signal;
  out.info2 = load<std::uint8_t>(attributes + 3, order);
  out.fde_type = static_cast<FdeType>(out.info2 & info_bits::fde_type);
  out.rep_size = load<std::uint8_t>(attributes + 4, order);
}

void write_entry(std::byte* entry, ByteOrder order, const FdeFields& fields) {
  store(entry, fields.start, order);
  store(entry + 8, fields.fde.size, order);
  store(entry + 12, fields.fde.fre_offset, order);
}

void write_attributes(std::byte* attributes, ByteOrder order, const EncodedFde& fde) {
  store(attributes, static_cast<std::uint16_t>(fde.num_fres), order);
  store(attributes + 2,
        static_cast<std::uint8_t>(make_info(fde) | (fde.signal_frame ? info_bits::signal : 0)), order);
  store(attributes + 3, static_cast<std::uint8_t>(fde.fde_type), order);
  store(attributes + 4, fde.rep_size, order);
}

void swap_entry(std::byte* entry) {
  swap_bytes(entry, 8);
  swap_bytes(entry + 8, 4);
  swap_bytes(entry + 12, 4);
}

} // namespace

const Version version3 = {
    {
        .number = 3,
        .entry_size = 16,
        .start_size = 8,
        .attribute_size = 5,
        .max_fres = 0xffff,
        .flag_names = flags,
        .flags = bits_of(flags),
        .info = info_bits::fre_type | info_bits::pc_mask | info_bits::pauth_key_b | info_bits::signal,
        .info2 = info_bits::fde_type,
        .has_rep_size = true,
        .has_signal = true,
        .has_flex = true,
        .has_outermost_rows = true,
        .empty_is_outermost = true,
        .register_words = false,
    },
    {
        .read_entry = read_entry,
        .read_attributes = read_attributes,
        .write_entry = write_entry,
        .write_attributes = write_attributes,
        .swap_entry = swap_entry,
        .swap_attributes = [](std::byte* attributes) { swap_bytes(attributes, 2); },
    },
};

} // namespace sframe::format
