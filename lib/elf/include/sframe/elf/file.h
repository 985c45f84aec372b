// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole file as bytes. A regular file is mapped read-only; anything that cannot be mapped (standard input,
// pipes, procfs files whose size reads as 0) is read as a stream, up to a limit (spool.h).

#pragma once

#include "sframe/base/problem.h"
#include "sframe/base/spool.h"

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct stat;

#pragma GCC visibility push(default)

namespace sframe::elf {

class File {
public:
  /// The limit of a stream: an endless one becomes a Problem instead of exhausting memory and disk.
  static constexpr std::uint64_t max_stream_size = std::uint64_t(1) << 30;

  /// Opens `path`; "-" is standard input. Fails for directories, unreadable files, and streams beyond
  /// max_stream_size. An empty file is valid. Mapping costs nothing per byte; a stream costs its size.
  static Result<File> open(const std::string& path);

  /// Same, for a location that the user named: accepts only regular files. Other files are not opened at all,
  /// so that opening neither waits for the writer of a FIFO nor triggers a device.
  static Result<File> open_regular(const std::string& path);

  /// The first bytes of a regular file, which tell what it is; the rest is zeros, as is everything if it
  /// cannot be read. For choices before the file is opened; does not count as opening it.
  static std::array<std::byte, 16> first_bytes(const std::string& path);

  /// Same, for a file that belongs to one that the user named, where an input or its folder may have a link:
  /// only on file systems that store files, not on procfs or another synthetic file system.
  static Result<File> open_found(const std::string& path);

  /// Where files named by an input may be.
  struct AllowedFiles {
    std::string root;     ///< a folder that neither ".." nor a link can leave; empty: "/"
    bool network = false; ///< also on network file systems; else only on those that "/" is on
  };

  /// Same as open_found() for an untrusted path that an input names. Accepts a file inside `allowed.root`,
  /// even through links. Fails for a path that is not absolute.
  static Result<File> open_named(const std::string& path, const AllowedFiles& allowed);

  /// The size of all different files and streams that this process has opened so far, for programs that limit
  /// their cost by it. Holes in files do not count. A stream counts as it is read.
  struct OpenedBytes {
    std::uint64_t named = 0; ///< those that the user named
    std::uint64_t found = 0; ///< of open_found() and open_named(), if accept() was called
  };
  /// Async-signal-safe.
  static OpenedBytes opened_bytes() noexcept;

  /// For the result of open_found() and open_named(), which may be any file of this machine: it was checked
  /// that it belongs to the input, and counts. Thread-safe.
  void accept() const;

  /// A file that exists only in memory; it owns `bytes`. path() returns `path`.
  static File from_bytes(std::string path, std::vector<std::byte> bytes);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  /// The bytes, valid as long as this File. They stay at their address when the File is moved.
  std::span<const std::byte> bytes() const;

  /// As passed to open(): "-" for standard input.
  const std::string& path() const { return path_; }

  /// Permission bits of the file (0644 for standard input, pipes and from_bytes()).
  std::uint32_t mode() const { return mode_; }

  /// A new read-only descriptor of the mapped file; the caller closes it. -1 if nothing is mapped or the path
  /// now leads to another file.
  int reopen() const;

  /// Device and inode: equal for all names of a file.
  struct Id {
    std::uint64_t device = 0, inode = 0;
    friend auto operator<=>(const Id&, const Id&) = default;
  };
  /// Of the mapped file; zeros if nothing is mapped.
  Id id() const { return opened_.id; }

  /// True if both are mappings of one file, which was not changed between the two calls of open().
  bool is_same(const File& other) const { return map_ && other.map_ && opened_ == other.opened_; }

  /// False if another process has replaced the mapped file at path(), or written to it, since it was opened.
  bool is_unchanged() const;

  /// False after replace_missing() was needed for this file: some bytes that were read are zeros.
  bool is_intact() const;

  /// The result of replace_missing().
  struct Missing {
    const char* path; ///< as passed to open(); lives as long as the process
    bool is_first;    ///< the first fault in this file
  };

  /// For SIGBUS handlers. The kernel sends SIGBUS if a mapped file was truncated, or its disk fails, after it
  /// was opened. Replaces the bytes from the page of `address` to the end of the file with zeros, so that the
  /// reader can continue. Nothing if no File is mapped there, or the kernel refuses. Takes no lock and
  /// allocates nothing.
  static std::optional<Missing> replace_missing(const void* address) noexcept;

  /// Frees the memory of the whole pages in `bytes` if they are of a mapped file; the next read loads them
  /// again. For readers that pass once over much of a file. Other bytes stay as they are. Thread-safe.
  static void release_pages(std::span<const std::byte> bytes) noexcept;

private:
  struct [[gnu::visibility("hidden")]] Mapping;
  static Mapping* mapping_at(std::uintptr_t address) noexcept;
  static std::atomic<Mapping*> mappings_; ///< all that ever existed; their memory is reused
  static Mapping* add_mapping(const std::string& path, const void* begin, std::size_t size);
  static Result<File> read(const std::string& path, int fd, bool is_found = false);
  static Result<File> read_regular(const std::string& path, int place, bool is_found = false);
  File() = default;
  void release();

  std::string path_;
  std::uint32_t mode_ = 0644;
  Mapping* mapping_ = nullptr; ///< if map_ is not nullptr
  void* map_ = nullptr;
  std::size_t map_size_ = 0;
  std::uint64_t stored_size_ = 0; ///< of the mapped file, without holes
  /// The mapped file when it was opened.
  struct State {
    Id id;
    std::int64_t seconds = 0, nanoseconds = 0; ///< of the last change of its contents
    friend bool operator==(const State&, const State&) = default;
  };
  static State state_of(const struct stat& info);
  State opened_;
  Spool stream_; ///< if nothing is mapped, one of these two has the bytes
  std::vector<std::byte> owned_;
};

/// The target of `path` inside the folder `root`: symbolic links are followed as if `root` were "/", so that
/// neither absolute ones nor ".." leave it. Missing components stay unchanged, for the error message of the
/// caller. Without a root: `path`.
std::string path_in_root(const std::string& root, std::string_view path);

} // namespace sframe::elf

#pragma GCC visibility pop
