// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes an output file atomically: the bytes go to a new file in the target's folder, which is synced and
// then renamed to the target. The new file is removed on failure, and if SIGINT, SIGTERM or SIGHUP ends the
// program. Links are treated as by cp: a symbolic link is followed, and a target with hard links keeps them.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/edit/edit.h"
#include "sframe/elf/file.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sframe::tool {

/// Writes `bytes` to the file `path`; "-" is standard output, and a path that leads to an open descriptor
/// of this process (/dev/stdout, /dev/fd/3) is that one, at its position. The permission bits are `mode`, or
/// without it those of the replaced file, or 0666 less the umask.
///
/// The previous file at `path` stays until the new one is complete, and is kept on failure; a full disk and a
/// file size limit are ordinary failures. A target without write permission is refused, even if its folder
/// would allow replacing it. A target that is not a regular file (/dev/null, a pipe) is written directly. A
/// target that another process is writing is refused; for reading before writing, see output_lock.h.
///
/// A target with hard links is overwritten in place from the complete temporary file, after room for it has
/// been reserved. If that fails half-way, the temporary file is kept and the Problem names it. It also stays
/// on disk after a power failure.
Result<void> write_file(const std::string& path, std::span<const std::byte> bytes,
                        std::optional<std::uint32_t> mode = {});
Result<void> write_file(const std::string& path, std::string_view text,
                        std::optional<std::uint32_t> mode = {});

/// Why write_file() could not begin now, for programs that have nothing to write for a long time. Changes
/// nothing; devices and pipes are not opened.
Result<void> check_target(const std::string& path);

/// Applies `edit` to `original` and writes the result to `path` in the same way; `path` may be the
/// original's. The new file gets the original's permission bits, extended attributes and owner, as far as
/// permitted; without the owner it loses setuid, without the group setgid. Timestamps are not preserved.
///
/// The kernel copies unchanged parts if it can: they are shared on file systems that support it, and holes
/// stay holes. This costs as much as cp, and no memory.
enum class HardLinks : std::uint8_t {
  keep, ///< overwrite the file, so that all its names show the new content
  part, ///< replace the file: its other names keep the old content
};
Result<void> write_edited(const std::string& path, const elf::File& original, const edit::Edit& edit,
                          HardLinks links = HardLinks::keep);

/// Makes `path` another name of the file `existing`. Replaces a file there, atomically.
Result<void> write_hard_link(const std::string& existing, const std::string& path);

/// Makes `path` a symbolic link with the contents of the link `original` and its owner, as far as permitted.
/// Replaces a file or link there, atomically. False if it was there already.
Result<bool> copy_symbolic_link(const std::string& original, const std::string& path);

/// Gives the folder `to` the permission bits and the owner of `from`, as far as permitted.
void copy_folder_mode(const std::string& from, const std::string& to);

/// Lets this user write into a folder of his own, which an earlier run may have made read-only.
void make_folder_writable(const std::string& folder);

/// True if both paths refer to the same existing file; "-" is not a file.
bool is_same_file(const std::string& a, const std::string& b);

/// Creates the parent folders of `path` (for sidecars below .build-id/).
Result<void> make_parent_folders(const std::string& path);

} // namespace sframe::tool
