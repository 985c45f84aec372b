// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// File systems that wait for another machine or a program: NFS, FUSE and others. A look-up in one that has no
// connection may wait for ever, and a process that waits there may not even be killed. So a path is followed
// up to the mount of such a file system, by the list of mounts (/proc/PID/mountinfo), before anything in it
// is looked up.

#pragma once

#include "sframe/elf/file.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace sframe::elf {

/// Looks a path up in another process, which may wait.
class FileSystemProbe {
public:
  virtual ~FileSystemProbe() = default;
  /// True if the look-up of `path` ends within a time limit, whatever its result. Called by one thread at a
  /// time.
  virtual bool answers(const std::string& path) = 0;
};

/// For all files that are opened from now on; without one, look-ups wait. Thread-safe.
void set_file_system_probe(std::shared_ptr<FileSystemProbe> probe);

/// True if one of the file systems that a process sees may have to wait. 0: this process, whose list of
/// mounts is read at the first call of this or find_obstacle().
bool has_network_file_systems(std::uint32_t pid = 0);

/// Why `path` must not be looked up, or nothing: it leads into such a file system, and `allowed.network` is
/// false or the file system does not answer. A file system that has not answered is not asked again. The one
/// of "/" is always allowed. Links are followed; looks nothing up in a file system that does not answer.
/// Thread-safe. Costs a system call for each component if there are such file systems.
std::optional<std::string> find_obstacle(const std::string& path, const File::AllowedFiles& allowed);

} // namespace sframe::elf

#pragma GCC visibility pop
