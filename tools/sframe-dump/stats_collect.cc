// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// StatsCollector counts functions as the Driver passes them, and bytes by what they are for. Row words are
// counted by info byte, of which there are 256, and added up at the end (part()). Rows that functions share
// are counted once as stored bytes. Coverage is computed from sets of addresses when the object ends.

#include "stats.h"

#include <sframe/cfi/image.h>
#include <sframe/elf/object.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace sframe::dump {

namespace {

void count(EncodingStats& stats, std::uint64_t rows, std::uint64_t bytes) {
  ++stats.functions;
  stats.rows += rows;
  stats.bytes += bytes;
}

} // namespace

void StatsCollector::begin_object(const Object& object) {
  object_ = &object;
  functions_.clear();
}

void StatsCollector::begin_part(const Part& part) {
  section_ = &part.section;
  stats_ = {};
  rows_by_info_ = {};
  // The header of a damaged section may give a size beyond its end.
  seen_.assign(std::min<std::size_t>(part.section.header().fre_size, part.section.bytes().size()), false);
}

std::optional<Error> StatsCollector::function(const EncodedFde& fde, const FunctionLocation& location,
                                              RowCursor& rows) {
  const std::uint64_t begin = rows.section_offset();
  std::uint64_t row_count = 0;
  for (std::size_t count = decoded_.size(); count == decoded_.size();) { // fewer: no more rows, or an error
    count = rows.next(decoded_, infos_);
    row_count += count;
    for (std::size_t i = 0; i < count; ++i) {
      ++rows_by_info_[infos_[i]];
      stats_.outermost += decoded_[i].is_outermost();
    }
  }
  const std::uint64_t row_bytes = rows.section_offset() - begin;
  const std::uint64_t starts = row_count * ((std::uint64_t{1} << static_cast<unsigned>(fde.fre_type)) + 1);
  const std::uint64_t attributes = section_->version().attribute_size;
  const std::uint64_t bytes = attributes + row_bytes;
  last_ = {row_count, bytes};
  ++stats_.functions;
  stats_.rows += row_count;
  stats_.masked += fde.pc_type == PcType::mask;
  stats_.signal += fde.signal_frame;
  stats_.key_b += section_->abi().signs_return_addresses && fde.pauth_key == PauthKey::b;
  stats_.without_rows += fde.num_fres == 0;
  stats_.max_rows = std::max(stats_.max_rows, row_count);
  stats_.max_bytes = std::max(stats_.max_bytes, bytes);
  stats_.row_bytes += bytes;
  count(stats_.by_fre_type[static_cast<std::size_t>(fde.fre_type)], row_count, bytes);
  count(stats_.by_fde_type[static_cast<std::size_t>(fde.fde_type)], row_count, bytes);

  // Functions without row bytes may have the same offset as another function.
  const bool shared = bytes && fde.fre_offset < seen_.size() && seen_[fde.fre_offset];
  if (bytes && fde.fre_offset < seen_.size()) seen_[fde.fre_offset] = true;
  if (shared) {
    stats_.shared_bytes += bytes;
  } else {
    stats_.stored_rows += row_count;
    stats_.bytes.attributes += attributes;
    stats_.bytes.row_starts += starts;
    stats_.bytes.data_words += row_bytes - starts;
  }
  functions_[location.section].push_back({location.start, fde.size});
  return rows.error();
}

PartStats StatsCollector::part() const {
  PartStats stats = stats_;
  EncodedRow row;
  for (std::size_t info = 0; info < rows_by_info_.size(); ++info) {
    row.info = static_cast<std::uint8_t>(info);
    const std::uint64_t count = rows_by_info_[info], words = count * row.word_count();
    stats.words += words;
    if (count == 0) continue;
    EncodingStats& by_size = stats.by_word_size[row.word_size() / 2];
    by_size.rows += count;
    by_size.bytes += words * row.word_size();
  }
  ByteStats& bytes = stats.bytes;
  bytes.header = header_size;
  bytes.aux_header = section_->header().aux_header_size;
  bytes.index = std::uint64_t{section_->num_fdes()} * section_->version().entry_size;
  bytes.total = section_->bytes().size();
  const std::uint64_t used =
      bytes.header + bytes.aux_header + bytes.index + bytes.attributes + bytes.row_starts + bytes.data_words;
  bytes.padding = bytes.total > used ? bytes.total - used : 0;
  return stats;
}

StatsCollector::RangesBySection StatsCollector::code_ranges() const {
  RangesBySection ranges;
  const bool relocatable = object_->relocatable();
  for (const elf::CodeRange& code : object_->image->executable_ranges())
    ranges[relocatable ? code.section : 0].push_back(
        {relocatable ? 0 : code.start + object_->bias, code.size});
  return ranges;
}

/// Unreadable CFI describes nothing.
StatsCollector::RangesBySection StatsCollector::cfi_ranges() const {
  RangesBySection ranges;
  std::optional<elf::ObjectLayout> layout;
  if (object_->relocatable()) {
    auto made = elf::ObjectLayout::make(*object_->image);
    if (!made) return ranges;
    layout = std::move(*made);
  }
  const cfi::ImageCfi opened = cfi::open_cfi(layout ? layout->image() : *object_->image);
  for (const cfi::ImageSection& section : opened.sections)
    for (auto fdes = section.section.fdes();;) {
      const auto fde = fdes.next();
      if (!fde) continue;
      if (!*fde) break;
      const AddressRange range{(*fde)->start, (*fde)->size};
      if (!layout)
        ranges[0].push_back({range.start + object_->bias, range.size});
      else if (const auto place = layout->locate(range.start))
        ranges[place->section].push_back({place->offset, range.size});
    }
  return ranges;
}

namespace {

constexpr std::size_t most_maps = 60;
constexpr std::uint64_t most_pieces = 800; ///< of all maps together, about

/// Adds the sizes of ranges to the pieces that they are in.
void add_to_pieces(const AddressSet& set, const CodeMap& map, std::vector<std::uint64_t>& pieces) {
  for (const AddressRange& range : set.from(map.range.start)) {
    if (range.start >= map.range.start && range.start - map.range.start >= map.range.size) break;
    // Relative to the map; the range may begin before it.
    const std::uint64_t before = range.start < map.range.start ? map.range.start - range.start : 0;
    std::uint64_t at = before ? 0 : range.start - map.range.start;
    const std::uint64_t end = at + std::min(range.size - before, map.range.size - at);
    while (at < end) {
      const std::uint64_t next = std::min(end, (at / map.piece + 1) * map.piece);
      pieces[at / map.piece] += next - at;
      at = next;
    }
  }
}

/// The largest ranges, without content.
CodeMaps empty_maps(const elf::Image& image, std::uint64_t bias) {
  CodeMaps result;
  const bool relocatable = image.relocatable();
  std::uint64_t total = 0;
  std::vector<elf::CodeRange> ranges = image.executable_ranges();
  std::erase_if(ranges, [](const elf::CodeRange& range) { return range.size == 0; });
  std::ranges::stable_sort(ranges, std::greater(), &elf::CodeRange::size);
  if (ranges.size() > most_maps) {
    result.left_out = ranges.size() - most_maps;
    ranges.resize(most_maps);
  }
  std::ranges::stable_sort(ranges, {},
                           [](const elf::CodeRange& range) { return std::pair(range.start, range.section); });
  for (const elf::CodeRange& range : ranges) total += std::min(range.size, ~total); // sizes are as claimed
  for (const elf::CodeRange& range : ranges) {
    CodeMap& map = result.maps.emplace_back();
    if (range.section) map.section = image.sections()[range.section].name;
    map.space = relocatable ? range.section : 0;
    map.range = {relocatable ? 0 : range.start + bias, range.size};
    map.piece = std::min(range.size, total / most_pieces + 1);
    map.covered.resize((range.size - 1) / map.piece + 1);
    map.with_cfi_only.resize(map.covered.size());
  }
  return result;
}

} // namespace

ObjectStats StatsCollector::object(CodeMaps* maps) {
  ObjectStats stats;
  for (const ObjectSection& section : object_->sections) stats.sframe += section.contents.size();
  if (!object_->image) return stats;
  if (maps) *maps = empty_maps(*object_->image, object_->bias);
  RangesBySection by_cfi = cfi_ranges();
  for (auto& [section, ranges] : code_ranges()) {
    const AddressSet code(std::move(ranges));
    const AddressSet covered = code.in_common(AddressSet(std::exchange(functions_[section], {})));
    const AddressSet described = code.in_common(AddressSet(std::exchange(by_cfi[section], {})));
    stats.executable_bytes += code.size();
    stats.covered_bytes += covered.size();
    stats.cfi_bytes += described.size();
    stats.covered_cfi_bytes += described.size_in_common(covered);
    if (!maps) continue;
    const AddressSet with_cfi_only = described.without(covered);
    for (CodeMap& map : maps->maps) {
      if (map.space != section) continue;
      add_to_pieces(covered, map, map.covered);
      add_to_pieces(with_cfi_only, map, map.with_cfi_only);
    }
  }
  for (const elf::SectionHeader& section : object_->image->sections()) {
    if (section.name == ".eh_frame") stats.eh_frame += section.size;
    if (section.name == ".eh_frame_hdr") stats.eh_frame_hdr += section.size;
  }
  return stats;
}

} // namespace sframe::dump
