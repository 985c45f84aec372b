// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/modules/mapping.h"

#include <algorithm>

namespace sframe::modules {

void ModuleInfo::set_path(std::string_view written) {
  constexpr std::string_view mark = " (deleted)";
  deleted = written.ends_with(mark);
  if (deleted) written.remove_suffix(mark.size());
  path = written;
}

std::optional<std::uint64_t> find_bias(const ModuleInfo& info, const elf::Image& file,
                                       Lazy<elf::BiasFinder>& finder) {
  if (info.bias) return info.bias;
  if (info.placed && info.entry) return *info.entry - file.entry();
  if (info.placed && info.assumed) return std::nullopt; // the mapping is none of the file's
  std::vector<elf::Mapping> mappings;
  for (const ModuleMapping& m : info.mappings)
    if (!m.moved) mappings.push_back({.start = m.start, .end = m.end, .file_offset = m.file_offset});
  return finder.get([&] { return elf::BiasFinder(file); }).find(mappings);
}

void Mapping::identify(const elf::Image& file) {
  info_.build_id.assign(file.build_id().begin(), file.build_id().end());
  info_.go_build_id.assign(file.go_build_id().begin(), file.go_build_id().end());
  info_.build_id_cut = false;
}

void Mapping::locate(const elf::Image& file, Lazy<elf::BiasFinder>& finder, const std::string& path) {
  if (info_.placed) {
    locate_by_segments(file, finder);
    if (info_.path.empty()) info_.path = path;
  }
  info_.bias = find_bias(info_, file, finder);
}

/// Only one address ties the file to the process, possibly only the entry point; the others follow from its
/// segments.
void Mapping::locate_by_segments(const elf::Image& file, Lazy<elf::BiasFinder>& finder) {
  const std::uint64_t bias = find_bias(info_, file, finder).value_or(0);
  info_.bias = bias;
  info_.mappings.clear();
  for (const elf::Segment& s : file.segments()) {
    const std::uint64_t into_page = s.address % smallest_page;
    if (s.type != elf::pt_load || s.file_size == 0 || s.offset < into_page) continue;
    const std::uint64_t start = s.address - into_page + bias;
    info_.mappings.push_back({start, start + into_page + s.file_size, s.offset - into_page});
  }
  std::ranges::sort(info_.mappings, {}, &ModuleMapping::start);
  // Two segments may share a page; it belongs to the first.
  std::uint64_t end = 0;
  std::erase_if(info_.mappings, [&](ModuleMapping& m) {
    const std::uint64_t start = std::max(m.start, end);
    if (start >= m.end) return true;
    m.file_offset += start - m.start;
    m.start = start;
    end = m.end;
    return false;
  });
}

const ModuleMapping* Mapping::find(Address address) const {
  const ModuleMapping* const mapping = last_not_above(info_.mappings, address.value, &ModuleMapping::start);
  return mapping && address.value < mapping->end ? mapping : nullptr;
}

} // namespace sframe::modules
