// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ImageFinder works in four steps, each on the mappings that the ones before have not used: the images of
// each file, by the headers in its first page (place_file()); the program, by AT_PHDR, and what else is known
// to start somewhere, if their headers are in other memory (place_program(), place_header()); memory in the
// place of an image's contents (take_moved()); mappings of one file that follow each other (add_runs()).
//
// BiasFinder is the vote that place_file() rests on. A mapping that starts where a PT_LOAD does, or inside
// one, gives a bias for the image; the biases that most mappings give come first:
//
//   PT_LOAD  offset 0x1000  address 0x401000      mapping  offset 0x1000  at 0x7f0000401000
//   bias = 0x7f0000401000 - 0x401000 = 0x7f0000000000
//
// Hostile inputs are bounded: 16 segments for a mapping, 64 images of a file, and 16 visits of a mapping on
// average.

#include "sframe/elf/mapped_images.h"

#include "sframe/base/address_ranges.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace sframe::elf {

namespace {

/// A hostile file has any number of segments at one place, and a hostile core any number of mappings.
constexpr unsigned most_segments_of_mapping = 16, most_images_of_file = 64;

std::uint64_t bias_of(const Segment& segment, const Mapping& mapping) {
  return mapping.start - mapping.file_offset - (segment.address - segment.offset);
}

/// True if the mapping is a loader's mapping of the segment: it starts at the segment's offset, rounded down
/// to a page.
bool starts_at(const Segment& segment, const Mapping& mapping) {
  if (segment.offset < mapping.file_offset) return false;
  const std::uint64_t skip = segment.offset - mapping.file_offset;
  return skip < largest_page && skip < mapping.end - mapping.start &&
         mapping.file_offset % smallest_page == 0 &&
         (skip < smallest_page || segment.offset % largest_page == skip);
}

/// True if the mapping starts within the segment: the rest of a split mapping (mprotect).
bool starts_within(const Segment& segment, const Mapping& mapping) {
  return mapping.file_offset >= segment.offset && mapping.file_offset - segment.offset < segment.file_size;
}

/// A mapping of code as data.
bool lacks_permission(const Segment& segment, const Mapping& mapping) {
  return segment.flags & pf_x && !mapping.executable.value_or(true);
}

} // namespace

const Segment* first_load(const Image& image) {
  for (const Segment& segment : image.segments())
    if (segment.type == pt_load && segment.offset < header_window && segment.file_size != 0) return &segment;
  return nullptr;
}

BiasFinder::BiasFinder(const Image& file) {
  for (const Segment& segment : file.segments())
    if (segment.type == pt_load && segment.file_size != 0)
      places_.push_back({segment.offset, range_end(segment.offset, segment.file_size), &segment});
  std::ranges::stable_sort(places_, {}, &Place::offset);
  std::uint64_t end = 0;
  for (Place& place : places_) place.last_end = end = std::max(end, place.last_end);
}

/// Calls f(segment, whether the mapping starts where it does) for the segments that the mapping may be of.
template <class F> void BiasFinder::each_segment(const Mapping& mapping, F&& f) const {
  unsigned left = most_segments_of_mapping;
  const auto from = std::ranges::lower_bound(places_, mapping.file_offset, {}, &Place::offset);
  for (auto at = from; at != places_.end() && left != 0; ++at, --left) {
    if (at->offset - mapping.file_offset >= largest_page) break;
    if (starts_at(*at->segment, mapping) && !lacks_permission(*at->segment, mapping)) f(*at->segment, true);
  }
  left = most_segments_of_mapping;
  for (auto at = from; at != places_.begin() && left != 0; --left) {
    --at;
    if (at->last_end <= mapping.file_offset) break;
    if (starts_within(*at->segment, mapping) && !lacks_permission(*at->segment, mapping))
      f(*at->segment, false);
  }
}

std::vector<BiasFinder::Fit> BiasFinder::all_fits(std::span<const Mapping> mappings) const {
  std::vector<Fit> all;
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    if (mappings[i].moved) continue;
    const Mapping& mapping = mappings[i];
    each_segment(mapping, [&](const Segment& segment, bool is_start) {
      const bool is_code = (segment.flags & pf_x) != 0, is_header = mapping.file_offset == 0 && is_start;
      all.push_back({.bias = bias_of(segment, mapping),
                     .mappings = 1,
                     .alike = mapping.executable == is_code,
                     .starts = is_start,
                     .first_fit = i,
                     .address = segment.address,
                     .header = is_header ? std::optional(i) : std::nullopt});
    });
  }
  std::ranges::stable_sort(all, {}, &Fit::bias);
  std::vector<Fit> joined;
  std::size_t last = 0; // the mapping that was counted last
  for (const Fit& one : all) {
    if (joined.empty() || joined.back().bias != one.bias) {
      joined.push_back(one);
    } else {
      Fit& fit = joined.back();
      fit.mappings += one.first_fit != last;
      fit.alike += one.alike;
      fit.starts += one.starts;
      if (!fit.header) fit.header = one.header;
    }
    last = one.first_fit;
  }
  std::ranges::sort(joined, [](const Fit& a, const Fit& b) {
    return std::tuple(b.mappings, b.alike, b.starts, a.first_fit, a.address, a.bias) <
           std::tuple(a.mappings, a.alike, a.starts, b.first_fit, b.address, b.bias);
  });
  return joined;
}

bool BiasFinder::fits(const Mapping& mapping, std::uint64_t bias) const {
  bool found = false;
  each_segment(mapping, [&](const Segment& segment, bool) { found |= bias_of(segment, mapping) == bias; });
  return found;
}

std::optional<std::uint64_t> BiasFinder::find(std::span<const Mapping> mappings) const {
  const std::vector<Fit> all = all_fits(mappings);
  return all.empty() ? std::nullopt : std::optional(all.front().bias);
}

namespace {

/// A copy of an image's first page.
struct Header {
  std::vector<std::byte> bytes;
  Image image;
};

class ImageFinder {
public:
  ImageFinder(std::span<const Mapping> mappings, ByteOrder order, const PageReader& read)
      : mappings_(mappings), order_(order), read_(read), owners_(mappings.size()),
        steps_(usual_visits * mappings.size()) {
    code_before_.push_back(0);
    for (const Mapping& mapping : mappings)
      code_before_.push_back(code_before_.back() + mapping.executable.value_or(true));
  }

  std::vector<MappedImage> find(std::uint64_t program_headers, std::span<const std::uint64_t> starts);

private:
  /// An image with a header.
  struct Placed {
    MappedImage image;
    AddressRange range;
    AddressSet contents; ///< where the bytes of its file are, in whole pages
    bool has_code = false;
    bool is_certain = false; ///< known otherwise than by mappings of its file
  };
  std::optional<Header> header_at(std::uint64_t address) const;
  void place_file(std::span<const std::size_t> positions);
  void place_program(std::uint64_t program_headers);
  void place_header(const Header& header, std::uint64_t address);
  std::optional<std::size_t> position_of(std::uint64_t address);
  bool is_moved_text(std::size_t position, const MappedImage& run) const;
  Placed& place(const Image& header, std::uint64_t address, std::uint64_t bias);
  void take_other_file(Placed& placed, const BiasFinder& finder);
  void take_moved(Placed& placed, std::size_t number);
  void add_runs();
  /// Calls f for the positions of the mappings with a part in the range, up to the first for which it returns
  /// false.
  template <class F> void each_in(const AddressRange& range, F&& f);

  /// How often a mapping is looked at, on average: hostile images are in the same range.
  static constexpr std::size_t usual_visits = 16;

  std::span<const Mapping> mappings_;
  ByteOrder order_;
  const PageReader& read_;
  std::vector<std::size_t> code_before_; ///< how many mappings before each position may be executable
  std::vector<std::size_t> owners_;      ///< of each mapping: the position in placed_ and 1; 0: none
  std::vector<Placed> placed_;
  std::vector<MappedImage> runs_;
  std::size_t steps_;
};

std::vector<MappedImage> ImageFinder::find(std::uint64_t program_headers,
                                           std::span<const std::uint64_t> starts) {
  std::vector<std::size_t> of_files;
  for (std::size_t i = 0; i < mappings_.size(); ++i)
    if (mappings_[i].file != 0) of_files.push_back(i);
  const auto file_of = [&](std::size_t i) { return mappings_[i].file; };
  std::ranges::stable_sort(of_files, {}, file_of);
  for (auto first = of_files.begin(); first != of_files.end();) {
    const auto end = std::ranges::upper_bound(first, of_files.end(), file_of(*first), {}, file_of);
    place_file(std::span(first, end));
    first = end;
  }
  if (program_headers != 0) place_program(program_headers);
  for (const std::uint64_t start : starts)
    if (const auto position = position_of(start); position && owners_[*position] == 0)
      if (const auto header = header_at(start)) place_header(*header, start);
  for (std::size_t i = 0; i < placed_.size(); ++i) take_moved(placed_[i], i);
  add_runs();
  std::vector<MappedImage> images = std::move(runs_);
  for (Placed& placed : placed_) {
    const auto is_code = [](const Mapping& mapping) { return mapping.executable.value_or(true); };
    // Else it is mapped as data.
    if (!placed.has_code || std::ranges::any_of(placed.image.mappings, is_code))
      images.push_back(std::move(placed.image));
  }
  std::ranges::stable_sort(images, {}, [](const MappedImage& image) { return image.mappings.front().start; });
  return images;
}

std::optional<Header> ImageFinder::header_at(std::uint64_t address) const {
  auto page = read_(address);
  page = page.first(std::min(page.size(), header_window));
  if (!Image::is_elf(page)) return std::nullopt;
  std::vector<std::byte> bytes(page.begin(), page.end());
  auto image = Image::parse(bytes);
  if (!image || image->byte_order() != order_ || image->type() == et_core || !first_load(*image))
    return std::nullopt;
  return Header{std::move(bytes), std::move(*image)};
}

template <class F> void ImageFinder::each_in(const AddressRange& range, F&& f) {
  const auto first = std::ranges::upper_bound(mappings_, range.start, {}, &Mapping::end);
  for (auto at = first; at != mappings_.end() && at->start < range.end() && steps_ != 0; ++at, --steps_)
    if (!f(static_cast<std::size_t>(at - mappings_.begin()))) return;
}

ImageFinder::Placed& ImageFinder::place(const Image& header, std::uint64_t address, std::uint64_t bias) {
  Placed& placed = placed_.emplace_back();
  placed.image.header_address = address;
  placed.image.bias = bias;
  std::uint64_t low = last_address, high = 0;
  std::vector<AddressRange> contents;
  for (const Segment& segment : header.segments()) {
    if (segment.type != pt_load || segment.memory_size == 0) continue;
    const std::uint64_t first_page = segment.address / smallest_page * smallest_page;
    low = std::min(low, first_page);
    high = std::max(high, range_end(segment.address, segment.memory_size));
    placed.has_code |= (segment.flags & pf_x) != 0;
    const std::uint64_t size = segment.address - first_page + segment.file_size;
    if (segment.file_size != 0) contents.push_back({first_page + bias, align_up(size, smallest_page)});
  }
  placed.range = {low + bias, high - low};
  placed.contents = AddressSet(std::move(contents));
  return placed;
}

/// Finds the images of one file, whose mappings are at these positions. Nothing is read of files that are
/// mapped only as data.
void ImageFinder::place_file(std::span<const std::size_t> positions) {
  if (code_before_[positions.front()] == code_before_[positions.back() + 1]) return;
  std::vector<Mapping> mappings;
  for (const std::size_t position : positions) mappings.push_back(mappings_[position]);
  std::optional<Header> header;
  for (const Mapping& mapping : mappings)
    if (mapping.file_offset == 0 && !header) header = header_at(mapping.start);
  if (!header) return;
  const Segment& first = *first_load(header->image);
  unsigned left = most_images_of_file;
  const BiasFinder finder(header->image);
  for (const BiasFinder::Fit& fit : finder.all_fits(mappings)) {
    if (left == 0) break;
    if (!fit.header || owners_[positions[*fit.header]] != 0) continue;
    if (header->image.type() == et_exec && fit.bias != 0) continue;
    // Text of another file's image that was moved to this file may begin with that file's first page.
    const std::uint64_t address = first.address - first.offset + fit.bias;
    const Mapping* const start = last_not_above(mappings_, address, &Mapping::start);
    if (start && address < start->end && start->file != 0 && start->file != mappings.front().file) return;
    --left;
    Placed& placed = place(header->image, address, fit.bias);
    placed.image.file = mappings.front().file;
    const auto from = std::ranges::upper_bound(mappings, placed.range.start, {}, &Mapping::end);
    for (auto at = from; at != mappings.end() && at->start < placed.range.end(); ++at) {
      std::size_t& owner = owners_[positions[static_cast<std::size_t>(at - mappings.begin())]];
      // What is between segments fits none, but is not code.
      if (owner != 0 || (at->executable.value_or(false) && !finder.fits(*at, fit.bias))) continue;
      owner = placed_.size();
      placed.image.mappings.push_back(*at);
    }
    take_other_file(placed, finder);
  }
}

/// The program, if its headers are in memory that is not of its file: all of it was moved, or the first page.
void ImageFinder::place_program(std::uint64_t program_headers) {
  constexpr std::size_t table_at = 32; // e_phoff
  const auto position = position_of(program_headers);
  if (!position) return;
  if (const std::size_t owner = owners_[*position]) return void(placed_[owner - 1].is_certain = true);
  const std::uint64_t address = program_headers / smallest_page * smallest_page;
  const auto header = header_at(address);
  if (!header || address + load<std::uint64_t>(header->bytes.data() + table_at, order_) != program_headers)
    return;
  place_header(*header, address);
}

std::optional<std::size_t> ImageFinder::position_of(std::uint64_t address) {
  std::optional<std::size_t> position;
  each_in({address, 1}, [&](std::size_t i) {
    position = i;
    return false;
  });
  return position;
}

void ImageFinder::place_header(const Header& header, std::uint64_t address) {
  const Segment& first = *first_load(header.image);
  const std::uint64_t bias = address - (first.address - first.offset);
  if (header.image.type() == et_exec && bias != 0) return;
  Placed& placed = place(header.image, address, bias);
  placed.is_certain = true;
  take_other_file(placed, BiasFinder(header.image));
}

/// If the image placed last has mappings of another file that fit, that is its file: the header was moved.
/// What the header was moved to begins with it, and so may what text was moved to.
void ImageFinder::take_other_file(Placed& placed, const BiasFinder& finder) {
  std::vector<Mapping>& own = placed.image.mappings;
  const std::size_t before = own.size();
  std::uint32_t other = 0;
  each_in(placed.range, [&](std::size_t i) {
    const Mapping& mapping = mappings_[i];
    if (owners_[i] != 0) return owners_[i] == placed_.size();
    if (mapping.file == 0) return true;
    const bool may_be = before == 0 || mapping.file_offset != 0;
    if (other == 0 && may_be && finder.fits(mapping, *placed.image.bias)) other = mapping.file;
    if (mapping.file == other) {
      owners_[i] = placed_.size();
      own.push_back(mapping);
    }
    return true;
  });
  if (other == 0) return;
  placed.image.file = other;
  for (Mapping& mapping : std::span(own).first(before)) mapping.moved = true;
}

/// Adds the memory, of whatever origin, that is in the place of the file's contents. One mapping alone may be
/// a view of the file as data, next to memory of others.
void ImageFinder::take_moved(Placed& placed, std::size_t number) {
  std::vector<Mapping>& mappings = placed.image.mappings;
  if (mappings.size() < 2 && !placed.is_certain) return;
  each_in(placed.range, [&](std::size_t i) {
    std::size_t& owner = owners_[i];
    if (owner != 0) return owner == number + 1;
    const Mapping& whole = mappings_[i];
    for (const AddressRange& pages : placed.contents.from(whole.start)) {
      Mapping part = whole;
      part.start = std::max(part.start, pages.start);
      part.end = std::min(part.end, pages.end());
      if (part.start >= part.end) break;
      part.moved = true;
      owner = number + 1;
      mappings.push_back(part);
    }
    return true;
  });
  std::ranges::sort(mappings, {}, &Mapping::start);
}

/// True if the mapping is code of another file, as a memfd is, in the place of code of the run's file.
bool ImageFinder::is_moved_text(std::size_t position, const MappedImage& run) const {
  if (run.mappings.empty() || position + 1 == mappings_.size()) return false;
  const Mapping &last = run.mappings.back(), &next = mappings_[position + 1];
  if (!mappings_[position].executable.value_or(false) || next.file != run.file || last.moved) return false;
  // As in the file, but for what linkers leave between segments.
  const std::uint64_t distance = next.start - last.start, in_file = next.file_offset - last.file_offset;
  return next.file_offset > last.file_offset && distance - in_file < 4 * std::uint64_t{largest_page};
}

/// Mappings of one file that follow each other, with executable memory between them, if no image with a
/// header has them.
void ImageFinder::add_runs() {
  MappedImage run;
  std::vector<Mapping> between;
  const auto end = [&] {
    if (!run.mappings.empty()) runs_.push_back(std::move(run));
    run = {};
    between.clear();
  };
  // All segments may be in the file's first page; then there is less than a page between them.
  const auto starts_again = [&](const Mapping& mapping) {
    const Mapping& last = run.mappings.back();
    return mapping.file_offset == 0 && (last.file_offset != 0 || mapping.start - last.end >= largest_page);
  };
  for (std::size_t i = 0; i < mappings_.size(); ++i) {
    const Mapping& mapping = mappings_[i];
    if (owners_[i] != 0) {
      end();
    } else if (mapping.file == 0 || (mapping.file != run.file && is_moved_text(i, run))) {
      if (mapping.executable.value_or(false)) between.push_back(mapping);
    } else {
      if (!run.mappings.empty() && (mapping.file != run.file || starts_again(mapping))) end();
      for (Mapping& text : between)
        if (!run.mappings.empty()) run.mappings.push_back(text), run.mappings.back().moved = true;
      between.clear();
      run.file = mapping.file;
      run.mappings.push_back(mapping);
    }
  }
  end();
}

} // namespace

std::vector<MappedImage> find_images(std::span<const Mapping> mappings, ByteOrder order,
                                     const PageReader& read, std::uint64_t program_headers,
                                     std::span<const std::uint64_t> starts) {
  return ImageFinder(mappings, order, read).find(program_headers, starts);
}

} // namespace sframe::elf
