// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file without a name gets one by linkat(2) on /proc/self/fd; one with a temporary name is in a list of
// files that signals remove (interrupt.h). Only the rename replaces the target, so that it is the old file or
// the new one at any time.

#include "new_file.h"

#include "sframe/base/retry.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sframe::tool {

namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// The path by which the kernel finds an open file without a name.
std::string link_of(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

std::string random_suffix() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::array<std::uint8_t, 10> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    struct timespec now {};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    std::snprintf(reinterpret_cast<char*>(random.data()), random.size(), "%lx", now.tv_nsec);
  }
  std::string text = ".";
  for (const std::uint8_t byte : random) text += letters[byte % letters.size()];
  return text;
}

/// Calls `make` with unused names in the folder of `target` until it succeeds, or fails for another reason
/// than a used name. Names begin with that of `target`, unless that makes them too long for the file system.
/// 0 or errno.
int make_temporary(const std::string& target, const std::function<bool(const char* name)>& make,
                   std::string& name, std::optional<TemporaryName>& temporary) {
  // Without this, a signal's handler on another thread could remove the temporary files just before this one
  // is made, and end the program just after.
  const Uninterrupted whole;
  std::string beginning = target;
  for (unsigned attempts = 0; attempts < 100; ++attempts) {
    name = beginning + random_suffix();
    temporary.emplace(name);
    if (make(name.c_str())) return 0;
    const int error = errno;
    temporary.reset();
    name.clear();
    if (error == ENAMETOOLONG && beginning == target)
      beginning = folder_of(target) + '/';
    else if (error != EEXIST)
      return error;
  }
  return EEXIST;
}

} // namespace

int replace_by(const std::string& target, const std::function<bool(const char* name)>& make) {
  std::string name;
  std::optional<TemporaryName> temporary;
  if (const int error = make_temporary(target, make, name, temporary)) return error;
  if (::rename(name.c_str(), target.c_str()) == 0) return 0;
  const int error = errno;
  ::unlink(name.c_str());
  return error;
}

int sync_file(int fd) {
  if (retry([&] { return ::fsync(fd); }) == 0 || errno == EINVAL || errno == ENOSYS || errno == EROFS)
    return 0;
  return errno;
}

NewFile::NewFile(const std::string& target, mode_t mode) : target_(target), folder_(folder_of(target)) {
  if (open_unnamed(mode)) return;
  error_ = make_named([&](const char* name) {
    file_ = Descriptor(retry([&] { return ::open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode); }));
    return file_.is_open();
  });
}

NewFile::~NewFile() {
  if (temporary_) ::unlink(name_.c_str());
}

bool NewFile::open_unnamed(mode_t mode) {
  file_ = Descriptor(retry([&] { return ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode); }));
  if (!file_.is_open()) return false;
  if (::access(link_of(file_.get()).c_str(), F_OK) == 0) return true;
  file_ = Descriptor(); // without /proc it could not be given a name later
  return false;
}

int NewFile::make_named(const std::function<bool(const char* name)>& make) {
  return make_temporary(target_, make, name_, temporary_);
}

/// Gives the file a name in the target's folder, if it has none.
int NewFile::copy_name() {
  if (!name_.empty()) return 0;
  return make_named([&](const char* name) {
    return ::linkat(AT_FDCWD, link_of(fd()).c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
  });
}

/// Syncs the file's names to disk. If the folder cannot be opened for that, the kernel will write them later.
void NewFile::sync_folder() const {
  const Descriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.is_open()) (void)sync_file(folder.get());
}

int NewFile::save() {
  if (const int error = sync_file(fd())) return error;
  if (const int error = copy_name()) return error;
  sync_folder();
  return 0;
}

const std::string& NewFile::keep() {
  temporary_.reset();
  return name_;
}

int NewFile::replace_target() {
  if (const int error = sync_file(fd())) return error;
  // If the target does not exist, no temporary name is needed.
  const bool linked = name_.empty() && ::linkat(AT_FDCWD, link_of(fd()).c_str(), AT_FDCWD, target_.c_str(),
                                                AT_SYMLINK_FOLLOW) == 0;
  if (!linked) {
    if (const int error = copy_name()) return error;
    if (::rename(name_.c_str(), target_.c_str()) != 0) return errno;
    temporary_.reset();
  }
  sync_folder();
  return file_.close();
}

} // namespace sframe::tool
