// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A whole file as bytes. A regular file is mapped read-only; what cannot be mapped (standard input, pipes,
// files of procfs whose size reads as 0) is read into memory, up to a bound.

#pragma once

#include "sframe/base/problem.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::elf {

class File {
public:
  /// What is read into memory at most: an endless stream becomes a Problem instead of eating the machine.
  static constexpr std::uint64_t max_stream_size = std::uint64_t(1) << 30;

  /// Opens `path`; "-" is standard input. Fails for directories, for what cannot be read, and for streams
  /// beyond max_stream_size. An empty file is no failure. Mapping costs nothing per byte; a stream costs its
  /// size.
  static Result<File> open(const std::string& path);

  /// The same for a place that the user named, whatever is there: refuses all but regular files. What is no
  /// regular file is not opened at all, so that neither does it wait for the writer of a FIFO, nor a device do
  /// something.
  static Result<File> open_regular(const std::string& path);

  /// Where files may be that an input names.
  struct Allowed {
    std::string root;     ///< a folder that neither ".." nor a link leads out of; empty: "/"
    bool network = false; ///< on network file systems, too; else only on those that "/" is on
  };

  /// The same for a path that an input names, which nobody vouches for: a regular file, inside `allowed.root`, on a
  /// file system that has files: none of procfs or another file system that makes up its files, by whatever links the
  /// path leads there. Fails for a path that is not absolute.
  static Result<File> open_named(const std::string& path, const Allowed& allowed);

  /// A file that exists only in memory; it owns `bytes`. `path` is what path() gives.
  static File from_bytes(std::string path, std::vector<std::byte> bytes);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  /// The bytes, valid as long as this File. They stay at their address when the File is moved.
  std::span<const std::byte> bytes() const;

  /// As it was given to open(): "-" for standard input.
  const std::string& path() const { return path_; }

  /// Permission bits of the file (0644 for standard input, pipes and from_bytes()).
  std::uint32_t mode() const { return mode_; }

  /// A new descriptor of the file that is mapped, for reading; the caller closes it. -1 where nothing is mapped
  /// or the path leads to another file by now.
  int reopen() const;

  /// False once replace_missing() was needed for this file: some of what was read of it is zeros.
  bool is_intact() const;

  /// What replace_missing() found.
  struct Missing {
    const char* path; ///< as it was given to open(); lives as long as the process
    bool is_first;    ///< the first fault in this file
  };

  /// For handlers of SIGBUS, which the kernel sends where a mapped file was cut, or its disk fails, since it was
  /// opened: puts zeros in the place of the bytes from `address` to the end of the file, so that whoever reads them
  /// can go on. Nothing where no File is mapped there, or the kernel refuses. Takes no lock and allocates nothing.
  static std::optional<Missing> replace_missing(const void* address) noexcept;

private:
  struct Mapping;
  static std::atomic<Mapping*> mappings_; ///< all that ever were; the memory is used again
  static Mapping* add_mapping(const std::string& path, const void* begin, std::size_t size);
  static Result<File> read(const std::string& path, int fd);
  static Result<File> read_regular(const std::string& path, int place);
  File() = default;
  void release();

  std::string path_;
  std::uint32_t mode_ = 0644;
  Mapping* mapping_ = nullptr; ///< where map_ is not nullptr
  void* map_ = nullptr;
  std::size_t map_size_ = 0;
  std::uint64_t device_ = 0, inode_ = 0; ///< of what is mapped
  std::vector<std::byte> owned_;
};

/// Where `path` leads inside the folder `root`: symbolic links on the way are followed as if `root` were "/", so
/// that neither absolute ones nor ".." lead out of it. What does not exist stays as it is, for the message of
/// whoever opens it. Without a root: `path`.
std::string path_in_root(const std::string& root, std::string_view path);

} // namespace sframe::elf
