// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files that belong to an image: its separate debug file, the alternate file that several debug files
// share, its sidecar, split debug information, sources. A file is used only if it has the image's build ID or
// the checksum that the image states.

#pragma once

#include "sframe/abi.h"
#include "sframe/files/access.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::files {

/// What companions are looked for: an image and where it is from.
struct Subject {
  const elf::Image* image = nullptr;   ///< of the file; nullptr: there is no file
  std::span<const std::byte> build_id; ///< in the process, else in the file; may be empty
  const AbiTraits* abi = nullptr;      ///< of the process
  Origin origin;
};

/// The debug file of a file's image, as find_debug_file() finds it in the folders of the options. The image
/// was opened at origin.path.
std::optional<OpenedFile> find_debug_file(const FileAccess& access, const elf::Image& image,
                                          const Origin& origin, std::vector<Rejected>* rejected);

/// The debug file from the server, with this build ID and ABI; its image is known. A file that is another one
/// is added to `rejected`.
std::optional<OpenedFile> fetch_debug_file(const FileAccess& access, std::span<const std::byte> build_id,
                                           const AbiTraits* abi, std::vector<Rejected>* rejected);

/// The separate debug file: by the build ID and the debug link of the file, if there is one, else by the
/// build ID in the process; then from the server.
FoundDebug find_debug_image(const FileAccess& access, const Subject& subject);

/// The file that the debug file `debug` refers to (AlternateLink), with the build ID that it states: found as
/// it is named, in a copy of the debug folders, by its build ID, or on the server. nullptr if there is none.
std::shared_ptr<SharedImage> find_alternate(const FileAccess& access, const SharedImage& debug,
                                            const Origin& origin);

/// The sidecar in FileOptions::sframe_dir; nothing if there is none.
FoundSidecar find_sidecar(const FileAccess& access, std::span<const std::byte> build_id,
                          const AbiTraits& abi);

/// The sidecar that is installed where debug files are, of an image from `origin` without a section of its
/// own: DIR/.build-id/xx/yyyy.sframe in the folders of FileAccess::debug_folders(), by the rules for debug
/// files. Nothing if there is none. Costs an attempt to open per folder.
FoundSidecar find_installed_sidecar(const FileAccess& access, std::span<const std::byte> build_id,
                                    const AbiTraits& abi, const Origin& origin);

/// The files called `name` (a path without folders, or below one) in the folders of `files` (empty paths are
/// none) and in the debug folders that the user named. Only those that may be opened.
std::vector<elf::File> files_beside(const FileAccess& access, const Origin& origin,
                                    std::span<const std::string> files, std::string_view name);

/// The file of an absolute path that debug information names, if all files are trusted (FileTrust::all) and
/// it may be opened. Below the sysroot, if there is one.
std::optional<elf::File> file_of_build(const FileAccess& access, const std::string& path);

} // namespace sframe::files

#pragma GCC visibility pop
