// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the ELF images that a process had mapped: among its mappings of files (sframe/elf/mapped_images.h).
// The vdso has no file: the auxiliary vector has its address. Without mappings of files, images are found by
// their first pages. If the program's is missing too (qemu's emulation of Linux writes such cores), the
// mapped memory around the program's entry point is assumed to be the program.

#include "modules.h"

#include "sframe/base/address_ranges.h"
#include "sframe/elf/notes.h"

#include <algorithm>
#include <map>

namespace sframe::core {

using namespace elf;

namespace {

constexpr unsigned max_note_segments = 8;

std::uint64_t loaded_end(const Image& image) {
  std::uint64_t end = 0;
  for (const Segment& segment : image.segments())
    if (segment.type == pt_load) end = std::max(end, range_end(segment.address, segment.memory_size));
  return end;
}

/// The build IDs in an ELF file's first page, found without program headers, which the page may lack: tools
/// that add some (sframe-gen, patchelf) may move their table to the end of the image, which the kernel does
/// not dump.
void find_build_ids(CoreModule& module, std::span<const std::byte> page, ByteOrder order) {
  constexpr std::size_t header_size = 64;
  constexpr std::uint32_t longest_owner = 8; // "GNU" with its NUL and padding; bounds the cost of each place
  if (page.size() < header_size || !Image::is_elf(page)) return;
  std::span<const std::byte> gnu, go;
  for (std::size_t at = header_size; at + 4 <= page.size() && gnu.empty(); at += 4) {
    if (load<std::uint32_t>(page.data() + at, order) > longest_owner) continue;
    const auto note = NoteCursor(page.subspan(at), order, 4).next();
    if (note && is_build_id(*note, BuildIdNote::gnu)) gnu = note->body;
    if (note && go.empty() && is_build_id(*note, BuildIdNote::go)) go = note->body;
  }
  const auto id = gnu.empty() ? go : gnu;
  module.build_id.assign(id.begin(), id.end());
  module.go_build_id.assign(go.begin(), go.end());
}

class ModuleFinder {
public:
  explicit ModuleFinder(const Core& core) : core_(core) {}
  std::vector<CoreModule> find();
  std::vector<CoreModule> find(std::vector<CoreModule> listed);

private:
  void add_mapped_files();
  void add_vdso();
  void add_unnamed();
  void add_executable();
  std::vector<Mapping> all_mappings() const;
  bool keep(const CoreModule& module) const;
  std::uint64_t read_header(CoreModule& module, std::uint64_t address) const;
  void read_build_ids(CoreModule& module, const Image& header) const;
  void share_build_ids();
  std::vector<CoreModule> finish();

  const Core& core_;
  std::vector<CoreModule> modules_;
};

std::vector<CoreModule> ModuleFinder::find() {
  add_mapped_files();
  if (core_.mappings().empty()) add_unnamed();
  add_vdso();
  if (core_.mappings().empty()) add_executable();
  return finish();
}

/// A list has less than the mappings: an image's place is one range. But it has the build IDs.
std::vector<CoreModule> ModuleFinder::find(std::vector<CoreModule> listed) {
  add_mapped_files();
  for (CoreModule& module : modules_) {
    CoreModule* const found = last_not_above(listed, module.end - 1, &CoreModule::start);
    if (!found || found->end <= module.start) continue;
    module.main = found->main;
    if (!module.build_id.empty()) continue;
    module.build_id = found->build_id;
    module.build_id_cut = found->build_id_cut;
  }
  for (CoreModule& module : listed) {
    if (!module.vdso && !core_.mappings().empty()) continue;
    std::vector<std::byte> id = std::move(module.build_id);
    read_header(module, module.start);
    if (module.build_id.empty())
      module.build_id = std::move(id);
    else
      module.build_id_cut = false;
    modules_.push_back(std::move(module));
  }
  return finish();
}

/// Disjoint mappings of files, and other memory, by address.
std::vector<Mapping> ModuleFinder::all_mappings() const {
  std::vector<Mapping> files(core_.mappings().begin(), core_.mappings().end());
  std::ranges::stable_sort(files, {}, &Mapping::start);
  std::map<std::string_view, std::uint32_t> numbers;
  std::vector<Mapping> all;
  const auto executable_at = [&](std::uint64_t address) -> std::optional<bool> {
    const MemoryRange* const range = core_.has_permissions() ? core_.range_at(address) : nullptr;
    return range ? std::optional((range->flags & pf_x) != 0) : std::nullopt;
  };
  std::uint64_t end = 0;
  for (Mapping& mapping : files) {
    if (mapping.start < end) continue; // overlap: invalid
    end = mapping.end;
    const auto next = static_cast<std::uint32_t>(numbers.size() + 1);
    mapping.file = numbers.try_emplace(mapping.path, next).first->second;
    mapping.executable = executable_at(mapping.start);
    all.push_back(mapping);
  }
  const std::size_t of_files = all.size();
  for (const MemoryRange& range : core_.memory()) {
    const auto found = std::span(all).first(of_files);
    const Mapping* const before = last_not_above(found, range.start, &Mapping::start);
    if (before && range.start < before->end) continue;
    const auto after = std::ranges::upper_bound(found, range.start, {}, &Mapping::start);
    Mapping memory{.start = range.start, .end = range.end()};
    if (after != found.end()) memory.end = std::min(memory.end, after->start);
    memory.executable = executable_at(range.start);
    all.push_back(memory);
  }
  std::ranges::stable_sort(all, {}, &Mapping::start);
  end = 0;
  std::erase_if(all, [&](const Mapping& mapping) {
    if (mapping.start < end || mapping.end <= mapping.start) return true;
    end = mapping.end;
    return false;
  });
  return all;
}

void ModuleFinder::add_mapped_files() {
  if (core_.mappings().empty()) return;
  const std::vector<Mapping> mappings = all_mappings();
  const auto read = [&](std::uint64_t address) { return core_.bytes_at(address); };
  for (MappedImage& image :
       find_images(mappings, core_.byte_order(), read, core_.auxv(at_phdr).value_or(0))) {
    CoreModule module;
    const auto own = std::ranges::find(image.mappings, image.file, &Mapping::file);
    if (image.file != 0 && own != image.mappings.end()) module.path = own->path;
    module.start = image.mappings.front().start;
    module.end = image.mappings.back().end;
    module.mappings = std::move(image.mappings);
    if (image.header_address != 0) {
      read_header(module, image.header_address);
      module.bias = image.bias;
    } else if (module.mappings.front().file_offset == 0) {
      read_header(module, module.start);
    }
    if (keep(module)) modules_.push_back(std::move(module));
  }
}

/// A part of a file that is mapped once more has the file's build ID.
void ModuleFinder::share_build_ids() {
  std::map<std::string_view, const CoreModule*> known;
  for (const CoreModule& module : modules_)
    if (!module.build_id.empty()) known.try_emplace(module.path, &module);
  for (CoreModule& module : modules_) {
    if (module.header_address != 0 || !module.build_id.empty() || module.path.empty()) continue;
    const auto found = known.find(module.path);
    if (found == known.end()) continue;
    module.build_id = found->second->build_id;
    module.go_build_id = found->second->go_build_id;
  }
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

/// Returns the end of the image; 0 if the headers are missing.
std::uint64_t ModuleFinder::read_header(CoreModule& module, std::uint64_t address) const {
  auto memory = core_.bytes_at(address);
  const auto window = memory.first(std::min(memory.size(), header_window));
  auto image = Image::parse(window);
  const bool is_image = image && image->byte_order() == core_.byte_order() && image->type() != et_core;
  if (is_image) module.header_address = address;
  const Segment* const first = is_image ? first_load(*image) : nullptr;
  if (first) {
    module.bias = address - (first->address - first->offset);
    read_build_ids(module, *image);
  }
  if (module.build_id.empty()) find_build_ids(module, window, core_.byte_order());
  return first ? loaded_end(*image) + *module.bias : 0;
}

void ModuleFinder::read_build_ids(CoreModule& module, const Image& header) const {
  const auto read = [&](BuildIdNote kind, std::vector<std::byte>& id) {
    unsigned tries = max_note_segments;
    for (const Segment& segment : header.segments()) {
      if (segment.type != pt_note || tries == 0) continue;
      --tries;
      auto notes = core_.bytes_at(segment.address + *module.bias);
      const std::uint64_t size = std::min<std::uint64_t>({segment.file_size, notes.size(), header_window});
      const auto found = build_id_in_notes(notes.first(size), core_.byte_order(), segment.align, kind);
      if (found.empty()) continue;
      id.assign(found.begin(), found.end());
      return;
    }
  };
  read(BuildIdNote::gnu, module.build_id);
  read(BuildIdNote::go, module.go_build_id);
  if (module.build_id.empty()) module.build_id = module.go_build_id;
}

void ModuleFinder::add_vdso() {
  auto address = core_.auxv(at_sysinfo_ehdr);
  if (!address || *address == 0) return;
  for (CoreModule& module : modules_)
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
  modules_.push_back(std::move(module));
}

void ModuleFinder::add_unnamed() {
  std::uint64_t end = 0;
  for (const MemoryRange& range : core_.memory()) {
    if (range.start < end) continue;
    CoreModule module;
    module.start = range.start;
    const std::uint64_t image_end = read_header(module, range.start);
    if (module.header_address == 0 || image_end <= range.start) continue;
    module.end = end = image_end;
    module.mappings.push_back({module.start, module.end, 0, {}});
    modules_.push_back(std::move(module));
  }
}

void ModuleFinder::add_executable() {
  const auto entry = core_.auxv(at_entry);
  const MemoryRange* range = entry ? core_.range_at(*entry) : nullptr;
  if (!range) return;
  for (const CoreModule& module : modules_)
    if (*entry >= module.start && *entry < module.end) return;
  const auto end_of = [](const MemoryRange& r) { return r.start + r.size; };
  const MemoryRange *first = range, *last = range, *all = core_.memory().data();
  while (first != all && end_of(first[-1]) == first->start) --first;
  while (last + 1 != all + core_.memory().size() && last[1].start == end_of(*last)) ++last;
  CoreModule module;
  module.start = first->start;
  module.end = end_of(*last);
  module.assumed = true;
  if (module.end > module.start) module.mappings.push_back({module.start, module.end, 0, {}});
  modules_.push_back(std::move(module));
}

std::vector<CoreModule> ModuleFinder::finish() {
  std::ranges::stable_sort(modules_, {}, &CoreModule::start);
  share_build_ids();
  return std::move(modules_);
}

} // namespace

std::vector<CoreModule> find_modules(const Core& core, std::vector<CoreModule> listed) {
  ModuleFinder finder(core);
  return core.is_minidump() ? finder.find(std::move(listed)) : finder.find();
}

} // namespace sframe::core
