// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live/proc_files.h"
#include "sframe/walk/live_process.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace sframe::walk {

namespace {

constexpr std::uint64_t page_size = 4096; ///< of what is read at once; the kernel's may be larger
constexpr std::uint64_t largest_image = std::uint64_t{1} << 28;
constexpr std::string_view deleted_mark = " (deleted)";

std::uint64_t auxv_value(std::uint32_t pid, std::uint64_t type) {
  const std::string auxv = live::read_proc(pid, "auxv");
  std::array<std::uint64_t, 2> entry;
  for (std::size_t at = 0; at + sizeof entry <= auxv.size(); at += sizeof entry) {
    std::memcpy(&entry, auxv.data() + at, sizeof entry);
    if (entry[0] == type) return entry[1];
  }
  return 0;
}

} // namespace

struct LiveSpace::Mapping : live::MapsLine {
  std::string_view line;
  Module* module = nullptr;
};

struct LiveSpace::Page {
  std::array<std::byte, page_size> bytes;
  std::size_t size = 0; ///< that could be read
};

LiveSpace::LiveSpace(std::uint32_t pid, const AbiTraits& abi, FileOptions files)
    : pid_(pid), abi_(abi), files_(std::move(files)), generated_(*this, files_, *this, modules_) {}

LiveSpace::~LiveSpace() = default;

std::size_t LiveSpace::read_process(std::uint64_t address, std::span<std::byte> out) const {
  iovec here{out.data(), out.size()};
  iovec there{reinterpret_cast<void*>(address), out.size()};
  ssize_t got = ::process_vm_readv(static_cast<pid_t>(pid_), &here, 1, &there, 1, 0);
  if (got <= 0 && address <= static_cast<std::uint64_t>(INT64_MAX)) {
    // Where the system call is forbidden, and for mappings that it does not reach.
    const int fd = ::open(live::proc_path(pid_, "mem").c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0) got = ::pread(fd, out.data(), out.size(), static_cast<off_t>(address));
    if (fd >= 0) ::close(fd);
  }
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

std::span<const std::byte> LiveSpace::view(std::uint64_t address) {
  const std::uint64_t into = address % page_size;
  const auto [at, added] = pages_.try_emplace(address - into);
  if (added) {
    at->second = std::make_unique<Page>();
    if (mapping_at(address)) at->second->size = read_process(address - into, at->second->bytes);
  }
  const Page& page = *at->second;
  return into < page.size ? std::span(page.bytes).first(page.size).subspan(into) : std::span<std::byte>{};
}

void LiveSpace::forget() {
  pages_.clear();
}

std::span<const std::byte> LiveSpace::memory_at(std::uint64_t address) {
  const Mapping* mapping = mapping_at(address);
  if (!mapping || mapping->writable || !mapping->module) return {};
  const auto [at, added] = images_.try_emplace(mapping->start);
  std::vector<std::byte>& image = at->second;
  if (added) {
    image.resize(std::min(mapping->end - mapping->start, largest_image));
    image.resize(read_process(mapping->start, image));
  }
  const std::uint64_t into = address - mapping->start;
  return into < image.size() ? std::span<const std::byte>(image).subspan(into) : std::span<const std::byte>{};
}

const LiveSpace::Mapping* LiveSpace::mapping_at(std::uint64_t address) const {
  const auto after = std::ranges::upper_bound(mappings_, address, {}, &Mapping::start);
  if (after == mappings_.begin()) return nullptr;
  const Mapping& found = *std::prev(after);
  return address < found.end ? &found : nullptr;
}

bool LiveSpace::is_code(std::uint64_t address) {
  const Mapping* mapping = mapping_at(address);
  return mapping && mapping->executable;
}

Module* LiveSpace::module_at(std::uint64_t address) {
  const Mapping* mapping = mapping_at(address);
  Module* mapped = mapping ? mapping->module : nullptr;
  if (!mapping || !mapping->executable || (mapped && mapped->is_image())) return mapped;
  Module* generated = generated_.module_at(address);
  return generated ? generated : mapped;
}

void LiveSpace::set_code_pac_mask(std::uint64_t mask) {
  if (!abi_.signs_return_addresses) return;
  // Without the kernel's word: all bits that no mapping needs. 39 is the least that AArch64 Linux has.
  const std::uint64_t highest = mappings_.empty() ? 0 : mappings_.back().end;
  const int bits = std::max(39, static_cast<int>(std::bit_width(highest)));
  code_mask_ = mask ? ~mask : (std::uint64_t{1} << std::min(bits, 63)) - 1;
}

elf::Result<bool> LiveSpace::refresh() {
  std::string text = live::read_proc(pid_, "maps");
  if (text.empty()) return elf::fail("has ended");
  if (text == maps_) return false;
  maps_ = std::move(text);
  mappings_.clear();
  images_.clear();
  for (std::string_view rest = maps_; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (const auto parsed = live::parse_maps_line(line)) mappings_.push_back({*parsed, line});
  }
  // An image's mappings are those of one file in a row, with rising offsets; anonymous ones (.bss, gaps)
  // between them do not matter.
  std::vector<Mapping>::iterator first = mappings_.begin();
  while (first != mappings_.end()) {
    auto last = first, next = first + 1;
    for (; next != mappings_.end(); ++next) {
      if (next->inode == 0 && next->path.empty()) continue;
      if (next->inode != first->inode || next->device != first->device || next->offset <= last->offset) break;
      last = next;
    }
    const auto behind = last + 1;
    if (first->inode || first->path == "[vdso]") add_module({first, behind});
    first = behind;
  }
  const Mapping* at_entry = mapping_at(auxv_value(pid_, 9 /* AT_ENTRY */));
  main_ = at_entry ? at_entry->module : nullptr;
  return true;
}

/// What has code is a module. One that was there before stays the same object.
void LiveSpace::add_module(std::span<Mapping> mappings) {
  if (std::ranges::none_of(mappings, &Mapping::executable)) return;
  std::string key;
  for (const Mapping& mapping : mappings) key += mapping.line;
  Module*& module = known_[key];
  if (!module) module = &modules_.emplace_back(describe(mappings), abi_, files_, *this);
  for (Mapping& mapping : mappings)
    if (mapping.inode || mapping.path == "[vdso]") mapping.module = module;
}

ModuleInfo LiveSpace::describe(std::span<const Mapping> mappings) const {
  ModuleInfo info;
  const Mapping& first = mappings.front();
  std::string_view path = first.path;
  info.deleted = path.ends_with(deleted_mark);
  if (info.deleted) path.remove_suffix(deleted_mark.size());
  info.path = path;
  info.vdso = first.inode == 0;
  info.start = first.start;
  info.end = mappings.back().end;
  const std::uint64_t entry = auxv_value(pid_, 9 /* AT_ENTRY */);
  info.main = entry >= info.start && entry < info.end;
  if (info.main) info.entry = entry;
  for (const Mapping& m : mappings)
    if (m.inode || info.vdso) info.mappings.push_back({m.start, m.end, m.offset});
  if (first.offset == 0) info.header_address = first.start;
  if (!info.vdso && files_.sysroot.empty()) info.file = find_file(first, info.path);
  if (first.offset == 0) {
    // The build ID of what is mapped; the note is in the first page, or is not looked for.
    std::vector<std::byte> header(page_size);
    header.resize(read_process(first.start, header));
    if (const auto image = elf::Image::parse(header))
      info.build_id.assign(image->build_id().begin(), image->build_id().end());
  }
  return info;
}

/// The mapped file itself, by whichever way leads there; empty where none does, or where that cannot be told.
std::string LiveSpace::find_file(const Mapping& mapping, const std::string& path) const {
  const auto is_it = [&](const std::string& file) {
    struct stat info {};
    return ::stat(file.c_str(), &info) == 0 && info.st_ino == mapping.inode && info.st_dev == mapping.device;
  };
  if (is_it(path)) return path;
  const std::string below_root = live::proc_path(pid_, "root") + path;
  if (is_it(below_root)) return below_root;
  const std::string direct = live::proc_path(pid_, "map_files/") + elf::hex(mapping.start).substr(2) + '-' +
                             elf::hex(mapping.end).substr(2);
  if (::access(direct.c_str(), R_OK) == 0) return direct;
  return {};
}

} // namespace sframe::walk
