// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Version 2: naturally aligned index entries of 20 bytes,
//   0 int32 start   4 uint32 size   8 uint32 first row, from the FRE sub-section   12 uint32 number of rows
//   16 uint8 info  17 uint8 rep_size  18 uint16 padding
// Errata 1 brought the flag FUNC_START_PCREL and s390x, errata 2 the row without data words: outermost frame. The errata cannot be
// told apart by the version number, and need not be: neither gives a new meaning to bytes that had one.
// (Specification of version 2, section "SFrame FDE".)

#include "format/version.h"

namespace sframe::format {

namespace {

void read_entry(const std::byte* entry, ByteOrder order, FdeFields& out) {
  out.start = load<std::int32_t>(entry, order);
  out.fde.size = load<std::uint32_t>(entry + 4, order);
  out.fde.fre_offset = load<std::uint32_t>(entry + 8, order);
  out.fde.num_fres = load<std::uint32_t>(entry + 12, order);
  read_info(load<std::uint8_t>(entry + 16, order), out.fde);
  out.fde.rep_size = load<std::uint8_t>(entry + 17, order);
  out.fde.padding = load<std::uint16_t>(entry + 18, order);
}

void write_entry(std::byte* entry, ByteOrder order, const FdeFields& fields) {
  store(entry, static_cast<std::int32_t>(fields.start), order);
  store(entry + 4, fields.fde.size, order);
  store(entry + 8, fields.fde.fre_offset, order);
  store(entry + 12, fields.fde.num_fres, order);
  store(entry + 16, make_info(fields.fde), order);
  store(entry + 17, fields.fde.rep_size, order);
  store(entry + 18, fields.fde.padding, order);
}

void swap_entry(std::byte* entry) {
  for (std::uint32_t at : {0, 4, 8, 12}) swap_bytes(entry + at, 4);
  swap_bytes(entry + 18, 2);
}

} // namespace

const Version version2 = {
    .number = 2,
    .entry_size = 20,
    .start_size = 4,
    .attribute_size = 0,
    .max_fres = 0xffffffff,
    .pcrel = true,
    .has_rep_size = true,
    .has_signal = false,
    .has_flex = false,
    .has_outermost_rows = true,
    .empty_is_outermost = false,
    .register_words = true,
    .read_entry = read_entry,
    .read_attributes = [](const std::byte*, ByteOrder, EncodedFde&) {},
    .write_entry = write_entry,
    .write_attributes = [](std::byte*, ByteOrder, const EncodedFde&) {},
    .swap_entry = swap_entry,
    .swap_attributes = [](std::byte*) {},
};

} // namespace sframe::format
