// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing an output file whole or not at all: the bytes go to a temporary file beside the target, which then
// takes the target's name.

#pragma once

#include "sframe/elf/problem.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sframe::tool {

/// Writes `bytes` as the file `path`; "-" is standard output. The permission bits are `mode`, or without it those
/// of the file that is replaced, or what the umask leaves of 0666. What was at
/// `path` before stays until the new file is complete, and stays for good on failure. A target that is no
/// regular file (/dev/null, a pipe) is written directly; a symbolic link is followed.
elf::Result<void> write_file(const std::string& path, std::span<const std::byte> bytes,
                             std::optional<std::uint32_t> mode = {});
elf::Result<void> write_file(const std::string& path, std::string_view text,
                             std::optional<std::uint32_t> mode = {});

/// True where both paths lead to one file that exists; "-" is no file.
bool is_same_file(const std::string& a, const std::string& b);

/// Makes the folders above `path` (for sidecars below .build-id/).
elf::Result<void> make_parent_folders(const std::string& path);

} // namespace sframe::tool
