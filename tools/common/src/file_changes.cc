// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Output files appear atomically: a new file gets owner and mode, is synced, and is renamed to the target.

#include "file_changes.h"

#include "interrupt.h"
#include "new_file.h"
#include "sframe/base/retry.h"
#include "sframe/tool/descriptor.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace sframe::tool {

namespace {

namespace fs = std::filesystem;

/// A device or a pipe, which is written directly.
class DirectFile : public OutgoingFile {
public:
  explicit DirectFile(Descriptor file) : file_(std::move(file)) {}
  int fd() const override { return file_.get(); }
  bool is_target() const override { return true; }
  Result<void> commit(std::uint64_t, HardLinks, int) override { return {}; }

private:
  Descriptor file_;
};

/// A regular file.
class ReplacingFile : public OutgoingFile {
public:
  /// `mode`: its permission bits; without, as the umask leaves them. `old` describes the existing file.
  ReplacingFile(std::shared_ptr<void> lock, std::string target, const std::optional<struct stat>& old,
                std::optional<std::uint32_t> mode, bool gets_attributes)
      : lock_(std::move(lock)), target_(std::move(target)), old_(old), mode_(mode),
        file_(target_, mode || gets_attributes ? 0600 : 0666) {}

  int fd() const override { return file_.fd(); }
  bool is_target() const override { return false; }
  int error() const { return file_.error(); }

  Result<void> commit(std::uint64_t size, HardLinks links, int attributes) override {
    // Read them now: when the file is overwritten in place, the kernel removes its setuid bits and
    // capabilities.
    const auto wanted = attributes >= 0 ? attributes_of(attributes) : std::nullopt;
    if (old_ && old_->st_nlink > 1 && links == HardLinks::keep) return overwrite(size, wanted);
    int error = finish(file_.fd(), wanted);
    if (error == 0) error = file_.replace_target();
    if (error != 0) return fail_errno("cannot write", error);
    return {};
  }

private:
  int finish(int fd, const std::optional<Attributes>& wanted) const {
    if (wanted) return copy_attributes(*wanted, fd);
    return !mode_ || ::fchmod(fd, *mode_ & 07777) == 0 ? 0 : errno;
  }

  /// Overwrites a file with hard links in place, so that all names show the new contents: its inode must
  /// stay. Predictable failures are detected before the first byte is overwritten; from then on signals do
  /// not end the program.
  Result<void> overwrite(std::uint64_t size, const std::optional<Attributes>& wanted) {
    Descriptor file(retry([&] { return ::open(target_.c_str(), O_WRONLY | O_CLOEXEC); }));
    int error = file.is_open() ? 0 : errno;
    const off_t old_size = old_->st_size;
    if (const auto new_size = static_cast<off_t>(size);
        error == 0 && new_size > old_size &&
        retry([&] { return ::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, old_size, new_size - old_size); }) !=
            0 &&
        errno != EOPNOTSUPP)
      error = errno;
    if (error == 0) error = file_.save(); // a copy that survives this process and a power failure
    if (error != 0) return fail_errno("cannot write", error);
    const Uninterrupted until_complete;
    error = copy_over(file_.fd(), file.get(), size);
    if (error == 0) error = finish(file.get(), wanted);
    if (error == 0) error = sync_file(file.get());
    if (const int late = file.close(); error == 0) error = late;
    if (error == 0) return {};
    return fail_errno(("cannot finish writing; the complete file is " + file_.keep()).c_str(), error);
  }

  std::shared_ptr<void> lock_;
  std::string target_;
  std::optional<struct stat> old_;
  std::optional<std::uint32_t> mode_;
  NewFile file_;
};

class OwnFileChanges : public FileChanges {
public:
  explicit OwnFileChanges(int requester) : requester_(requester) {}

  Result<std::unique_ptr<OutgoingFile>> begin(const std::string& path, std::optional<std::uint32_t> mode,
                                              bool gets_attributes) override {
    auto locked = lock(path);
    if (!locked) return unexpected(locked.error());
    std::string target = final_target(path);
    std::optional<struct stat> old(std::in_place);
    if (::stat(target.c_str(), &*old) != 0) {
      if (errno == ELOOP)
        return fail_errno("cannot write", errno); // links in a circle are not to be replaced
      old.reset();
    }
    if (old && S_ISDIR(old->st_mode)) return fail("cannot write: is a directory");
    if (old && !S_ISREG(old->st_mode)) {
      Descriptor file = open_directly(target);
      if (!file.is_open()) return fail_errno("cannot write", errno);
      return std::make_unique<DirectFile>(std::move(file));
    }
    if (old && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0)
      return fail_errno("cannot write", errno);
    if (!mode && old) mode = old->st_mode & 0777;
    std::signal(SIGXFSZ, SIG_IGN); // a file size limit becomes a write error
    auto file =
        std::make_unique<ReplacingFile>(std::move(*locked), std::move(target), old, mode, gets_attributes);
    if (file->error() != 0) return fail_errno("cannot write", file->error());
    return file;
  }

  Result<std::shared_ptr<void>> lock(const std::string& path) override { return lock_file(path); }

  Result<void> make_parent_folders(const std::string& path) override {
    const auto parent = fs::path(path).parent_path();
    if (parent.empty()) return {};
    std::error_code error;
    fs::create_directories(parent, error);
    if (error) return fail("cannot create the directory " + parent.string() + ": " + error.message());
    return {};
  }

  Result<void> hard_link(const std::string& existing, const std::string& path) override {
    const int error = replace_by(
        path, [&](const char* name) { return ::linkat(AT_FDCWD, existing.c_str(), AT_FDCWD, name, 0) == 0; });
    if (error != 0) return fail_errno("cannot link", error);
    return {};
  }

  Result<bool> symbolic_link(const std::string& original, const std::string& path) override {
    std::error_code error, none;
    const auto contents = fs::read_symlink(original, error);
    struct stat owner {};
    if (error || ::lstat(original.c_str(), &owner) != 0)
      return fail("cannot read the symbolic link: " + error.message());
    if (fs::read_symlink(path, none) == contents && !none) return false;
    const int failed = replace_by(path, [&](const char* name) {
      if (::symlink(contents.c_str(), name) != 0) return false;
      (void)!::lchown(name, owner.st_uid, owner.st_gid);
      return true;
    });
    if (failed != 0) return fail_errno("cannot make the symbolic link", failed);
    return true;
  }

  void copy_folder_mode(const std::string& from, const std::string& to) override {
    struct stat info {};
    if (::stat(from.c_str(), &info) != 0) return;
    (void)!::chown(to.c_str(), info.st_uid, info.st_gid); // as far as permitted
    (void)::chmod(to.c_str(), info.st_mode & 07777);
  }

  void make_writable(const std::string& folder) override {
    if (::access(folder.c_str(), W_OK) != 0) (void)::chmod(folder.c_str(), 0700);
  }

private:
  /// Returns the file. Sets errno: what has happened since may have changed it.
  static Descriptor with_errno(int error, Descriptor file) {
    errno = error;
    return file;
  }

  /// A device or a FIFO, whose reader may come later.
  Descriptor open_directly(const std::string& target) const {
    if (requester_ < 0)
      return Descriptor(retry([&] { return ::open(target.c_str(), O_WRONLY | O_CLOEXEC); }));
    constexpr int between_tries = 20; // ms
    for (pollfd requester{requester_, POLLIN | POLLRDHUP, 0};;) {
      Descriptor file(retry([&] { return ::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK); }));
      if (file.is_open()) (void)::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
      const int error = errno;
      std::error_code none;
      if (file.is_open() || error != ENXIO || !fs::is_fifo(target, none))
        return with_errno(error, std::move(file));
      if (::poll(&requester, 1, between_tries) > 0) return with_errno(ECANCELED, Descriptor());
    }
  }

  int requester_;
};

constinit FileChanges* used = nullptr;

} // namespace

unexpected<Problem> fail_errno(const char* doing, int error) {
  // The kernel reads the written bytes from mapped inputs.
  const char* why = error == EFAULT ? "the input was truncated while being read" : std::strerror(error);
  return fail(std::string(doing) + ": " + why);
}

std::unique_ptr<FileChanges> own_file_changes(int requester) {
  return std::make_unique<OwnFileChanges>(requester);
}

FileChanges& file_changes() {
  static OwnFileChanges own(-1);
  return used ? *used : own;
}

void use_file_changes(FileChanges& changes) {
  used = &changes;
}

} // namespace sframe::tool
