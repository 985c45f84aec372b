// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The source file that debug information names: in folders of the user, at its own path if all files are
// trusted, or from a server.

#pragma once

#include "sframe/files/access.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#pragma GCC visibility push(default)

namespace sframe::files {

/// Larger files are not opened.
inline constexpr std::uint64_t largest_source = std::uint64_t{8} << 20; ///< bytes

/// `path`: as the compiler had it. In a folder, the file with the most of the path's last components is used.
/// A server is asked for absolute paths only, and needs the build ID of the program.
std::optional<elf::File> find_source(const FileAccess& access, std::span<const std::string> folders,
                                     std::span<const std::byte> build_id, const std::string& path);

} // namespace sframe::files

#pragma GCC visibility pop
