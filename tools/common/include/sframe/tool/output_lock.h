// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets only one process at a time write a file. A file that is replaced (output_file.h) is never seen half
// written. One with hard links is overwritten in place; a process that reads it meanwhile, in order to write
// it too, would corrupt it. The lock is flock(2) on the file itself, so it covers all hard links.

#pragma once

#include "sframe/base/problem.h"

#include <memory>
#include <string>

namespace sframe::tool {

class OutputLock {
public:
  /// Locks the regular file at `path`, if there is one, for the lifetime of the object. Take it before the
  /// file is read as an input. Fails if another process holds the lock; taking it again in this process does
  /// nothing. Locks nothing if there is no file, if it cannot be opened, and on file systems without locks.
  static Result<OutputLock> take(const std::string& path);

private:
  std::shared_ptr<void> held_; ///< releases it
};

} // namespace sframe::tool
