// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/tool/output_lock.h"

#include "file_changes.h"
#include "new_file.h"
#include "sframe/tool/descriptor.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <mutex>
#include <optional>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sframe::tool {

namespace {

using FileId = std::pair<dev_t, ino_t>;

/// The files that this process has locked.
struct Held {
  std::mutex mutex;
  std::vector<FileId> files;
};
Held& held() {
  static Held all;
  return all;
}

std::optional<FileId> regular_file(const struct stat& info) {
  if (!S_ISREG(info.st_mode)) return std::nullopt;
  return FileId{info.st_dev, info.st_ino};
}

/// A file that is locked while the object exists.
class HeldLock {
public:
  /// The caller has the mutex of held().
  HeldLock(Descriptor file, FileId id) : file_(std::move(file)), id_(id) { held().files.push_back(id_); }
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;
  ~HeldLock() {
    const std::lock_guard guard(held().mutex);
    std::erase(held().files, id_);
    (void)file_.close();
  }

private:
  Descriptor file_;
  FileId id_;
};

/// Some network file systems lock only files open for writing.
int lock(const std::string& path, Descriptor& file) {
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return 0;
  if (errno != EBADF) return errno;
  Descriptor writable(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!writable.is_open()) return errno;
  file = std::move(writable);
  return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
}

} // namespace

Result<std::shared_ptr<void>> lock_file(const std::string& path) {
  const std::lock_guard guard(held().mutex);
  // The previous owner of the lock may have replaced the file at the path.
  for (unsigned attempts = 0; attempts < 100; ++attempts) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return nullptr;
    const auto id = regular_file(info);
    if (!id || std::ranges::count(held().files, *id)) return nullptr;
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.is_open()) file = Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.is_open()) return nullptr;
    const int error = lock(path, file);
    if (error == EWOULDBLOCK) return fail("another process is writing this file; retry when it has finished");
    if (error != 0) return nullptr;
    struct stat now {};
    if (::fstat(file.get(), &info) != 0 || ::stat(path.c_str(), &now) != 0) continue;
    if (regular_file(info) != regular_file(now)) continue;
    return std::make_shared<HeldLock>(std::move(file), FileId{info.st_dev, info.st_ino});
  }
  return nullptr;
}

Result<OutputLock> OutputLock::take(const std::string& path) {
  OutputLock result;
  if (!is_place(path)) return result;
  auto held = file_changes().lock(path);
  if (!held) return unexpected(held.error());
  result.held_ = std::move(*held);
  return result;
}

} // namespace sframe::tool
