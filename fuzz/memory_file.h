// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "cost.h"

#include <cstddef>
#include <span>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace sframe::fuzz {

/// A regular file in memory, with a path that can be opened.
class MemoryFile {
public:
  explicit MemoryFile(std::span<const std::byte> bytes) : fd_(::memfd_create("input", MFD_CLOEXEC)) {
    require(fd_ >= 0 && ::write(fd_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
            "no file");
  }
  MemoryFile(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(fd_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

private:
  int fd_;
};

} // namespace sframe::fuzz
