// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: file descriptors, and what is done with them when a file is written. All functions give 0 or the
// errno of what failed.

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
  /// The caller closes it.
  int release() { return std::exchange(fd_, -1); }

  /// Closes now, to learn of writes that failed late.
  int close();

private:
  int fd_;
};

/// Opens what is closed of standard input, output and error, so that no file gets one of their numbers:
/// it would be taken for them. Reading there is an error as before, and so is writing.
void open_standard_descriptors();

/// Writes at the current position.
int write_all(int fd, std::span<const std::byte> bytes);

/// Writes at `offset`.
int write_at(int fd, std::span<const std::byte> bytes, std::uint64_t offset);

/// Gives `to` at `offset`, where it has no bytes yet, the bytes that `from` has at `source`. `bytes` are those:
/// they are written where the kernel cannot copy from file to file, and where `from` is none. Holes stay holes.
int copy_range(int from, std::uint64_t source, std::span<const std::byte> bytes, int to, std::uint64_t offset);

/// Writes the first `size` bytes of `from` over those of `to`, holes as zeros, and cuts `to` there.
int copy_over(int from, int to, std::uint64_t size);

/// Owner, mode and extended attributes of a file. Writing clears some of them.
struct Attributes {
  struct Extended {
    std::string name;
    std::vector<char> value;
  };
  struct stat status {};
  std::vector<Extended> extended;
};
std::optional<Attributes> attributes_of(int fd);

/// Gives them to `to`, as far as we may.
int give_attributes(const Attributes& attributes, int to);

} // namespace sframe::tool
