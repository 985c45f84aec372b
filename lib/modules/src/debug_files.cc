// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/modules/debug_files.h"

namespace sframe::modules {

files::SharedImage* DebugFiles::separate() {
  return separate_.get([&] { return find_separate(); });
}

files::SharedImage* DebugFiles::find_separate() {
  files::SharedImage& own = file_.use();
  if (file_.is_generated() || !file_.access().options().open_files) return nullptr;
  const files::FoundDebug& found = own.debug.get([&] {
    const files::Subject subject{.image = own.file() ? own.image() : nullptr,
                                 .build_id = file_.build_id(),
                                 .abi = &file_.abi(),
                                 .origin = file_.origin()};
    return files::find_debug_image(file_.access(), subject);
  });
  file_.add_problem(found.problem);
  const elf::Image* const image = found.image ? found.image->image() : nullptr;
  return image && image->abi() == &file_.abi() ? found.image.get() : nullptr;
}

std::string DebugFiles::path() {
  files::SharedImage* const found = separate();
  return found && found->file() ? found->file()->path() : std::string();
}

files::SharedImage* DebugFiles::with_entries() {
  return with_entries_.get([&]() -> files::SharedImage* {
    const auto has_entries = [](const elf::Image* image) {
      return image && image->find_section(".debug_info");
    };
    files::SharedImage& own = file_.use();
    if (has_entries(file_.with_sections(own))) return &own;
    files::SharedImage* const other = separate();
    return other && has_entries(other->image()) ? other : nullptr;
  });
}

const elf::Image* DebugFiles::image() {
  files::SharedImage* const found = with_entries();
  return found ? found->image() : nullptr;
}

std::uint64_t DebugFiles::image_number() {
  files::SharedImage* const found = with_entries();
  return found ? found->number() : 0;
}

const elf::Image* DebugFiles::alternate_image() {
  files::SharedImage* const debug = with_entries();
  if (!debug) return nullptr;
  const auto& found =
      debug->alternate.get([&] { return files::find_alternate(file_.access(), *debug, file_.origin()); });
  return found ? found->image() : nullptr;
}

std::vector<elf::File> DebugFiles::beside(std::string_view name) {
  const files::Origin origin = file_.origin();
  const std::string files[] = {origin.path, path()};
  return files::files_beside(file_.access(), origin, files, name);
}

std::optional<elf::File> DebugFiles::of_build(const std::string& path) {
  return files::file_of_build(file_.access(), path);
}

} // namespace sframe::modules
