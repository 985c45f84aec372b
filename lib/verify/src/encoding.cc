// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// EncodingCheck looks at one function or row at a time; each kind of fault is reported once for a function,
// and the fast test in check_row() is for the many rows without one. RowExtents collects where the rows of
// each function begin and end and sweeps over them by offset: an extent that begins before the furthest end
// so far shares rows, and a distance between them is a gap.

#include "encoding.h"

#include "sframe/base/text.h"
#include "table_checks.h"

#include <llvm/Support/FormatVariadic.h>

#include <algorithm>

namespace sframe::verify {

namespace {

/// The type that producers use for a function of this size. (For size 256, one byte would suffice; no
/// producer uses it.)
FreType needed_type(std::uint32_t limit) {
  return limit < 0x100 ? FreType::addr1 : limit < 0x10000 ? FreType::addr2 : FreType::addr4;
}

int bytes_of(FreType type) {
  return 1 << static_cast<int>(type);
}

bool fits_signed(std::int32_t value, std::uint32_t size) {
  return size == 1 ? value == static_cast<std::int8_t>(value) : value == static_cast<std::int16_t>(value);
}

} // namespace

void EncodingCheck::report(Id id, std::string message, std::uint64_t offset, std::optional<Location> at) {
  report_in_table(table_, part_, id, std::move(message), offset, at, sink_);
}

void EncodingCheck::check_header() {
  const Header& header = section_.header();
  if (const int unknown = header.flags & ~section_.version().flags)
    report(Id::S014,
           llvm::formatv("flags {:x}: version {} does not define {:x}", int{header.flags},
                         int{header.version}, unknown)
               .str(),
           header_offset::flags);
}

void EncodingCheck::check_function(const EncodedFde& fde, const Location& at) {
  width_reported_ = sign_reported_ = false;
  const VersionTraits& version = section_.version();
  const int key = section_.abi().signs_return_addresses ? 0 : info_bits::pauth_key_b;
  std::string what;
  const auto unused = [&](const char* field, int value) {
    if (value) what += llvm::formatv("{}{} {:x}", what.empty() ? "" : ", ", field, value).str();
  };
  unused("info bits", (fde.info & ~version.info) | (fde.info & key));
  unused("bits of the second info byte", fde.info2 & ~version.info2);
  unused("padding", fde.padding);
  if (fde.pc_type != PcType::mask) unused("rep_size without PCMASK", fde.rep_size);
  if (!what.empty())
    report(Id::S014, llvm::formatv("function {}: reserved bits are set: {}", fde.number, what).str(),
           fde.index_offset, at);

  const FreType needed = needed_type(fde.row_limit());
  if (fde.num_fres == 0 || fde.fre_type <= needed) return;
  width_reported_ = true;
  report(Id::S012,
         llvm::formatv("function {}: row offsets of {} bytes each, where {} would suffice", fde.number,
                       bytes_of(fde.fre_type), bytes_of(needed))
             .str(),
         fde.index_offset, at);
}

void EncodingCheck::check_row(const EncodedFde& fde, RowCursor cursor, const Location& at) {
  const auto info_at = cursor.section_offset() + static_cast<std::uint64_t>(bytes_of(fde.fre_type));
  const auto info = std::to_integer<unsigned>(section_.bytes()[info_at]);
  const bool wide = info >> 5 & 3, signing_undefined = info >> 7 && !section_.abi().signs_return_addresses;
  if ((!wide || width_reported_) && (!signing_undefined || sign_reported_)) [[likely]]
    return;
  EncodedRow row;
  if (!cursor.next(row)) return;
  if (signing_undefined && !sign_reported_) {
    sign_reported_ = true;
    report(Id::S014,
           llvm::formatv("function {}: the row at {:x} marks RA as signed, which {} does not support",
                         fde.number, row.offset, section_.abi().name)
               .str(),
           row.section_offset, at);
  }
  if (!wide || width_reported_ || !fits(fde, row, row.word_size() / 2)) return;
  width_reported_ = true;
  const std::uint32_t size = fits(fde, row, 1) ? 1 : 2;
  report(Id::S012,
         llvm::formatv("function {}: data words of {} bytes each in the row at {:x}, where {} would suffice",
                       fde.number, row.word_size(), row.offset, size)
             .str(),
         row.section_offset, at);
}

/// In flexible functions, unsigned control words alternate with offsets; after the CFA, a control word of 0
/// has no offset.
bool EncodingCheck::fits(const EncodedFde& fde, const EncodedRow& row, std::uint32_t size) const {
  bool control = fde.fde_type == FdeType::flex;
  for (std::uint32_t i = 0; i < row.word_count(); ++i) {
    if (control && row.control(i) >> 8 * size) return false;
    if (!control && !fits_signed(row.word(i), size)) return false;
    if (fde.fde_type == FdeType::flex) control = !control || (i != 0 && row.control(i) == 0);
  }
  return true;
}

void RowExtents::add(const EncodedFde& fde, std::uint64_t end) {
  extents_.push_back({fde.rows_offset - section_.version().attribute_size, end, fde.number, fde.num_fres});
}

void RowExtents::check(bool complete) {
  const auto before = [](const Extent& a, const Extent& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  };
  if (!std::ranges::is_sorted(extents_, before)) std::ranges::stable_sort(extents_, before);
  std::uint64_t at = section_.rows_offset();
  const Extent *reach = nullptr, *shared = nullptr, *sharing = nullptr;
  std::uint64_t shares = 0;
  for (const Extent& extent : extents_) {
    if (extent.begin == extent.end) continue; // no rows
    if (reach && extent.begin < reach->end) {
      ++shares;
      if (!shared) shared = reach, sharing = &extent;
    } else {
      distinct_rows_ += extent.rows;
    }
    if (complete) check_gap(at, extent.begin, "between rows");
    at = std::max(at, extent.end);
    if (!reach || extent.end > reach->end) reach = &extent;
  }
  if (shared) {
    // Readers of little-endian sections never swap bytes: there sframe-gen shares rows by default.
    const bool usual = !relocatable_ && section_.header().byte_order == ByteOrder::little;
    sink_.add({.id = relocatable_ ? Id::S026 : Id::S021,
               .message =
                   llvm::formatv("{} {} rows; the first is function {}, with function {}{}",
                                 counted(shares, "function"), shares == 1 ? "shares" : "share",
                                 sharing->function, shared->function,
                                 relocatable_ ? "; GNU ld will write past the end of its output section" : "")
                       .str(),
               .usual = usual,
               .table = std::string(table_.name),
               .offset = part_.offset + sharing->begin});
  }
  if (!complete) return;
  const Header& header = section_.header();
  const std::uint64_t index = section_.index_offset(),
                      index_end = index + std::uint64_t{header.num_fdes} * section_.version().entry_size;
  const std::uint64_t rows = section_.rows_offset(), rows_end = rows + header.fre_size;
  const std::uint64_t header_end = section_.index_offset() - header.fde_offset;
  check_gap(at, rows_end, "after the last row");
  check_gap(header_end, std::min(index, rows), "after the header");
  check_gap(std::min(index_end, rows_end), std::max(index, rows), "between the sub-sections");
}

void RowExtents::check_gap(std::uint64_t begin, std::uint64_t end, const char* where) {
  if (begin >= end) return;
  report_in_table(table_, part_, Id::S015, llvm::formatv("{} bytes {} are unused", end - begin, where).str(),
                  begin, {}, sink_);
}

void check_tails(const Input& input, Sink& sink) {
  const auto parts = input.parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const SframePart& part = parts[i];
    const SframeTable& table = input.tables()[part.table];
    if (i + 1 < parts.size() && parts[i + 1].table == part.table) continue; // followed by a section
    const std::uint64_t end = part.offset + part.section.bytes().size();
    const std::uint64_t padded = std::min<std::uint64_t>((end + 7) & ~std::uint64_t{7}, table.bytes.size());
    // Anything but zeros was parsed as a section, and reported.
    const auto rest = table.bytes.subspan(padded);
    if (rest.empty() || std::ranges::any_of(rest, [](std::byte b) { return b != std::byte{}; })) continue;
    report_in_table(table, part, Id::S015,
                    llvm::formatv("{} bytes after the section are unused", rest.size()).str(),
                    padded - part.offset, {}, sink);
  }
}

} // namespace sframe::verify
