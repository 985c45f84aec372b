// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// File descriptors, and operations for writing files. All functions return 0 or the errno of the
// failure.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace sframe::tool {

/// A descriptor that closes itself. Negative: none.
class Descriptor {
public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      (void)close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Descriptor() { (void)close(); }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  /// The caller must close it.
  int release() { return std::exchange(fd_, -1); }

  /// Closes now, to detect deferred write errors.
  int close();

private:
  int fd_;
};

/// Opens those of standard input, output and error that are closed, so that no file gets their numbers and is
/// mistaken for them. Reading and writing there still fail.
void open_standard_descriptors();

/// Writes at the current position.
int write_all(int fd, std::span<const std::byte> bytes);

/// Writes at `offset`.
int write_at(int fd, std::span<const std::byte> bytes, std::uint64_t offset);

/// Copies `bytes`, which `from` has at `source`, to `to` at `offset`, where `to` has no data yet. They are
/// written if the kernel cannot copy between the files, or if `from` is not a file. Holes stay holes.
int copy_range(int from, std::uint64_t source, std::span<const std::byte> bytes, int to,
               std::uint64_t offset);

/// Writes the first `size` bytes of `from` over those of `to`, holes as zeros, and truncates `to` there.
int copy_over(int from, int to, std::uint64_t size);

/// Owner, mode and extended attributes of a file. Writing to the file clears some of them.
struct Attributes {
  struct Extended {
    std::string name;
    std::vector<char> value;
  };
  struct stat status {};
  std::vector<Extended> extended;
};
std::optional<Attributes> attributes_of(int fd);

/// Applies them to `to`, as far as permitted.
int copy_attributes(const Attributes& attributes, int to);

} // namespace sframe::tool
