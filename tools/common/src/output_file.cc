// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Output files, whole or not at all: write beside the target, set the mode, rename.

#include "sframe/tool/output_file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace sframe::tool {

namespace {

std::unexpected<elf::Problem> fail_errno(const char* doing, int error = errno) {
  return elf::fail(std::string(doing) + ": " + std::strerror(error));
}

/// 0, or the errno of the write that failed.
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

/// For what cannot be replaced: devices, pipes.
elf::Result<void> write_through(const std::string& path, std::span<const std::byte> bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return fail_errno("cannot write");
  int error = write_all(fd, bytes);
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error != 0) return fail_errno("cannot write", error);
  return {};
}

/// The file that a chain of symbolic links ends in, whether it exists or not.
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

/// There is no way to ask for it but to set it.
mode_t current_umask() {
  const mode_t mask = ::umask(077);
  ::umask(mask);
  return mask;
}

} // namespace

elf::Result<void> write_file(const std::string& path, std::span<const std::byte> bytes,
                             std::optional<std::uint32_t> mode) {
  if (path == "-") {
    if (int error = write_all(STDOUT_FILENO, bytes)) return fail_errno("cannot write", error);
    return {};
  }
  const std::string target = final_target(path);
  struct stat info {};
  if (::stat(target.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return elf::fail("cannot write: is a directory");
    if (!S_ISREG(info.st_mode)) return write_through(target, bytes);
    if (!mode) mode = info.st_mode & 0777;
  }
  if (!mode) mode = 0666 & ~current_umask();
  std::string temporary = target + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return fail_errno("cannot write");
  int error = write_all(fd, bytes);
  if (error == 0 && ::fchmod(fd, *mode & 07777) != 0) error = errno;
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(temporary.c_str());
  return fail_errno("cannot write", error);
}

elf::Result<void> write_file(const std::string& path, std::string_view text,
                             std::optional<std::uint32_t> mode) {
  return write_file(path, std::as_bytes(std::span(text)), mode);
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a != "-" && b != "-" && std::filesystem::equivalent(a, b, error) && !error;
}

elf::Result<void> make_parent_folders(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  if (parent.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  if (error) return elf::fail("cannot make the folder " + parent.string() + ": " + error.message());
  return {};
}

} // namespace sframe::tool
