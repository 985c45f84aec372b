// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finding the file that holds an image's debug information where it was split off, as debuggers do (GDB
// manual, "Debugging Information in Separate Files"): by build ID below each debug folder, then by
// .gnu_debuglink beside the image, in its folder .debug, and at the image's path below each debug folder.
//
//   for (auto found = find_debug_file(image, path, {"/usr/lib/debug"}); ...)

#pragma once

#include "sframe/elf/file.h"
#include "sframe/elf/image.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::elf {

/// Where debug files are without further word.
inline constexpr const char* default_debug_folder = "/usr/lib/debug";

/// What .gnu_debuglink says.
struct DebugLink {
  std::string_view name; ///< of the debug file, without folders; points into the image
  std::uint32_t crc = 0; ///< CRC-32 of the whole debug file
};

/// Nothing where there is no such section, or no name without folders in it.
std::optional<DebugLink> debug_link(const Image& image);

struct DebugFile {
  File file;
  Image image; ///< a view of `file`
};

/// What was looked at and is not the image's debug file, in words, by path.
struct Rejected {
  std::string path;
  std::string why;
};

/// The debug file of `image`, which was opened at `path` (used for .gnu_debuglink only). A file found by
/// build ID must have that build ID, a file found by link that CRC. Candidates that are there but do not fit
/// go to `rejected` where it is given. `open` opens a candidate. Costs an attempt to open per candidate; the CRC reads
/// the whole file.
using OpenFile = std::function<Result<File>(const std::string& path)>;
std::optional<DebugFile> find_debug_file(const Image& image, const std::string& path,
                                         std::span<const std::string> folders,
                                         std::vector<Rejected>* rejected = nullptr,
                                         const OpenFile& open = File::open_regular);

} // namespace sframe::elf
