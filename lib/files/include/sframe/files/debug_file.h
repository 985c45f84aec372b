// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the separate file with an image's debug information as debuggers do (GDB manual, "Debugging
// Information in Separate Files"): by build ID below each debug folder, then by .gnu_debuglink in the image's
// folder, in its subfolder .debug, and at the image's path below each debug folder.
//
//   for (auto found = find_debug_file(image, path, folders, Limits::standard); ...)

#pragma once

#include "sframe/base/budget.h"
#include "sframe/elf/file.h"
#include "sframe/elf/image.h"
#include "sframe/files/opened_file.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::files {

/// Default debug-file directory.
inline constexpr const char* default_debug_folder = "/usr/lib/debug";

/// The contents of .gnu_debuglink.
struct DebugLink {
  std::string_view name; ///< of the debug file, without folders; points into the image
  std::uint32_t crc = 0; ///< CRC-32 of the whole debug file
};

/// Nothing if there is no such section, or its name is empty or has folders.
std::optional<DebugLink> debug_link(const elf::Image& image);

/// The file with what several debug files share: an alternate one of dwz (.gnu_debugaltlink), or a
/// supplementary one of DWARF 5 (.debug_sup, DWARF 5 section 7.3.6).
struct AlternateLink {
  std::string name; ///< a path, relative to the debug file's folder unless it is absolute
  std::vector<std::byte> build_id;
};

/// Nothing if there is no such section, or it has no name or no build ID.
std::optional<AlternateLink> alternate_link(const elf::Image& image);

/// True if the file has the link's build ID, as its own or, for a supplementary file of DWARF 5, in
/// .debug_sup.
bool is_linked(const AlternateLink& link, const elf::Image& file);

/// A candidate that is not the image's debug file, and the reason.
struct Rejected {
  std::string path;
  std::string why;
};

/// Bytes of candidates whose CRC find_debug_file() computes: half a second's work. With limits, 64 MiB and 64
/// times the image's size, if that is less.
inline constexpr std::uint64_t max_checksummed = std::uint64_t(512) << 20;

/// The debug file of `image`, which was opened at `path` (used for .gnu_debuglink only). A file found by
/// build ID must have that build ID. A file found by link must have that CRC, and no other build ID than the
/// image; once candidates have more bytes together than are summed, the build ID decides alone.
/// What is read of a candidate has these limits. Those that exist but do not match are added to `rejected`,
/// if given. `open` opens a candidate. The image of the result is known. Costs an attempt to open per
/// candidate; the CRC reads the whole file.
using OpenFile = std::function<Result<elf::File>(const std::string& path)>;
std::optional<OpenedFile> find_debug_file(const elf::Image& image, const std::string& path,
                                          std::span<const std::string> folders, Limits limits,
                                          std::vector<Rejected>* rejected = nullptr,
                                          const OpenFile& open = elf::File::open_found);

} // namespace sframe::files

#pragma GCC visibility pop
