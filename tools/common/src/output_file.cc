// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contents of output files. What changes the file system is in file_changes.h.

#include "sframe/tool/output_file.h"

#include "file_changes.h"
#include "new_file.h"
#include "sframe/base/retry.h"
#include "sframe/elf/kept_places.h"
#include "sframe/tool/descriptor.h"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/prctl.h>
#include <system_error>
#include <unistd.h>

namespace sframe::tool {

namespace {

/// The contents and metadata of a new file.
struct Content {
  std::function<int(int fd)> write; ///< writes its bytes into an empty file; 0 or errno
  std::uint64_t size = 0;
  HardLinks links = HardLinks::keep;
  int attributes = -1; ///< an open file whose owner, mode and so on it gets
};

/// For targets that cannot be replaced: devices, pipes, standard output.
Result<void> write_through(int fd, std::span<const std::byte> bytes) {
  if (const int error = write_all(fd, bytes)) return fail_errno("cannot write", error);
  return {};
}

/// Decides how `path` is written. `all` gives the full contents, for a target that cannot be replaced.
template <class All>
Result<void> write_content(const std::string& path, const Content& content, std::optional<std::uint32_t> mode,
                           All&& all) {
  if (const auto open = named_descriptor(path)) return write_through(*open, all());
  auto file = file_changes().begin(path, mode, content.attributes >= 0);
  if (!file) return unexpected(why_not_written(path, file.error()));
  if ((*file)->is_target()) return write_through((*file)->fd(), all());
  std::signal(SIGXFSZ, SIG_IGN); // a file size limit becomes a write error
  if (const int error = content.write((*file)->fd())) return fail_errno("cannot write", error);
  return (*file)->commit(content.size, content.links, content.attributes);
}

/// Writes the edited file into an empty one.
int write_edit(int from, std::span<const std::byte> original, const edit::Edit& edit, int to) {
  for (const edit::Edit::Kept& range : edit.kept)
    if (const int error =
            copy_range(from, range.source, original.subspan(range.source, range.size), to, range.offset))
      return error;
  if (retry([&] { return ::ftruncate(to, static_cast<off_t>(edit.size)); }) != 0) return errno;
  for (const edit::Edit::Piece& piece : edit.pieces)
    if (const int error = write_at(to, piece.bytes, piece.offset)) return error;
  return 0;
}

} // namespace

Problem why_not_written(const std::string& path, Problem problem) {
  const bool is_confined = ::prctl(PR_GET_SECCOMP) > 0;
  if (!is_confined || !elf::leads_through_process(path)) return problem;
  return {"cannot write through another process in /proc (--no-sandbox allows it)", {}, {}};
}

std::optional<int> named_descriptor(const std::string& path) {
  if (path == "-") return STDOUT_FILENO;
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path descriptors = fs::canonical("/proc/self/fd", error);
  if (error) return std::nullopt;
  fs::path current = fs::absolute(path, error);
  for (unsigned links = 0; links < 40; ++links) {
    if (fs::canonical(current.parent_path(), error) == descriptors && !error) {
      const std::string number = current.filename();
      int fd = -1;
      const auto [end, wrong] = std::from_chars(number.data(), number.data() + number.size(), fd);
      if (wrong != std::errc() || *end != '\0') return std::nullopt;
      // Those that the caller opened are inherited; this process' own are not meant.
      const int flags = ::fcntl(fd, F_GETFD);
      return flags < 0 || (flags & FD_CLOEXEC) ? -1 : fd;
    }
    const auto next = fs::read_symlink(current, error);
    if (error) break;
    current = next.is_absolute() ? next : current.parent_path() / next;
  }
  return std::nullopt;
}

std::string final_target(const std::string& path) {
  std::filesystem::path current = path;
  std::error_code error;
  for (unsigned links = 0; links < 40 && std::filesystem::is_symlink(current, error); ++links) {
    // The links of procfs to open pipes and sockets have no target with a name.
    if (std::filesystem::exists(current, error) && !std::filesystem::is_regular_file(current, error) &&
        !std::filesystem::is_directory(current, error))
      break;
    auto next = std::filesystem::read_symlink(current, error);
    if (error) break;
    current = next.is_absolute() ? next : current.parent_path() / next;
  }
  return current.string();
}

Result<void> write_file(const std::string& path, std::span<const std::byte> bytes,
                        std::optional<std::uint32_t> mode) {
  const Content content{.write = [&](int fd) { return write_all(fd, bytes); }, .size = bytes.size()};
  return write_content(path, content, mode, [&] { return bytes; });
}

Result<void> check_target(const std::string& path) {
  if (named_descriptor(path)) return {};
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  using Type = std::filesystem::file_type;
  if (type != Type::not_found && type != Type::regular && type != Type::directory) return {};
  const auto before = std::signal(SIGXFSZ, SIG_DFL); // programs that this one starts inherit it
  const auto file = file_changes().begin(path, {}, false);
  std::signal(SIGXFSZ, before);
  if (!file) return unexpected(file.error());
  return {};
}

Result<void> write_edited(const std::string& path, const elf::File& original, const edit::Edit& edit,
                          HardLinks links) {
  const Descriptor from(original.reopen());
  const Content content{.write =
                            [&](int fd) {
                              const int error = write_edit(from.get(), original.bytes(), edit, fd);
                              return error == 0 && !original.is_intact() ? EFAULT : error;
                            },
                        .size = edit.size,
                        .links = links,
                        .attributes = from.get()};
  return write_content(path, content, original.mode(), [&] { return edit.apply(original.bytes()); });
}

Result<void> write_file(const std::string& path, std::string_view text, std::optional<std::uint32_t> mode) {
  return write_file(path, std::as_bytes(std::span(text)), mode);
}

Result<void> write_hard_link(const std::string& existing, const std::string& path) {
  if (is_same_file(existing, path)) return {}; // rename() would do nothing, and leave the temporary name
  return file_changes().hard_link(existing, path);
}

Result<bool> copy_symbolic_link(const std::string& original, const std::string& path) {
  return file_changes().symbolic_link(original, path);
}

void copy_folder_mode(const std::string& from, const std::string& to) {
  file_changes().copy_folder_mode(from, to);
}

void make_folder_writable(const std::string& folder) {
  file_changes().make_writable(folder);
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a != "-" && b != "-" && std::filesystem::equivalent(a, b, error) && !error;
}

Result<void> make_parent_folders(const std::string& path) {
  return file_changes().make_parent_folders(path);
}

} // namespace sframe::tool
