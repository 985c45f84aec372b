// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copying keeps holes and lets the kernel do the work where it can (copy_file_range(2), which file systems
// may implement by sharing blocks); what it cannot copy is written from the mapped file. Interrupted calls
// are repeated.

#include "sframe/tool/descriptor.h"

#include "sframe/base/retry.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <vector>

namespace sframe::tool {

namespace {

/// Bytes [begin, end) that are data in a file, not a hole.
struct Extent {
  std::uint64_t begin, end;
};

/// The next data at or after `at`; empty at the end. A file system without holes gives one extent.
Extent next_extent(int fd, std::uint64_t at, std::uint64_t end) {
  if (fd < 0 || at >= end) return {at, end};
  const off_t data = ::lseek(fd, static_cast<off_t>(at), SEEK_DATA);
  if (data < 0) return errno == ENXIO ? Extent{end, end} : Extent{at, end};
  const off_t hole = ::lseek(fd, data, SEEK_HOLE);
  const auto begin = std::min(static_cast<std::uint64_t>(data), end);
  return {begin, hole < 0 ? end : std::min(static_cast<std::uint64_t>(hole), end)};
}

/// Copies as much of [begin, end) as the kernel can copy between the files, to `offset`. Returns the number
/// of bytes.
std::uint64_t copy_in_kernel(int from, int to, Extent extent, std::uint64_t offset) {
  off_t in = static_cast<off_t>(extent.begin), out = static_cast<off_t>(offset);
  const auto end = static_cast<off_t>(extent.end);
  while (from >= 0 && in < end) {
    const ssize_t done = ::copy_file_range(from, &in, to, &out, static_cast<std::size_t>(end - in), 0);
    if (done == 0 || (done < 0 && errno != EINTR)) break;
  }
  return static_cast<std::uint64_t>(in) - extent.begin;
}

/// The excluded attributes sign the file's old contents, or need privileges.
bool is_copied(std::string_view attribute) {
  return attribute != "security.ima" && attribute != "security.evm";
}

std::vector<Attributes::Extended> extended_attributes(int fd) {
  std::vector<Attributes::Extended> all;
  const ssize_t size = ::flistxattr(fd, nullptr, 0);
  if (size <= 0) return all;
  std::vector<char> names(static_cast<std::size_t>(size));
  const ssize_t listed = ::flistxattr(fd, names.data(), names.size());
  if (listed <= 0) return all;
  for (const char* name = names.data(); name < names.data() + listed; name += std::strlen(name) + 1) {
    const ssize_t length = is_copied(name) ? ::fgetxattr(fd, name, nullptr, 0) : -1;
    if (length < 0) continue;
    std::vector<char> value(static_cast<std::size_t>(length));
    if (::fgetxattr(fd, name, value.data(), value.size()) == length) all.push_back({name, std::move(value)});
  }
  return all;
}

} // namespace

int Descriptor::close() {
  const int fd = std::exchange(fd_, -1);
  // If interrupted, the descriptor is closed nevertheless.
  return fd >= 0 && ::close(fd) != 0 && errno != EINTR ? errno : 0;
}

void open_standard_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // Gets the lowest free number. Opened for the opposite direction, so that use fails.
    (void)!::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

int write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done > 0)
      bytes = bytes.subspan(static_cast<std::size_t>(done));
    else if (done == 0)
      return EIO;
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

int write_at(int fd, std::span<const std::byte> bytes, std::uint64_t offset) {
  if (::lseek(fd, static_cast<off_t>(offset), SEEK_SET) < 0) return errno;
  return write_all(fd, bytes);
}

int copy_range(int from, std::uint64_t source, std::span<const std::byte> bytes, int to,
               std::uint64_t offset) {
  const std::uint64_t end = source + bytes.size();
  for (Extent extent{source, source}; extent.end < end;) {
    extent = next_extent(from, extent.end, end);
    const std::uint64_t target = offset + (extent.begin - source);
    const std::uint64_t copied = copy_in_kernel(from, to, extent, target);
    const auto rest = bytes.subspan(extent.begin - source, extent.end - extent.begin).subspan(copied);
    if (const int error = write_at(to, rest, target + copied)) return error;
  }
  return 0;
}

int copy_over(int from, int to, std::uint64_t size) {
  std::vector<std::byte> buffer(std::size_t(1) << 20);
  for (std::uint64_t at = 0; at < size;) {
    const ssize_t got = retry([&] {
      return ::pread(from, buffer.data(), std::min<std::uint64_t>(buffer.size(), size - at),
                     static_cast<off_t>(at));
    });
    if (got <= 0) return got < 0 ? errno : EIO;
    for (std::size_t done = 0; done < static_cast<std::size_t>(got);) {
      const ssize_t put = retry([&] {
        return ::pwrite(to, buffer.data() + done, static_cast<std::size_t>(got) - done,
                        static_cast<off_t>(at + done));
      });
      if (put <= 0) return put < 0 ? errno : EIO;
      done += static_cast<std::size_t>(put);
    }
    at += static_cast<std::uint64_t>(got);
  }
  return retry([&] { return ::ftruncate(to, static_cast<off_t>(size)); }) == 0 ? 0 : errno;
}

std::optional<Attributes> attributes_of(int fd) {
  Attributes attributes;
  if (::fstat(fd, &attributes.status) != 0) return std::nullopt;
  attributes.extended = extended_attributes(fd);
  return attributes;
}

int copy_attributes(const Attributes& attributes, int to) {
  const struct stat& wanted = attributes.status;
  struct stat has {};
  // A user who may not change the owner may still be able to change the group. Both clear setuid bits and
  // capabilities.
  if (::fchown(to, wanted.st_uid, wanted.st_gid) != 0)
    (void)!::fchown(to, static_cast<uid_t>(-1), wanted.st_gid);
  if (::fstat(to, &has) != 0) return errno;
  mode_t mode = wanted.st_mode & 07777;
  if (has.st_uid != wanted.st_uid) mode &= ~static_cast<mode_t>(S_ISUID);
  if (has.st_gid != wanted.st_gid) mode &= ~static_cast<mode_t>(S_ISGID);
  for (const auto& [name, value] : attributes.extended)
    (void)::fsetxattr(to, name.c_str(), value.data(), value.size(), 0); // as far as permitted
  return ::fchmod(to, mode) == 0 ? 0 : errno;
}

} // namespace sframe::tool
