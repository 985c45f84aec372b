// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file's name is predictable (/tmp/perf-PID.map): what is there is not followed or written to if it is a
// link or another user's. A hard link that another user has made to a file of ours would be truncated.

#include "sframe/jit/publishers.h"

#include <cerrno>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sframe::jit {

OutputFile::OutputFile(const std::string& path)
    : descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600)) {
  struct stat status = {};
  const bool is_ours = descriptor_ >= 0 && fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode) &&
                       status.st_uid == geteuid() && status.st_nlink == 1 && ftruncate(descriptor_, 0) == 0;
  if (is_ours || descriptor_ < 0) return;
  close(descriptor_);
  descriptor_ = -1;
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool OutputFile::write(const void* bytes, std::size_t size) {
  const auto* at = static_cast<const char*>(bytes);
  while (size && descriptor_ >= 0) {
    const ssize_t written = ::write(descriptor_, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      close(descriptor_);
      descriptor_ = -1;
      break;
    }
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return descriptor_ >= 0;
}

} // namespace sframe::jit
