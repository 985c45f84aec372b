// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An invented version 4, to show that a version is a file and a line (docs/dev/adding-a-version.md): version
// 3 with index entries of 12 bytes,
//   0 int32 start   4 uint32 size   8 uint32 start of the function's data, from the FRE sub-section
// with the attributes in another order,
//   0 uint8 info   1 uint8 info2 (FDE type)   2 uint8 rep_size   3 uint16 number of rows
// and with one more flag.

#include "format/version.h"

namespace sframe::format {

namespace {

constexpr FlagTraits flags[] = {sorted, func_start_pcrel, {0x8, "invented", "SFRAME_F_INVENTED"}};

void read_entry(const std::byte* entry, ByteOrder order, EncodedFde& out) {
  out.size = load<std::uint32_t>(entry + 4, order);
  out.fre_offset = load<std::uint32_t>(entry + 8, order);
}

void write_entry(std::byte* entry, ByteOrder order, const FdeFields& fields) {
  store(entry, static_cast<std::int32_t>(fields.start), order);
  store(entry + 4, fields.fde.size, order);
  store(entry + 8, fields.fde.fre_offset, order);
}

void swap_entry(std::byte* entry) {
  for (std::uint32_t at : {0, 4, 8}) swap_bytes(entry + at, 4);
}

void read_attributes(const std::byte* attributes, ByteOrder order, EncodedFde& out) {
  read_info(load<std::uint8_t>(attributes, order), out);
  out.signal_frame = out.info & info_bits::signal;
  out.info2 = load<std::uint8_t>(attributes + 1, order);
  out.fde_type = static_cast<FdeType>(out.info2 & info_bits::fde_type);
  out.rep_size = load<std::uint8_t>(attributes + 2, order);
  out.num_fres = load<std::uint16_t>(attributes + 3, order);
}

void write_attributes(std::byte* attributes, ByteOrder order, const EncodedFde& fde) {
  store(attributes, static_cast<std::uint8_t>(make_info(fde) | (fde.signal_frame ? info_bits::signal : 0)),
        order);
  store(attributes + 1, static_cast<std::uint8_t>(fde.fde_type), order);
  store(attributes + 2, fde.rep_size, order);
  store(attributes + 3, static_cast<std::uint16_t>(fde.num_fres), order);
}

} // namespace

const Version version4 = {
    {
        .number = 4,
        .entry_size = 12,
        .start_size = 4,
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
        .swap_attributes = [](std::byte* attributes) { swap_bytes(attributes + 3, 2); },
    },
};

} // namespace sframe::format
