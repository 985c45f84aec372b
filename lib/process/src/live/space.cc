// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory is read in chunks that follow the walk up the stack: four pages at first, twice as many each time
// the one before was not enough, at most 64, and never past the mapping. They are kept until forget(). What
// modules read (tables without a file) is kept by module, at most largest_image for a mapping and a total for
// all. refresh() reads /proc/PID/maps again; an image whose mappings have not changed keeps its module, so
// that its tables are read once.

#include "link_map.h"
#include "live/proc_files.h"
#include "sframe/process/live_process.h"

#include "sframe/base/address_ranges.h"
#include "sframe/elf/tagged_values.h"
#include "sframe/unwind/abi.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace sframe::process {

namespace {

constexpr std::uint64_t page_size = smallest_page;                                ///< the unit of reads
constexpr std::uint64_t least_ahead = 4 * page_size, most_ahead = 64 * page_size; ///< read at once
constexpr std::uint64_t usual_stack = 32 * page_size;                             ///< used part
constexpr std::uint64_t largest_image = std::uint64_t{1} << 28;

} // namespace

struct LiveSpace::Mapping : MapsLine {
  modules::Module* module = nullptr;
  Known* known = nullptr; ///< of that module
};

/// A module and the memory read for it. The bytes belong to the module, not to the address: after it is
/// unloaded, something else may be mapped there.
struct LiveSpace::Known final : public modules::ByteSource {
  explicit Known(LiveSpace& of) : space(of) {}

  std::span<const std::byte> memory_at(std::uint64_t address) override;

  LiveSpace& space;
  modules::Module* module = nullptr;
  std::map<std::uint64_t, std::vector<std::byte>> images; ///< by the mapping's address
};

/// Bytes read at once. `covered` of them, whole pages, were requested; the first `size` are available.
struct LiveSpace::Chunk {
  const std::byte* bytes;
  std::size_t size, covered;
};

LiveSpace::LiveSpace(std::uint32_t pid, const AbiTraits& abi, modules::FileOptions files, Owner owner)
    : pid_(pid), owner_(owner), through_(pid), abi_(abi), files_(std::move(files).for_space()),
      generated_(*this, files_, *this, modules_) {}

LiveSpace::~LiveSpace() = default;

std::size_t LiveSpace::read_process(std::uint64_t address, std::span<std::byte> out) const {
  return live::read_memory(through_, address, out);
}

std::span<const std::byte> LiveSpace::view(std::uint64_t address) {
  const std::uint64_t page = address - address % page_size;
  auto after = chunks_.upper_bound(page);
  auto at = after == chunks_.begin() ? chunks_.end() : std::prev(after);
  if (at == chunks_.end() || page - at->first >= at->second.covered)
    at = chunks_.emplace_hint(after, page, read_chunk(page, after == chunks_.end() ? 0 : after->first));
  const Chunk& chunk = at->second;
  const std::uint64_t into = address - at->first;
  return into < chunk.size ? std::span(chunk.bytes, chunk.size).subspan(into) : std::span<std::byte>{};
}

/// Reads all up to the end of the mapping, if it is near: that is the used part of a thread's stack.
/// Otherwise several pages, because a walk goes up the stack, and twice as many each time the chunk before
/// was not enough. Stops at the end of the mapping and at `limit` (0: none).
LiveSpace::Chunk LiveSpace::read_chunk(std::uint64_t page, std::uint64_t limit) {
  const Mapping* mapping = mapping_at(page);
  if (!mapping) return {nullptr, 0, page_size};
  read_ahead_ = page == read_to_ ? std::min(read_ahead_ * 2, most_ahead) : least_ahead;
  std::uint64_t size = mapping->end - page;
  if (size > usual_stack) size = std::min(read_ahead_, size);
  if (limit) size = std::min(size, limit - page);
  if (room_.empty()) {
    if (blocks_used_ == blocks_.size()) blocks_.push_back(std::make_unique_for_overwrite<Block>());
    room_ = *blocks_[blocks_used_++];
  }
  const auto out = room_.first(std::min<std::size_t>(size, room_.size()));
  const std::size_t got = read_process(page, out);
  // Unreadable bytes at the chunk's end are requested again when needed.
  const std::size_t covered = std::max<std::size_t>((got + page_size - 1) / page_size * page_size, page_size);
  room_ = room_.subspan(std::min(covered, room_.size()));
  read_to_ = page + covered;
  return {out.data(), got, covered};
}

void LiveSpace::forget() {
  chunks_.clear();
  blocks_used_ = 0;
  room_ = {};
  read_to_ = 0;
}

std::span<const std::byte> LiveSpace::memory_at(std::uint64_t address) {
  const Mapping* mapping = mapping_at(address);
  return mapping && mapping->known ? mapping->known->memory_at(address) : std::span<const std::byte>{};
}

std::span<const std::byte> LiveSpace::Known::memory_at(std::uint64_t address) {
  const Mapping* mapping = space.mapping_at(address);
  if (mapping && !mapping->writable && mapping->known == this) {
    const auto [at, added] = images.try_emplace(mapping->start);
    if (added) {
      std::vector<std::byte>& image = at->second;
      image.resize(std::min({mapping->end - mapping->start, largest_image, space.images_left_}));
      image.resize(space.read_process(mapping->start, image));
      image.shrink_to_fit();
      space.images_left_ -= image.size();
    }
  }
  const auto after = images.upper_bound(address);
  if (after == images.begin()) return {};
  const auto& [start, image] = *std::prev(after);
  const std::uint64_t into = address - start;
  return into < image.size() ? std::span<const std::byte>(image).subspan(into) : std::span<const std::byte>{};
}

const LiveSpace::Mapping* LiveSpace::mapping_at(std::uint64_t address) const {
  const Mapping* const found = last_not_above(mappings_, address, &Mapping::start);
  return found && address < found->end ? found : nullptr;
}

bool LiveSpace::is_code(std::uint64_t address) {
  const Mapping* mapping = mapping_at(address);
  return mapping && mapping->executable;
}

modules::Module* LiveSpace::module_at(std::uint64_t address) {
  const Mapping* mapping = mapping_at(address);
  modules::Module* mapped = mapping ? mapping->module : nullptr;
  // Text that was moved may be part of a mapping with other memory.
  if (mapped && !mapped->info().contains(address)) mapped = nullptr;
  if (!mapping || !mapping->executable || (mapped && mapped->file().is_image())) return mapped;
  modules::Module* generated = generated_.module_at(address);
  return generated ? generated : mapped;
}

void LiveSpace::set_code_pac_mask(std::uint64_t mask) {
  const std::uint64_t highest = mappings_.empty() ? 0 : mappings_.back().end - 1;
  code_mask_ = unwind::code_address_mask(abi_, mask, highest);
}

void LiveSpace::refresh_generated_code() {
  if (generated_.refresh()) note_change();
}

Result<bool> LiveSpace::refresh() {
  std::string text = live::read_proc(through_, "maps");
  if (text.empty()) text = live::read_proc(through_ = live::living_thread(pid_), "maps");
  if (text.empty()) return fail("process has exited");
  if (Budget* const budget = files_.budget.get()) budget->refill(live::resident_bytes(pid_));
  files_.shared->refill();
  if (text == maps_) return false;
  note_change();
  mappings_.clear();
  maps_ = std::move(text);
  const std::string auxv = live::read_proc(through_, "auxv");
  const auto auxv_value = [&](std::uint64_t tag) { return live::auxiliary_value(auxv, tag); };
  const std::uint64_t entry = auxv_value(elf::at_entry).value_or(0);
  try {
    std::vector<MapsLine> lines = parse_maps(maps_);
    for (MapsLine& line : lines) {
      line.executable |= owner_ == Owner::guest;
      mappings_.push_back({line});
    }
    const LinkedMemory memory{
        .order = abi_.byte_order,
        .read = [&](std::uint64_t address, std::span<std::byte> out) { return read_process(address, out); },
        .auxv = auxv_value};
    std::vector<LinkedObject> moved;
    for (const elf::MappedImage& image : find_images(lines, memory, moved)) add_module(image, entry, moved);
  } catch (...) { // out of memory: it is read again next time
    mappings_.clear();
    maps_.clear();
    throw;
  }
  main_ = elf::find_program(auxv_value, [&](std::uint64_t address) {
    const Mapping* mapping = mapping_at(address);
    return mapping ? mapping->module : nullptr;
  });
  return true;
}

/// Libraries none of whose mappings is of their file are known to the dynamic loader only: `moved`.
std::vector<elf::MappedImage> LiveSpace::find_images(std::span<const MapsLine> lines,
                                                     const LinkedMemory& memory,
                                                     std::vector<LinkedObject>& moved) const {
  const std::uint64_t program_headers = memory.auxv(elf::at_phdr).value_or(0);
  const auto find = [&](std::span<const std::uint64_t> starts) {
    return live::find_images(through_, lines, abi_.byte_order, program_headers, starts);
  };
  auto images = find({});
  std::vector<AddressRange> parts;
  for (const elf::MappedImage& image : images)
    for (const elf::Mapping& part : image.mappings)
      parts.push_back(AddressRange::between(part.start, part.end));
  const AddressSet in_images(std::move(parts));
  const bool has_other_code = std::ranges::any_of(
      lines, [&](const MapsLine& line) { return line.executable && !in_images.contains(line.start); });
  const auto dynamic = has_other_code ? dynamic_section(memory) : std::nullopt;
  if (!dynamic) return images;
  moved = linked_objects(memory, *dynamic);
  std::erase_if(moved, [&](const LinkedObject& object) {
    return object.name.empty() || in_images.contains(object.dynamic);
  });
  std::vector<std::uint64_t> starts;
  for (const LinkedObject& object : moved) starts.push_back(object.bias);
  return starts.empty() ? images : find(starts);
}

/// A known image keeps its module.
void LiveSpace::add_module(const elf::MappedImage& image, std::uint64_t entry,
                           std::span<const LinkedObject> moved) {
  std::string key;
  for (const elf::Mapping& part : image.mappings)
    if (part.moved)
      key += hex(part.start) + '-' + hex(part.end);
    else
      key += mapping_at(part.start)->line;
  std::unique_ptr<Known>& known = known_[key];
  if (!known) {
    auto added = std::make_unique<Known>(*this);
    added->module = &modules_.emplace_back(describe(image, entry, moved), abi_, files_, *added);
    known = std::move(added);
  }
  for (const elf::Mapping& part : image.mappings) {
    Mapping& mapping = *last_not_above(mappings_, part.start, &Mapping::start);
    mapping.module = known->module;
    mapping.known = known.get();
  }
}

modules::ModuleInfo LiveSpace::describe(const elf::MappedImage& image, std::uint64_t entry,
                                        std::span<const LinkedObject> moved) const {
  modules::ModuleInfo info;
  info.start = image.mappings.front().start;
  info.end = image.mappings.back().end;
  for (const elf::Mapping& part : image.mappings)
    info.mappings.push_back({part.start, part.end, part.file_offset, part.moved});
  info.bias = image.bias;
  info.main = info.contains(entry);
  if (info.main) info.entry = entry;
  const elf::Mapping& first = image.mappings.front();
  info.header_address = image.header_address;
  if (info.header_address == 0 && !first.moved && first.file_offset == 0) info.header_address = first.start;
  const auto library = std::ranges::find(moved, image.header_address, &LinkedObject::bias);
  if (image.file == 0 && library != moved.end()) {
    info.path = library->name; // what leads there is verified by the build ID
    if (!info.path.starts_with('/') && info.path.contains('/')) {
      std::error_code error; // then the path stays relative, and is refused
      const std::string directory = live::proc_path(through_, "cwd");
      info.path = (std::filesystem::read_symlink(directory, error) / info.path).lexically_normal().native();
    }
  } else if (image.file == 0) {
    find_program(info);
  } else {
    const MapsLine& of_file =
        *mapping_at(std::ranges::find(image.mappings, image.file, &elf::Mapping::file)->start);
    info.set_path(of_file.path);
    info.vdso = of_file.is_vdso();
    if (!info.vdso && files_.sysroot.empty()) info.file = find_file(of_file, info.path);
  }
  if (info.header_address != 0) {
    // The build ID of the mapped image; only a note in the first page is found.
    std::vector<std::byte> header(page_size);
    header.resize(read_process(info.header_address, header));
    if (const auto parsed = elf::Image::parse(header)) {
      info.build_id.assign(parsed->build_id().begin(), parsed->build_id().end());
      info.go_build_id.assign(parsed->go_build_id().begin(), parsed->go_build_id().end());
    }
  }
  return info;
}

/// The kernel knows the program's file, if none of its mappings is left.
void LiveSpace::find_program(modules::ModuleInfo& info) const {
  const std::string link = live::proc_path(through_, "exe");
  std::error_code error;
  info.set_path(std::filesystem::read_symlink(link, error).native());
  struct stat status {};
  if (!live::may_look_up(link) || ::stat(link.c_str(), &status) != 0 || !files_.sysroot.empty()) return;
  MapsLine file;
  file.device = status.st_dev;
  file.inode = status.st_ino;
  info.file = find_file(file, info.path);
  if (info.file.empty()) info.file = link;
}

/// A path that leads to the mapped file itself; empty if there is none, or it cannot be verified.
std::string LiveSpace::find_file(const MapsLine& mapping, const std::string& path) const {
  const auto is_it = [&](const std::string& file) {
    struct stat info {};
    return live::may_look_up(file) && ::stat(file.c_str(), &info) == 0 && info.st_ino == mapping.inode &&
           info.st_dev == mapping.device;
  };
  if (!live::may_look_up(path)) return path; // opening it fails, with the reason
  if (is_it(path)) return path;
  std::string below_root = live::proc_path(through_, "root") + path;
  if (is_it(below_root)) return below_root;
  std::string direct = live::proc_path(through_, "map_files/") + hex(mapping.start).substr(2) + '-' +
                       hex(mapping.end).substr(2);
  if (live::may_look_up(direct) && ::access(direct.c_str(), R_OK) == 0) return direct;
  return {};
}

} // namespace sframe::process
