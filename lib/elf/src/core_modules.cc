// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the ELF images that a process had mapped. NT_FILE lists mappings of files. Consecutive mappings of
// one path form a module, unless the module's own program headers (its first page is usually in the core)
// show that it ends earlier: then the same file was mapped twice. The vdso has no file: the auxiliary vector
// has its address. Without NT_FILE, images are found by their first pages. If the program's is missing too
// (qemu's emulation of Linux writes such cores), the mapped memory around the program's entry point is
// assumed to be the program.

#include "core_notes.h"

#include "notes.h"
#include "sframe/address.h"

#include <algorithm>

namespace sframe::elf {

namespace {

/// Program headers and build ID are in the first page; reading only that bounds the work on hostile cores.
constexpr std::size_t header_window = 4096;
constexpr unsigned max_note_segments = 8;

/// The segment that contains the file's first bytes.
const Segment* first_load(const Image& image) {
  for (const Segment& segment : image.segments())
    if (segment.type == pt_load && segment.offset < header_window && segment.file_size != 0) return &segment;
  return nullptr;
}

std::uint64_t loaded_end(const Image& image) {
  std::uint64_t end = 0;
  for (const Segment& segment : image.segments())
    if (segment.type == pt_load) end = std::max(end, range_end(segment.address, segment.memory_size));
  return end;
}

/// The build ID in an ELF file's first page, found without program headers, which the page may lack: tools
/// that add some (sframe-gen, patchelf) may move their table to the end of the image, which the kernel does
/// not dump.
std::vector<std::byte> build_id_in_page(std::span<const std::byte> page, ByteOrder order) {
  constexpr std::byte magic[] = {std::byte{0x7f}, std::byte{'E'}, std::byte{'L'}, std::byte{'F'}};
  constexpr std::size_t header_size = 64;
  constexpr std::uint32_t longest_owner = 8; // "GNU" with its NUL and padding; bounds the cost of each place
  std::span<const std::byte> go;
  if (page.size() < header_size || !std::ranges::equal(page.first(std::size(magic)), magic)) return {};
  for (std::size_t at = header_size; at + 4 <= page.size(); at += 4) {
    if (load<std::uint32_t>(page.data() + at, order) > longest_owner) continue;
    const auto note = NoteCursor(page.subspan(at), order, 4).next();
    if (note && is_build_id(*note, BuildIdNote::gnu)) return {note->body.begin(), note->body.end()};
    if (note && go.empty() && is_build_id(*note, BuildIdNote::go)) go = note->body;
  }
  return {go.begin(), go.end()};
}

} // namespace

void ModuleFinder::find() {
  add_mapped_files();
  if (core_.mappings_.empty()) add_unnamed();
  add_vdso();
  if (core_.mappings_.empty()) add_executable();
  std::ranges::stable_sort(core_.modules_, {}, &CoreModule::start);
  index();
}

/// A list has less than the mappings: an image's place is one range. But it has the build IDs.
void ModuleFinder::find(std::vector<CoreModule> listed) {
  add_mapped_files();
  for (CoreModule& module : core_.modules_) {
    const auto found = std::ranges::lower_bound(listed, module.start, {}, &CoreModule::start);
    if (found == listed.end() || found->start >= module.end) continue;
    module.main = found->main;
    if (!module.build_id.empty()) continue;
    module.build_id = std::move(found->build_id);
    module.build_id_cut = found->build_id_cut;
  }
  for (CoreModule& module : listed) {
    if (!module.vdso && !core_.mappings_.empty()) continue;
    std::vector<std::byte> id = std::move(module.build_id);
    read_header(module, module.start);
    if (module.build_id.empty())
      module.build_id = std::move(id);
    else
      module.build_id_cut = false;
    core_.modules_.push_back(std::move(module));
  }
  std::ranges::stable_sort(core_.modules_, {}, &CoreModule::start);
  index();
}

void ModuleFinder::add_mapped_files() {
  std::vector<Mapping> mappings = core_.mappings_;
  std::ranges::stable_sort(mappings, {}, &Mapping::start);
  std::uint64_t end = 0;
  for (const Mapping& mapping : mappings) {
    if (mapping.start < end) continue; // overlap: invalid
    end = mapping.end;
    add_mapping(mapping);
  }
  std::erase_if(core_.modules_, [&](const CoreModule& module) { return !keep(module); });
}

void ModuleFinder::add_mapping(const Mapping& mapping) {
  auto& modules = core_.modules_;
  if (!modules.empty() && modules.back().path == mapping.path) {
    CoreModule& module = modules.back();
    const bool second_start = mapping.file_offset == 0 && module.mappings.front().file_offset == 0;
    const bool belongs = image_end_ != 0 ? mapping.start < image_end_ : !second_start;
    if (belongs) {
      module.end = mapping.end;
      module.mappings.push_back(mapping);
      return;
    }
  }
  CoreModule module;
  module.path = mapping.path;
  module.start = mapping.start;
  module.end = mapping.end;
  module.mappings.push_back(mapping);
  image_end_ = 0;
  if (mapping.file_offset == 0) read_header(module, mapping.start);
  modules.push_back(std::move(module));
}

/// Data files are mapped too. Without its first page, a file counts as an image if one of its mappings is
/// code according to the core. If the core has none of its mappings (gcore leaves out clean pages), it counts
/// if it has several, as images do.
bool ModuleFinder::keep(const CoreModule& module) const {
  if (module.header_address != 0) return true;
  const Mapping& first = module.mappings.front();
  if (first.file_offset == 0 && core_.bytes_at(first.start).size() >= 4) return false; // present, but not ELF
  bool unseen = false;
  for (const Mapping& mapping : module.mappings) {
    const MemoryRange* range = core_.range_at(mapping.start);
    if (range && range->flags & pf_x) return true;
    unseen |= !range;
  }
  return unseen && module.mappings.size() > 1;
}

void ModuleFinder::read_header(CoreModule& module, std::uint64_t address) {
  auto memory = core_.bytes_at(address);
  const auto window = memory.first(std::min(memory.size(), header_window));
  auto image = Image::parse(window);
  if (!image || image->byte_order() != core_.byte_order() || image->type() == et_core) {
    module.build_id = build_id_in_page(window, core_.byte_order());
    return;
  }
  module.header_address = address;
  const Segment* first = first_load(*image);
  if (!first) {
    module.build_id = build_id_in_page(window, core_.byte_order());
    return;
  }
  const std::uint64_t bias = address - (first->address - first->offset);
  module.bias = bias;
  image_end_ = loaded_end(*image) + bias;
  for (const BuildIdNote kind : build_id_notes) {
    unsigned tries = max_note_segments;
    for (const Segment& segment : image->segments()) {
      if (segment.type != pt_note || tries == 0) continue;
      --tries;
      auto notes = core_.bytes_at(segment.address + bias);
      const std::uint64_t size = std::min<std::uint64_t>({segment.file_size, notes.size(), header_window});
      auto id = build_id_in_notes(notes.first(size), core_.byte_order(), segment.align, kind);
      if (id.empty()) continue;
      module.build_id.assign(id.begin(), id.end());
      return;
    }
  }
}

void ModuleFinder::add_vdso() {
  auto address = core_.auxv(at_sysinfo_ehdr);
  if (!address || *address == 0) return;
  for (CoreModule& module : core_.modules_)
    if (module.header_address == *address) {
      module.vdso = true;
      module.path = "[vdso]";
      return;
    }
  CoreModule module;
  module.path = "[vdso]";
  module.vdso = true;
  module.start = *address;
  read_header(module, *address);
  if (module.header_address == 0) return;
  const MemoryRange* range = core_.range_at(*address);
  const std::uint64_t end = range->start + range->size; // 0 at the top of the address space
  module.end = end ? end : ~std::uint64_t{0};
  module.mappings.push_back({module.start, module.end, 0, module.path});
  core_.modules_.push_back(std::move(module));
}

void ModuleFinder::add_unnamed() {
  std::uint64_t end = 0;
  for (const MemoryRange& range : core_.memory_) {
    if (range.start < end) continue;
    CoreModule module;
    module.start = range.start;
    image_end_ = 0;
    read_header(module, range.start);
    if (module.header_address == 0 || image_end_ <= range.start) continue;
    module.end = end = image_end_;
    module.mappings.push_back({module.start, module.end, 0, {}});
    core_.modules_.push_back(std::move(module));
  }
}

void ModuleFinder::add_executable() {
  const auto entry = core_.auxv(at_entry);
  const MemoryRange* range = entry ? core_.range_at(*entry) : nullptr;
  if (!range) return;
  for (const CoreModule& module : core_.modules_)
    if (*entry >= module.start && *entry < module.end) return;
  const auto end_of = [](const MemoryRange& r) { return r.start + r.size; };
  const MemoryRange *first = range, *last = range, *all = core_.memory_.data();
  while (first != all && end_of(first[-1]) == first->start) --first;
  while (last + 1 != all + core_.memory_.size() && last[1].start == end_of(*last)) ++last;
  CoreModule module;
  module.start = first->start;
  module.end = end_of(*last);
  module.assumed = true;
  if (module.end > module.start) module.mappings.push_back({module.start, module.end, 0, {}});
  core_.modules_.push_back(std::move(module));
}

void ModuleFinder::index() {
  for (std::size_t i = 0; i < core_.modules_.size(); ++i)
    for (const Mapping& mapping : core_.modules_[i].mappings)
      core_.module_spans_.push_back(
          {AddressRange::between(mapping.start, mapping.end), static_cast<std::uint32_t>(i)});
  std::ranges::stable_sort(core_.module_spans_, {}, &Core::ModuleSpan::start);
}

namespace {

std::uint64_t bias_of(const Segment& segment, const Mapping& mapping) {
  return mapping.start - mapping.file_offset - (segment.address - segment.offset);
}

/// True if the mapping is a loader's mapping of the segment: it starts at the segment's offset, rounded down
/// to a page.
bool starts_at(const Segment& segment, const Mapping& mapping) {
  if (segment.type != pt_load || segment.file_size == 0 || segment.offset < mapping.file_offset) return false;
  const std::uint64_t skip = segment.offset - mapping.file_offset;
  return skip < largest_page && skip < mapping.end - mapping.start &&
         mapping.file_offset % smallest_page == 0 &&
         (skip < smallest_page || segment.offset % largest_page == skip);
}

/// True if the mapping starts within the segment: the rest of a split mapping (mprotect).
bool starts_within(const Segment& segment, const Mapping& mapping) {
  return segment.type == pt_load && mapping.file_offset >= segment.offset &&
         mapping.file_offset - segment.offset < segment.file_size;
}

} // namespace

BiasFinder::BiasFinder(const Image& file) : segments_(file.segments()) {
  for (const Segment& segment : segments_)
    if (segment.type == pt_load && segment.file_size != 0)
      places_.push_back({segment.offset, range_end(segment.offset, segment.file_size)});
  std::ranges::sort(places_, {}, &Place::offset);
  std::uint64_t end = 0;
  for (Place& place : places_) place.last_end = end = std::max(end, place.last_end);
}

/// True if starts_at() holds for a segment, found without looking at all of them.
bool BiasFinder::any_starts_at(const Mapping& mapping) const {
  if (mapping.file_offset % smallest_page != 0) return false;
  const std::uint64_t page = mapping.file_offset % largest_page == 0 ? largest_page : smallest_page;
  const auto first = std::ranges::lower_bound(places_, mapping.file_offset, {}, &Place::offset);
  return first != places_.end() &&
         first->offset - mapping.file_offset < std::min(page, mapping.end - mapping.start);
}

/// The same for starts_within().
bool BiasFinder::any_starts_within(const Mapping& mapping) const {
  const auto after = std::ranges::upper_bound(places_, mapping.file_offset, {}, &Place::offset);
  return after != places_.begin() && std::prev(after)->last_end > mapping.file_offset;
}

std::optional<std::uint64_t> BiasFinder::find(std::span<const Mapping> mappings) const {
  const auto bias_if = [&](const Mapping& mapping, auto fits) {
    const auto found = std::ranges::find_if(segments_, [&](const Segment& s) { return fits(s, mapping); });
    return found == segments_.end() ? std::nullopt : std::optional(bias_of(*found, mapping));
  };
  // Both lists are sorted by address, so the first match is correct even if two segments share a page of the
  // file.
  for (const Mapping& mapping : mappings)
    if (any_starts_at(mapping))
      if (const auto bias = bias_if(mapping, starts_at)) return bias;
  for (const Mapping& mapping : mappings)
    if (any_starts_within(mapping))
      if (const auto bias = bias_if(mapping, starts_within)) return bias;
  return std::nullopt;
}

} // namespace sframe::elf
