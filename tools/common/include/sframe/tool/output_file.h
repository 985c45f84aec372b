// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing an output file whole or not at all: the bytes go to a temporary file beside the target, which then
// takes the target's name.

#pragma once

#include "sframe/elf/problem.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sframe::tool {

/// Writes `bytes` as the file `path` with the permission bits `mode`; "-" is standard output. What was at
/// `path` before stays until the new file is complete, and stays for good on failure. A target that is no
/// regular file (/dev/null, a pipe) is written directly; a symbolic link is followed.
elf::Result<void> write_file(const std::string& path, std::span<const std::byte> bytes,
                             std::uint32_t mode = 0644);
elf::Result<void> write_file(const std::string& path, std::string_view text, std::uint32_t mode = 0644);

/// Makes the folders above `path` (for sidecars below .build-id/).
elf::Result<void> make_parent_folders(const std::string& path);

} // namespace sframe::tool
