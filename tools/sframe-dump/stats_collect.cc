// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "stats.h"

#include <algorithm>
#include <tuple>

namespace sframe::dump {

namespace {

constexpr std::uint64_t header_size = 28;

void count(EncodingStats& stats, std::uint64_t rows, std::uint64_t bytes) {
  ++stats.functions;
  stats.rows += rows;
  stats.bytes += bytes;
}

/// What one function's rows consist of.
struct RowsSize {
  std::uint64_t rows = 0;
  std::uint64_t starts = 0; ///< bytes of start offsets and info bytes
  std::uint64_t words = 0;  ///< bytes of data words
};

/// Sorts the ranges and joins those that overlap.
void merge(std::vector<AddressRange>& ranges) {
  std::ranges::sort(ranges, {},
                    [](const AddressRange& range) { return std::tuple(range.section, range.first); });
  std::size_t kept = 0;
  for (const AddressRange& range : ranges) {
    AddressRange* before = kept ? &ranges[kept - 1] : nullptr;
    if (before && before->section == range.section && range.first <= before->last)
      before->last = std::max(before->last, range.last);
    else
      ranges[kept++] = range;
  }
  ranges.resize(kept);
}

/// Bytes that are in both of two merged lists: one walk.
std::uint64_t common_bytes(const std::vector<AddressRange>& a, const std::vector<AddressRange>& b) {
  std::uint64_t total = 0;
  for (auto one = a.begin(), other = b.begin(); one != a.end() && other != b.end();) {
    const std::uint64_t first = std::max(one->first, other->first), last = std::min(one->last, other->last);
    if (one->section == other->section && first <= last) total += last - first + 1;
    if (std::tuple(one->section, one->last) < std::tuple(other->section, other->last))
      ++one;
    else
      ++other;
  }
  return total;
}

} // namespace

void StatsCollector::begin_object(const Object& object) {
  object_ = &object;
  functions_.clear();
}

void StatsCollector::begin_part(const Part& part) {
  section_ = &part.section;
  stats_ = {};
  seen_.assign(part.section.header().fre_size, false);
}

std::optional<Error> StatsCollector::function(const EncodedFde& fde, const Place& place, RowCursor rows) {
  RowsSize size;
  for (EncodedRow row; rows.next(row);) {
    const auto decoded = rows.decode(row);
    if (!decoded) return decoded.error();
    const std::uint64_t words = std::uint64_t{row.word_count()} * row.word_size();
    ++size.rows;
    size.starts += row.size - words;
    size.words += words;
    stats_.words += row.word_count();
    stats_.outermost += decoded->is_outermost();
    EncodingStats& by_size = stats_.by_word_size[row.word_size() / 2];
    ++by_size.rows;
    by_size.bytes += words;
  }
  const std::uint64_t attributes = section_->attribute_size();
  const std::uint64_t bytes = attributes + size.starts + size.words;
  ++stats_.functions;
  stats_.rows += size.rows;
  stats_.masked += fde.pc_type == PcType::mask;
  stats_.signal += fde.signal_frame;
  stats_.key_b += section_->abi().signs_return_addresses && fde.pauth_key == PauthKey::b;
  stats_.without_rows += fde.num_fres == 0;
  stats_.max_rows = std::max(stats_.max_rows, size.rows);
  stats_.max_bytes = std::max(stats_.max_bytes, bytes);
  stats_.row_bytes += bytes;
  count(stats_.by_fre_type[static_cast<std::size_t>(fde.fre_type)], size.rows, bytes);
  count(stats_.by_fde_type[static_cast<std::size_t>(fde.fde_type)], size.rows, bytes);

  // Functions without bytes of their own may well start where another one does.
  const bool shared = bytes && fde.fre_offset < seen_.size() && seen_[fde.fre_offset];
  if (bytes && fde.fre_offset < seen_.size()) seen_[fde.fre_offset] = true;
  if (shared) {
    stats_.shared_bytes += bytes;
  } else {
    stats_.bytes.attributes += attributes;
    stats_.bytes.row_starts += size.starts;
    stats_.bytes.data_words += size.words;
  }
  const AddressRange range{place.section, place.start, place.start + (fde.size - 1)};
  if (fde.size && range.first <= range.last) functions_.push_back(range);
  return rows.error();
}

PartStats StatsCollector::part() const {
  PartStats stats = stats_;
  ByteStats& bytes = stats.bytes;
  bytes.header = header_size;
  bytes.aux_header = section_->header().aux_header_size;
  bytes.index = std::uint64_t{section_->num_fdes()} * section_->index_entry_size();
  bytes.total = section_->bytes().size();
  const std::uint64_t used =
      bytes.header + bytes.aux_header + bytes.index + bytes.attributes + bytes.row_starts + bytes.data_words;
  bytes.padding = bytes.total > used ? bytes.total - used : 0;
  return stats;
}

/// The object's code; in a relocatable object, by section.
std::vector<AddressRange> StatsCollector::code_ranges() const {
  std::vector<AddressRange> ranges;
  for (const elf::CodeRange& code : object_->image->executable_ranges()) {
    const bool relocatable = object_->relocatable();
    const std::uint64_t first = relocatable ? 0 : code.address + object_->bias;
    const AddressRange range{relocatable ? code.section : 0, first, first + (code.size - 1)};
    if (code.size && range.first <= range.last) ranges.push_back(range);
  }
  return ranges;
}

ObjectStats StatsCollector::object() {
  ObjectStats stats;
  for (const ObjectSection& section : object_->sections) stats.sframe += section.contents.size();
  if (!object_->image) return stats;
  auto code = code_ranges();
  merge(code);
  merge(functions_);
  for (const AddressRange& range : code) stats.executable_bytes += range.last - range.first + 1;
  stats.covered_bytes = common_bytes(code, functions_);
  for (const elf::Section& section : object_->image->sections()) {
    if (section.name == ".eh_frame") stats.eh_frame += section.size;
    if (section.name == ".eh_frame_hdr") stats.eh_frame_hdr += section.size;
  }
  return stats;
}

} // namespace sframe::dump
