// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One process at a time writes a file. A file that is replaced (output_file.h) is never seen half written, but
// one with several names is written into, and who reads it meanwhile to write it, too, makes it worse. The
// lock is flock(2) of the file itself, so that it holds for all of its names.

#pragma once

#include "sframe/base/problem.h"

#include <string>
#include <utility>

#include <sys/types.h>

namespace sframe::tool {

class OutputLock {
public:
  /// Locks the file at `path` for as long as the object lives: a regular file, if there is one. Take it before
  /// the file is read as an input. The Problem is that another process has it; this one may take it again, which
  /// does nothing. Nothing is locked where there is no file, where it cannot be opened, and on file systems
  /// that have no locks.
  static Result<OutputLock> take(const std::string& path);

  OutputLock() = default;
  OutputLock(OutputLock&& other) noexcept { *this = std::move(other); }
  OutputLock& operator=(OutputLock&& other) noexcept;
  ~OutputLock() { release(); }

private:
  void release();

  int fd_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

} // namespace sframe::tool
