// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "table_folder.h"

#include "file.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace sframe::bpf {

namespace {

constexpr std::size_t shortest_build_id = 2;

/// Names in the folder.
struct Place {
  std::string folder; ///< "ab", in .build-id
  std::string file;   ///< "cdef.sframe-bpf"
};

Place place_of(const Identity& identity) {
  Place place;
  for (const char byte : identity.build_id) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
    (place.folder.empty() ? place.folder : place.file) += digits;
  }
  if (identity.owner) place.file += "." + std::to_string(*identity.owner);
  place.file += ".sframe-bpf";
  return place;
}

/// .build-id/ab of the folder. Each is made if that is wanted and it is not there. -1 with errno; EPERM if
/// another user may change one of them, or has put a link there.
FileDescriptor open_folder(const std::string& path, const Place& place, bool makes) {
  FileDescriptor folder(AT_FDCWD);
  int follow = 0; // the user has named the first one
  for (const std::string& name : {path, std::string(".build-id"), place.folder}) {
    if (makes && ::mkdirat(folder.number(), name.c_str(), 0755) != 0 && errno != EEXIST)
      return FileDescriptor(-1);
    FileDescriptor next(::openat(folder.number(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | follow));
    if (next.number() < 0) return next;
    if (owner_of_changes(next.number())) {
      errno = EPERM;
      return FileDescriptor(-1);
    }
    folder = std::move(next);
    follow = O_NOFOLLOW;
  }
  return folder;
}

/// False with errno.
bool write_all(int file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(file, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(size));
  }
  return true;
}

/// Under a name of this process's own first, which is then renamed. False with errno.
bool write_file(int folder, const std::string& name, std::span<const std::byte> bytes) {
  const std::string temporary = "." + name + "." + std::to_string(::getpid());
  ::unlinkat(folder, temporary.c_str(), 0); // of a process that was killed
  const FileDescriptor file(
      ::openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (file.number() < 0) return false;
  if (write_all(file.number(), bytes) && ::renameat(folder, temporary.c_str(), folder, name.c_str()) == 0)
    return true;
  const int error = errno;
  ::unlinkat(folder, temporary.c_str(), 0);
  errno = error;
  return false;
}

} // namespace

std::vector<std::byte> TableFolder::read(const Identity& identity) const {
  if (path_.empty() || identity.build_id.size() < shortest_build_id) return {};
  const Place place = place_of(identity);
  const FileDescriptor folder = open_folder(path_, place, false);
  const FileDescriptor file(folder.number() < 0
                                ? -1
                                : ::openat(folder.number(), place.file.c_str(),
                                           O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
  struct stat now {};
  if (file.number() < 0 || ::fstat(file.number(), &now) != 0 || !S_ISREG(now.st_mode) ||
      owner_of_changes(file.number())) {
    const std::string path = path_ + "/.build-id/" + place.folder + "/" + place.file;
    if (::access(path.c_str(), F_OK) == 0) ++counts_.untrusted; // there is one
    return {};
  }
  return read_all(file.number());
}

void TableFolder::keep(const Identity& identity, std::span<const std::byte> table) const {
  if (!keeps_ || path_.empty() || identity.build_id.size() < shortest_build_id) return;
  const Place place = place_of(identity);
  const FileDescriptor folder = open_folder(path_, place, true);
  if (folder.number() >= 0 && write_file(folder.number(), place.file, table)) {
    ++counts_.kept;
  } else {
    counts_.keep_error = static_cast<std::uint64_t>(errno);
    ++counts_.not_kept;
  }
}

} // namespace sframe::bpf
