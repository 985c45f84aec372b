// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each folder on the way to a table is opened by its own name in the one before, never through a link, and
// its owner is checked then: what is read, written and removed is in folders that no other user can change.

#include "table_folder.h"

#include "file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <sys/random.h>
#include <sys/stat.h>
#include <tuple>
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

/// The folder in another one. It is made if that is wanted and it is not there. -1 with errno; EPERM if
/// another user may change it.
FileDescriptor open_in(int folder, const std::string& name, int flags, bool makes) {
  if (makes && ::mkdirat(folder, name.c_str(), 0755) != 0 && errno != EEXIST) return FileDescriptor(-1);
  FileDescriptor opened(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags));
  if (opened.number() < 0 || !owner_of_changes(opened.number())) return opened;
  errno = EPERM;
  return FileDescriptor(-1);
}

/// Its .build-id. The user has named the path, which may be a link; nothing below it may be one.
FileDescriptor open_build_ids(const std::string& path, bool makes) {
  const FileDescriptor top = open_in(AT_FDCWD, path, 0, makes);
  return top.number() < 0 ? FileDescriptor(-1) : open_in(top.number(), ".build-id", O_NOFOLLOW, makes);
}

/// .build-id/ab, likewise.
FileDescriptor open_folder(const std::string& path, const Place& place, bool makes) {
  const FileDescriptor all = open_build_ids(path, makes);
  return all.number() < 0 ? FileDescriptor(-1) : open_in(all.number(), place.folder, O_NOFOLLOW, makes);
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

/// Under a name that no other writer has first, which is then renamed. It is not synced: what is not whole
/// after a crash is no valid table. False with errno.
bool write_file(int folder, const std::string& name, std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) return false;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  const std::string temporary = "." + name + "." + digits;
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

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Whether write_file() makes such names: "cdef.sframe-bpf", "cdef.1000.sframe-bpf", and of a writer that was
/// killed ".cdef.sframe-bpf.0123456789abcdef".
bool is_table(std::string_view name) {
  constexpr std::string_view end = ".sframe-bpf";
  if (name.starts_with('.')) {
    const std::size_t writer = name.rfind('.');
    if (!is_hex(name.substr(writer + 1))) return false;
    name = name.substr(1, std::max<std::size_t>(writer, 1) - 1);
  }
  if (!name.ends_with(end)) return false;
  name.remove_suffix(end.size());
  const std::size_t owner = name.find('.');
  return is_hex(name.substr(0, owner)) && (owner == name.npos || is_hex(name.substr(owner + 1)));
}

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  const int own = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const list = own < 0 ? nullptr : ::fdopendir(own);
  if (!list) return names;
  while (const dirent* const entry = ::readdir(list)) names.emplace_back(entry->d_name);
  ::closedir(list);
  return names;
}

struct KeptTable {
  std::uint64_t used = 0; ///< nanoseconds since 1970
  std::uint64_t size = 0;
  std::string folder, file; ///< as in a Place
};

/// Those in folders that no other user can change, which are no links.
std::vector<KeptTable> list_tables(int build_ids) {
  std::vector<KeptTable> tables;
  for (const std::string& name : names_in(build_ids)) {
    if (name.size() != 2 || !is_hex(name)) continue;
    const FileDescriptor folder = open_in(build_ids, name, O_NOFOLLOW, false);
    if (folder.number() < 0) continue;
    for (std::string& file : names_in(folder.number())) {
      struct stat now {};
      if (!is_table(file) || ::fstatat(folder.number(), file.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 ||
          !S_ISREG(now.st_mode))
        continue;
      const auto seconds = static_cast<std::uint64_t>(std::max<std::int64_t>(now.st_mtim.tv_sec, 0));
      tables.push_back({seconds * 1'000'000'000 + static_cast<std::uint64_t>(now.st_mtim.tv_nsec),
                        static_cast<std::uint64_t>(now.st_size), name, std::move(file)});
    }
  }
  return tables;
}

struct Removal {
  std::uint64_t left = 0; ///< bytes
  std::uint64_t removed = 0;
  int error = 0; ///< errno of the last one that could not be removed
};

/// If the tables have more bytes than `most`, down to `wanted`: those that were not used for longest.
Removal remove_unused(int build_ids, std::uint64_t most, std::uint64_t wanted) {
  std::vector<KeptTable> tables = list_tables(build_ids);
  Removal done;
  for (const KeptTable& one : tables) done.left += one.size;
  if (done.left <= most) return done;
  std::ranges::sort(tables, {},
                    [](const KeptTable& one) { return std::tie(one.used, one.folder, one.file); });
  for (const KeptTable& one : tables) {
    if (done.left <= wanted) break;
    const FileDescriptor folder = open_in(build_ids, one.folder, O_NOFOLLOW, false);
    const bool is_removed = folder.number() >= 0 && ::unlinkat(folder.number(), one.file.c_str(), 0) == 0;
    if (!is_removed && errno != ENOENT) { // else another program has removed it
      done.error = errno;
      continue;
    }
    done.left -= one.size;
    done.removed += is_removed;
  }
  return done;
}

} // namespace

/// What this program has written since it looked is known; what others have written there is not. So it looks
/// again at the latest when it has written a sixteenth of the limit; so much is also made free at once.
bool TableFolder::make_room(std::uint64_t bytes) {
  if (max_bytes_ == 0) return true;
  if (bytes > max_bytes_) {
    errno = EFBIG;
    return false;
  }
  if (bytes > room_) {
    const FileDescriptor build_ids = open_build_ids(path_, true);
    if (build_ids.number() < 0) return false;
    const std::uint64_t step = max_bytes_ / 16;
    const Removal done =
        remove_unused(build_ids.number(), max_bytes_ - bytes, max_bytes_ - std::max(bytes, step));
    counts_.removed += done.removed;
    errno = done.error;
    if (done.left > max_bytes_ - bytes) return false;
    room_ = std::max(bytes, std::min(step, max_bytes_ - done.left));
  }
  room_ -= bytes;
  return true;
}

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
  if (max_bytes_ != 0) {
    const timespec times[] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
    ::futimens(file.number(), times); // where that is not possible, it may go sooner
  }
  return read_all(file.number());
}

void TableFolder::keep(const Identity& identity, std::span<const std::byte> table) {
  if (!keeps_ || path_.empty() || identity.build_id.size() < shortest_build_id) return;
  const Place place = place_of(identity);
  const FileDescriptor folder = open_folder(path_, place, true);
  if (folder.number() >= 0 && make_room(table.size()) && write_file(folder.number(), place.file, table)) {
    ++counts_.kept;
  } else {
    counts_.keep_error = static_cast<std::uint64_t>(errno);
    ++counts_.not_kept;
  }
}

} // namespace sframe::bpf
