// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layout: version (1), the encodings of the pointer to .eh_frame, of the count and of the table's numbers,
// then pointer, count, and pairs of start address and FDE address. Linkers write pairs of DW_EH_PE_datarel |
// DW_EH_PE_sdata4, relative to the section's own address.

#include "pointer.h"
#include "sframe/cfi/index.h"

#include <algorithm>

namespace sframe::cfi {
namespace {

constexpr std::uint8_t known_version = 1, address_size = 8;

bool searchable(std::uint8_t encoding) {
  if (!pointer_encoding_known(encoding) || encoding & pe_indirect) return false;
  const std::uint8_t relation = encoding & relation_mask;
  return pointer_width(encoding, address_size) &&
         (relation == 0 || relation == pe_pcrel || relation == pe_datarel);
}

/// The bytes before the pointer to .eh_frame.
struct Encodings {
  std::uint8_t pointer = 0, count = 0, table = 0;
};

std::optional<Encodings> read_encodings(DwarfReader& reader) {
  const std::uint8_t version = reader.u8();
  Encodings encodings;
  for (std::uint8_t* encoding : {&encodings.pointer, &encodings.count, &encodings.table})
    *encoding = reader.u8();
  if (reader.failed() || version != known_version) return std::nullopt;
  return encodings;
}

std::optional<std::uint64_t> read_eh_frame(DwarfReader& reader, std::uint8_t encoding,
                                           const PointerContext& context) {
  if (encoding == pe_omit) return std::nullopt;
  const Pointer section = read_pointer(reader, encoding, context);
  return section.indirect ? std::nullopt : std::optional(section.value);
}

PointerContext context_at(std::uint64_t address) {
  return {address, {.data = address}, std::nullopt, address_size};
}

} // namespace

std::optional<std::uint64_t> EhFrameHdr::find_eh_frame(std::span<const std::byte> bytes,
                                                       std::uint64_t address, const AbiTraits& abi) {
  DwarfReader reader(bytes, 0, bytes.size(), abi.byte_order);
  const auto encodings = read_encodings(reader);
  if (!encodings) return std::nullopt;
  const auto found = read_eh_frame(reader, encodings->pointer, context_at(address));
  return reader.failed() ? std::nullopt : found;
}

expected<EhFrameHdr, Error> EhFrameHdr::parse(std::span<const std::byte> bytes, std::uint64_t address,
                                              const AbiTraits& abi) {
  DwarfReader reader(bytes, 0, bytes.size(), abi.byte_order);
  const auto encodings = read_encodings(reader);
  if (!encodings) return unexpected(Error{ErrorKind::bad_header, 0});
  EhFrameHdr header;
  header.encoding_ = encodings->table;
  const PointerContext context = context_at(address);
  header.eh_frame_ = read_eh_frame(reader, encodings->pointer, context);
  if (!reader.failed() && (encodings->count == pe_omit || !searchable(header.encoding_)))
    return unexpected(Error{ErrorKind::no_table, 2});
  header.count_ = read_pointer(reader, encodings->count, context).value;
  if (reader.failed()) return unexpected(Error{ErrorKind::bad_header, reader.at()});
  header.bytes_ = bytes;
  header.address_ = address;
  header.table_offset_ = reader.at();
  header.width_ = pointer_width(header.encoding_, address_size);
  header.count_ = std::min<std::uint64_t>(header.count_, reader.left() / (2 * header.width_));
  header.abi_ = &abi;
  return header;
}

/// The result of read_pointer(), for the encodings that searchable() accepts; faster, since a search reads a
/// dozen.
std::uint64_t EhFrameHdr::number_at(std::uint64_t offset) const {
  const std::uint8_t relation = encoding_ & relation_mask;
  const std::uint64_t base = relation == pe_datarel ? address_ : relation == pe_pcrel ? address_ + offset : 0;
  DwarfReader reader(bytes_, offset, offset + width_, abi_->byte_order);
  const std::uint64_t number = reader.number(width_);
  return base + (encoding_ & pe_signed ? sign_extended(number, width_) : number);
}

EhFrameHdr::Entry EhFrameHdr::entry(std::uint64_t number) const {
  const std::uint64_t offset = table_offset_ + number * 2 * width_;
  return {number_at(offset), number_at(offset + width_)};
}

std::optional<EhFrameHdr::Entry> EhFrameHdr::find(std::uint64_t pc) const {
  // Invariant, in a sorted table: the entries before `low` start at or before pc, those from `high` on after
  // it.
  std::uint64_t low = 0, high = count_;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (number_at(table_offset_ + middle * 2 * width_) <= pc)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? std::optional<Entry>(entry(low - 1)) : std::nullopt;
}

bool EhFrameHdr::sorted() const {
  for (std::uint64_t i = 1; i < count_; ++i)
    if (entry(i).start < entry(i - 1).start) return false;
  return true;
}

} // namespace sframe::cfi
