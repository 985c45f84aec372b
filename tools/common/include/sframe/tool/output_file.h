// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing an output file so that it appears complete or not at all: the bytes go to a new file in the target's folder,
// which is synced and then takes the target's name. Nothing is left of it where that fails, nor where SIGINT, SIGTERM or
// SIGHUP ends the program. Links are treated as cp treats them: a symbolic link is followed, and a target
// with several names keeps all of them.

#pragma once

#include "sframe/elf/edit.h"
#include "sframe/elf/file.h"
#include "sframe/base/problem.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sframe::tool {

/// Writes `bytes` as the file `path`; "-" is standard output. The permission bits are `mode`, or without it
/// those of the file that is replaced, or what the umask leaves of 0666.
///
/// What was at `path` before stays until the new file is complete, and stays for good on failure; a full disk
/// and a limit on file sizes are failures like others. A target that may not be written is refused, though
/// its folder would let us replace it. A target that is no regular file (/dev/null, a pipe) is written
/// directly. A target that another process is writing is refused; see output_lock.h for who reads it first.
///
/// A target with several names (hard links) is written into, from the complete temporary file, after room for
/// it has been reserved. Should that fail half-way, the Problem names the temporary file, which then stays;
/// so it does, on the disk, where the power fails.
Result<void> write_file(const std::string& path, std::span<const std::byte> bytes,
                             std::optional<std::uint32_t> mode = {});
Result<void> write_file(const std::string& path, std::string_view text,
                             std::optional<std::uint32_t> mode = {});

/// Writes what `edit` makes of `original` as the file `path`, in the same way; `path` may be the original's.
/// The new file gets the original's permission bits, extended attributes and owner, as far as the user may
/// give them; without the owner, no setuid bit, without the group, no setgid bit. Not the times: the file is
/// another one.
///
/// What the original keeps is copied by the kernel where that can do it, so that it is shared on file systems
/// that share, and holes stay holes: this costs what cp costs, and no memory.
Result<void> write_edited(const std::string& path, const elf::File& original, const elf::Edit& edit);

/// True where both paths lead to one file that exists; "-" is no file.
bool is_same_file(const std::string& a, const std::string& b);

/// Makes the folders above `path` (for sidecars below .build-id/).
Result<void> make_parent_folders(const std::string& path);

} // namespace sframe::tool
