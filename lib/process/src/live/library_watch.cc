// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live/library_watch.h"

#include "live/proc_files.h"

#include "sframe/elf/tagged_values.h"

#include <algorithm>

namespace sframe::process::live {

using Kind = DebugEvent::Kind;

bool LibraryWatch::refresh(std::uint32_t pid, Mapped& mapped) {
  std::string maps = read_proc(pid, "maps");
  if (maps.empty()) maps = read_proc(living_thread(pid), "maps");
  if (maps == mapped.maps) return false;
  mapped.maps = std::move(maps);
  mapped.libraries.clear();
  const std::uint64_t program_headers = auxiliary_value(read_proc(pid, "auxv"), elf::at_phdr).value_or(0);
  for (const elf::MappedImage& image :
       find_images(living_thread(pid), parse_maps(mapped.maps), host_order, program_headers))
    if (const auto file = std::ranges::find(image.mappings, image.file, &elf::Mapping::file);
        image.file != 0 && file->path != "[vdso]")
      mapped.libraries.emplace(image.mappings.front().start, file->path);
  return true;
}

void LibraryWatch::add(std::uint32_t pid) {
  const std::lock_guard lock(mutex_);
  refresh(pid, processes_[pid]);
}

void LibraryWatch::remove(std::uint32_t pid) {
  const std::lock_guard lock(mutex_);
  processes_.erase(pid);
}

void LibraryWatch::compare(std::vector<DebugEvent>& events) {
  const std::lock_guard lock(mutex_);
  for (auto& [pid, mapped] : processes_) {
    const Libraries before = mapped.libraries;
    if (!refresh(pid, mapped) || mapped.maps.empty()) continue; // unchanged, or the process has just ended
    const auto report = [&](Kind kind, const Libraries& of, const Libraries& but) {
      for (const auto& library : of)
        if (!but.contains(library))
          events.push_back({.kind = kind, .pid = pid, .address = library.first, .path = library.second});
    };
    report(Kind::library_unloaded, before, mapped.libraries);
    report(Kind::library_loaded, mapped.libraries, before);
  }
}

} // namespace sframe::process::live
