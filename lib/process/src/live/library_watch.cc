// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live/library_watch.h"

#include "live/proc_files.h"

#include <algorithm>

namespace sframe::process::live {

using Kind = DebugEvent::Kind;

bool LibraryWatch::refresh(std::uint32_t pid, Mapped& mapped) {
  std::string maps = read_proc(pid, "maps");
  if (maps.empty()) maps = read_proc(living_thread(pid), "maps");
  if (maps == mapped.maps) return false;
  mapped.maps = std::move(maps);
  mapped.libraries.clear();
  std::vector<MapsLine> lines = parse_maps(mapped.maps);
  for (const std::span<MapsLine> image : find_images(std::span(lines)))
    if (!image.front().is_vdso()) mapped.libraries.emplace(image.front().start, image.front().path);
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
