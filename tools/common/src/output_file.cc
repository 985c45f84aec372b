// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes output files atomically: writes a new file, sets owner and mode, syncs, and renames it to the
// target.

#include "sframe/tool/output_file.h"
#include "sframe/tool/output_lock.h"

#include "interrupt.h"
#include "new_file.h"
#include "sframe/base/retry.h"
#include "sframe/tool/descriptor.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace sframe::tool {

namespace {

unexpected<Problem> fail_errno(const char* doing, int error = errno) {
  // The kernel reads the written bytes from mapped inputs.
  const char* why = error == EFAULT ? "the input was truncated while being read" : std::strerror(error);
  return fail(std::string(doing) + ": " + why);
}

/// For targets that cannot be replaced: devices, pipes, standard output.
Result<void> write_through(int fd, std::span<const std::byte> bytes) {
  if (fd < 0) return fail_errno("cannot write");
  if (const int error = write_all(fd, bytes)) return fail_errno("cannot write", error);
  return {};
}

/// The contents and metadata of a new file.
struct Content {
  std::function<int(int fd)> write;  ///< writes its bytes into an empty file
  std::function<int(int fd)> finish; ///< sets owner, mode and so on; empty: as the umask leaves them
  std::uint64_t size = 0;
  HardLinks links = HardLinks::keep;
};

/// Overwrites a file with hard links in place, so that all names show the new contents: its inode must stay.
/// Predictable failures are detected before the first byte is overwritten; from then on signals do not end
/// the program.
Result<void> write_into(const std::string& target, std::uint64_t old_size, NewFile& complete,
                        const Content& content) {
  Descriptor file(retry([&] { return ::open(target.c_str(), O_WRONLY | O_CLOEXEC); }));
  int error = file.is_open() ? 0 : errno;
  if (error == 0 && content.size > old_size &&
      retry([&] {
        return ::fallocate(file.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(old_size),
                           static_cast<off_t>(content.size - old_size));
      }) != 0 &&
      errno != EOPNOTSUPP)
    error = errno;
  if (error == 0) error = complete.save(); // a copy that survives this process and a power failure
  if (error != 0) return fail_errno("cannot write", error);
  const Uninterrupted until_complete;
  error = copy_over(complete.fd(), file.get(), content.size);
  if (error == 0) error = content.finish(file.get());
  if (error == 0) error = sync_file(file.get());
  if (const int late = file.close(); error == 0) error = late;
  if (error != 0)
    return fail_errno(("cannot finish writing; the complete file is " + complete.keep()).c_str(), error);
  return {};
}

/// Creates the file at `target`; `old` describes the existing file, if any.
Result<void> replace(const std::string& target, const std::optional<struct stat>& old,
                     const Content& content) {
  std::signal(SIGXFSZ, SIG_IGN); // a file size limit becomes a write error
  if (old && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) return fail_errno("cannot write");
  NewFile file(target, content.finish ? 0600 : 0666);
  int error = file.error();
  if (error == 0) error = content.write(file.fd());
  if (error == 0 && old && old->st_nlink > 1 && content.links == HardLinks::keep)
    return write_into(target, static_cast<std::uint64_t>(old->st_size), file, content);
  if (error == 0 && content.finish) error = content.finish(file.fd());
  if (error == 0) error = file.replace_target();
  if (error != 0) return fail_errno("cannot write", error);
  return {};
}

/// Decides how `path` is written. `all` gives the full contents, for a target that cannot be replaced.
template <class All>
Result<void> write_content(const std::string& path, Content content, std::optional<mode_t> mode, All&& all) {
  if (path == "-") return write_through(STDOUT_FILENO, all());
  const auto lock = OutputLock::take(path);
  if (!lock) return unexpected(lock.error());
  const std::string target = final_target(path);
  std::optional<struct stat> old(std::in_place);
  if (::stat(target.c_str(), &*old) != 0) {
    if (errno == ELOOP) return fail_errno("cannot write"); // links in a circle are not to be replaced
    old.reset();
  }
  if (old && S_ISDIR(old->st_mode)) return fail("cannot write: is a folder");
  if (old && !S_ISREG(old->st_mode)) {
    const Descriptor file(retry([&] { return ::open(target.c_str(), O_WRONLY | O_CLOEXEC); }));
    return write_through(file.get(), all());
  }
  if (!content.finish && (mode || old)) {
    const mode_t bits = mode ? *mode : old->st_mode & 0777;
    content.finish = [bits](int fd) { return ::fchmod(fd, bits & 07777) == 0 ? 0 : errno; };
  }
  return replace(target, old, content);
}

/// Writes the edited file into an empty one.
int write_edit(int from, std::span<const std::byte> original, const elf::Edit& edit, int to) {
  for (const elf::Edit::Kept& range : edit.kept)
    if (const int error =
            copy_range(from, range.source, original.subspan(range.source, range.size), to, range.offset))
      return error;
  if (retry([&] { return ::ftruncate(to, static_cast<off_t>(edit.size)); }) != 0) return errno;
  for (const elf::Edit::Piece& piece : edit.pieces)
    if (const int error = write_at(to, piece.bytes, piece.offset)) return error;
  return 0;
}

} // namespace

std::string final_target(const std::string& path) {
  std::filesystem::path current = path;
  std::error_code error;
  for (unsigned links = 0; links < 40 && std::filesystem::is_symlink(current, error); ++links) {
    auto next = std::filesystem::read_symlink(current, error);
    if (error) break;
    current = next.is_absolute() ? next : current.parent_path() / next;
  }
  return current.string();
}

Result<void> write_file(const std::string& path, std::span<const std::byte> bytes,
                        std::optional<std::uint32_t> mode) {
  const Content content{.write = [&](int fd) { return write_all(fd, bytes); },
                        .finish = {},
                        .size = bytes.size(),
                        .links = HardLinks::keep};
  return write_content(path, content, mode, [&] { return bytes; });
}

Result<void> write_edited(const std::string& path, const elf::File& original, const elf::Edit& edit,
                          HardLinks links) {
  const Descriptor from(original.reopen());
  Content content{.write =
                      [&](int fd) {
                        const int error = write_edit(from.get(), original.bytes(), edit, fd);
                        return error == 0 && !original.is_intact() ? EFAULT : error;
                      },
                  .finish = {},
                  .size = edit.size,
                  .links = links};
  // Read them now: when the file is overwritten in place, the kernel removes its setuid bits and
  // capabilities.
  if (auto attributes = from.is_open() ? attributes_of(from.get()) : std::nullopt)
    content.finish = [attributes = std::move(*attributes)](int fd) {
      return copy_attributes(attributes, fd);
    };
  return write_content(path, content, original.mode(), [&] { return edit.apply(original.bytes()); });
}

Result<void> write_file(const std::string& path, std::string_view text, std::optional<std::uint32_t> mode) {
  return write_file(path, std::as_bytes(std::span(text)), mode);
}

Result<void> write_hard_link(const std::string& existing, const std::string& path) {
  if (is_same_file(existing, path)) return {}; // rename() would do nothing, and leave the temporary name
  const int error = replace_by(
      path, [&](const char* name) { return ::linkat(AT_FDCWD, existing.c_str(), AT_FDCWD, name, 0) == 0; });
  if (error != 0) return fail_errno("cannot link", error);
  return {};
}

Result<bool> copy_symbolic_link(const std::string& original, const std::string& path) {
  std::error_code error, none;
  const auto contents = std::filesystem::read_symlink(original, error);
  struct stat owner {};
  if (error || ::lstat(original.c_str(), &owner) != 0)
    return fail("cannot read the symbolic link: " + error.message());
  if (std::filesystem::read_symlink(path, none) == contents && !none) return false;
  const int failed = replace_by(path, [&](const char* name) {
    if (::symlink(contents.c_str(), name) != 0) return false;
    (void)!::lchown(name, owner.st_uid, owner.st_gid);
    return true;
  });
  if (failed != 0) return fail_errno("cannot make the symbolic link", failed);
  return true;
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a != "-" && b != "-" && std::filesystem::equivalent(a, b, error) && !error;
}

Result<void> make_parent_folders(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  if (parent.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (error) return fail("cannot create the folder " + parent.string() + ": " + error.message());
  return {};
}

} // namespace sframe::tool
