// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Version 1 (obsolete, but binutils 2.40 and 2.41 write it): packed index entries of 17 bytes,
//   0 int32 start, from the section's start   4 uint32 size   8 uint32 first row, from the FRE sub-section
//   12 uint32 number of rows                 16 uint8 info
// No rep_size: rows of a PCMASK function repeat after the ABI's PLT entry size. (Specification, section 1.3.)

#include "format/version.h"

namespace sframe::format {

namespace {

void read_entry(const std::byte* entry, ByteOrder order, FdeFields& out) {
  out.start = load<std::int32_t>(entry, order);
  out.fde.size = load<std::uint32_t>(entry + 4, order);
  out.fde.fre_offset = load<std::uint32_t>(entry + 8, order);
  out.fde.num_fres = load<std::uint32_t>(entry + 12, order);
  read_info(load<std::uint8_t>(entry + 16, order), out.fde);
}

void write_entry(std::byte* entry, ByteOrder order, const FdeFields& fields) {
  store(entry, static_cast<std::int32_t>(fields.start), order);
  store(entry + 4, fields.fde.size, order);
  store(entry + 8, fields.fde.fre_offset, order);
  store(entry + 12, fields.fde.num_fres, order);
  store(entry + 16, make_info(fields.fde), order);
}

void swap_entry(std::byte* entry) {
  for (std::uint32_t at : {0, 4, 8, 12}) swap_bytes(entry + at, 4);
}

} // namespace

const Version version1 = {
    .number = 1,
    .entry_size = 17,
    .start_size = 4,
    .attribute_size = 0,
    .max_fres = 0xffffffff,
    .pcrel = false,
    .has_rep_size = false,
    .has_signal = false,
    .has_flex = false,
    .has_outermost_rows = false,
    .empty_is_outermost = false,
    .register_words = false,
    .read_entry = read_entry,
    .read_attributes = [](const std::byte*, ByteOrder, EncodedFde&) {},
    .write_entry = write_entry,
    .write_attributes = [](std::byte*, ByteOrder, const EncodedFde&) {},
    .swap_entry = swap_entry,
    .swap_attributes = [](std::byte*) {},
};

} // namespace sframe::format
