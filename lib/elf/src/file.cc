// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files as bytes: mapped if the kernel can, else read.

#include "sframe/elf/file.h"

#include "file_place.h"
#include "sframe/base/retry.h"
#include "sframe/elf/file_systems.h"
#include "sframe/elf/kept_places.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/openat2.h>
#include <mutex>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace sframe::elf {

namespace {

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

constinit std::atomic<std::uint64_t> all_named{0}, all_found{0};

/// A file counts once, however often it is opened, and under which names; of more than a million files, each
/// time, since a process that runs for long must not remember all.
void count_opened(std::atomic<std::uint64_t>& all, const File::Id& id, std::uint64_t size) {
  constexpr std::size_t most = 1 << 20;
  static std::mutex mutex;
  static std::set<File::Id> known;
  const std::lock_guard lock(mutex);
  if (known.size() >= most || known.insert(id).second) all += size;
}

/// Small files may have no blocks of their own.
std::uint64_t stored_size(const struct stat& info) {
  constexpr std::uint64_t block = 512, small = 65536;
  return std::min(static_cast<std::uint64_t>(info.st_size),
                  std::max(static_cast<std::uint64_t>(info.st_blocks) * block, small));
}

unexpected<Problem> fail_errno(const char* doing) {
  return fail(std::string(doing) + ": " + std::strerror(errno));
}

Result<Spool> read_stream(int fd) {
  Spool bytes;
  std::vector<std::byte> buffer(std::size_t{1} << 17);
  for (;;) {
    const ssize_t got = retry([&] { return ::read(fd, buffer.data(), buffer.size()); });
    if (got < 0) return fail_errno("cannot read");
    if (got == 0) break;
    all_named += static_cast<std::uint64_t>(got);
    if (auto kept = bytes.append(std::span(buffer).first(static_cast<std::size_t>(got))); !kept)
      return unexpected(kept.error());
    if (bytes.size() > File::max_stream_size)
      return fail("stream is larger than 1 GiB; pass a regular file instead");
  }
  if (auto finished = bytes.finish(); !finished) return unexpected(finished.error());
  return bytes;
}

} // namespace

struct File::Mapping {
  std::atomic<bool> used{true};
  std::atomic<std::uintptr_t> begin{0}, end{0}; ///< end is 0 while the others change
  std::atomic<bool> intact{true};               ///< false: the memory is not reused
  std::string path;
  Mapping* next = nullptr;
};

constinit std::atomic<File::Mapping*> File::mappings_{nullptr};

File::Mapping* File::add_mapping(const std::string& path, const void* begin, std::size_t size) {
  std::string name = path; // may fail: before a mapping is taken
  Mapping* mapping = mappings_.load();
  while (mapping && mapping->used.exchange(true)) mapping = mapping->next;
  const bool is_new = !mapping;
  if (is_new) mapping = new Mapping;
  mapping->path = std::move(name);
  mapping->begin = reinterpret_cast<std::uintptr_t>(begin);
  mapping->end = mapping->begin + size;
  if (is_new)
    for (mapping->next = mappings_.load(); !mappings_.compare_exchange_weak(mapping->next, mapping);) {
    }
  return mapping;
}

File::Mapping* File::mapping_at(std::uintptr_t address) noexcept {
  for (Mapping* mapping = mappings_.load(); mapping; mapping = mapping->next)
    if (address < mapping->end && address >= mapping->begin) return mapping;
  return nullptr;
}

bool File::is_intact() const {
  return !mapping_ || mapping_->intact;
}

namespace {
std::uintptr_t page_size() noexcept {
  static const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return size;
}
} // namespace

std::optional<File::Missing> File::replace_missing(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  Mapping* const mapping = mapping_at(at);
  if (!mapping) return std::nullopt;
  const std::uintptr_t start = at & ~(page_size() - 1);
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  if (::mmap(reinterpret_cast<void*>(start), mapping->end - start, PROT_READ, flags, -1, 0) == MAP_FAILED)
    return std::nullopt;
  return Missing{mapping->path.c_str(), mapping->intact.exchange(false)};
}

void File::release_pages(std::span<const std::byte> bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const Mapping* const mapping = mapping_at(begin);
  if (!mapping || bytes.size() > mapping->end - begin) return;
  const std::uintptr_t first = (begin + page_size() - 1) & ~(page_size() - 1);
  const std::uintptr_t end = (begin + bytes.size()) & ~(page_size() - 1);
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

namespace {

/// What the user names may be anywhere, but is not waited for if nothing answers there.
const File::AllowedFiles any_place = {.root = {}, .network = true};

} // namespace

Result<File> File::open(const std::string& path) {
  if (path == "-") return read(path, STDIN_FILENO);
  if (auto obstacle = find_obstacle(path, any_place)) return fail(std::move(*obstacle));
  const Descriptor file{retry([&] { return ::open(reachable(path).c_str(), O_RDONLY | O_CLOEXEC); })};
  return read(path, file.fd);
}

namespace {

/// An O_PATH descriptor of the target of `path`, which is not opened for reading.
int open_path(const std::string& path, int flags = 0) {
  return retry([&] { return ::open(reachable(path).c_str(), O_PATH | O_CLOEXEC | flags); });
}

/// The location of `path` inside `root`, without opening the file. Done by the kernel, so that concurrent
/// changes cannot lead outside; step by step if the kernel cannot (before Linux 5.6, or forbidden by a
/// sandbox).
int find_in_root(const std::string& root, const std::string& path) {
  const Descriptor folder{open_path(root, O_DIRECTORY)};
  if (folder.fd < 0) return -1;
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const long fd = retry([&] { return ::syscall(SYS_openat2, folder.fd, path.c_str(), &how, sizeof how); });
  if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EAGAIN && errno != E2BIG))
    return static_cast<int>(fd);
  return open_path(path_in_root(root, path), O_NOFOLLOW);
}

} // namespace

/// Opens the file that `place`, an O_PATH descriptor, refers to.
Result<File> File::read_regular(const std::string& path, int place, bool is_found) {
  struct stat info {};
  if (place < 0 || ::fstat(place, &info) != 0) return fail_errno("cannot open");
  if (S_ISDIR(info.st_mode)) return fail("is a directory");
  if (!S_ISREG(info.st_mode)) return fail("not a regular file");
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  Descriptor file{retry([&] { return ::open(("/proc/self/fd/" + std::to_string(place)).c_str(), flags); })};
  if (file.fd < 0 && errno == ENOENT) { // no procfs
    file.fd = retry([&] { return ::open(path.c_str(), flags | O_NOFOLLOW); });
    struct stat opened {};
    if (file.fd >= 0 &&
        (::fstat(file.fd, &opened) != 0 || opened.st_dev != info.st_dev || opened.st_ino != info.st_ino))
      return fail("file changed while it was being opened");
  }
  return read(path, file.fd, is_found);
}

Result<File> File::open_regular(const std::string& path) {
  if (auto obstacle = find_obstacle(path, any_place)) return fail(std::move(*obstacle));
  const Descriptor place{open_path(path)};
  return read_regular(path, place.fd);
}

std::array<std::byte, 16> File::first_bytes(const std::string& path) {
  std::array<std::byte, 16> bytes{};
  if (find_obstacle(path, any_place)) return bytes;
  const Descriptor file{::open(reachable(path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  struct stat info {};
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0 || !S_ISREG(info.st_mode)) return bytes;
  (void)!::read(file.fd, bytes.data(), bytes.size());
  return bytes;
}

Result<File> File::open_found(const std::string& path) {
  if (auto obstacle = find_obstacle(path, any_place)) return fail(std::move(*obstacle));
  const Descriptor place{open_path(path)};
  if (const char* wrong = check_place(place.fd, true)) return fail(wrong);
  return read_regular(path, place.fd, true);
}

Result<File> File::open_named(const std::string& path, const AllowedFiles& allowed) {
  if (!path.starts_with('/')) return fail("relative path with unknown base directory");
  if (auto obstacle = find_obstacle(path, allowed)) return fail(std::move(*obstacle));
  const bool in_root = !allowed.root.empty();
  const std::string shown = in_root ? path_in_root(allowed.root, path) : path;
  const Descriptor place{in_root ? find_in_root(allowed.root, path) : open_path(path)};
  if (const char* wrong = check_place(place.fd, allowed.network)) return fail(wrong);
  return read_regular(shown, place.fd, true);
}

Result<File> File::read(const std::string& path, int fd, bool is_found) {
  if (fd < 0) return fail_errno("cannot open");
  const bool standard_input = fd == STDIN_FILENO;
  struct stat info {};
  if (::fstat(fd, &info) != 0) return fail_errno("cannot read");
  if (S_ISDIR(info.st_mode)) return fail("is a directory");

  File result;
  result.path_ = path;
  // Standard input may be a file, at another position than the start: then it is read.
  const bool is_whole = !standard_input || ::lseek(fd, 0, SEEK_CUR) == 0;
  if (S_ISREG(info.st_mode) && info.st_size > 0 && is_whole) {
    if (!standard_input) result.mode_ = info.st_mode & 07777;
    void* map = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (map != MAP_FAILED) {
      result.map_ = map;
      result.map_size_ = static_cast<std::size_t>(info.st_size);
      result.mapping_ = add_mapping(path, map, result.map_size_);
      result.opened_ = state_of(info);
      result.stored_size_ = stored_size(info);
      if (!is_found) count_opened(all_named, result.id(), result.stored_size_);
      if (standard_input) ::lseek(fd, 0, SEEK_END); // as after reading it
      return result;
    }
    if (errno != ENODEV) return fail_errno("cannot map");
  }
  auto bytes = read_stream(fd);
  if (!bytes) return unexpected(bytes.error());
  result.stream_ = std::move(*bytes);
  if (S_ISREG(info.st_mode) && !standard_input) result.mode_ = info.st_mode & 07777;
  return result;
}

File::OpenedBytes File::opened_bytes() noexcept {
  return {all_named, all_found};
}

void File::accept() const {
  if (map_) count_opened(all_found, id(), stored_size_);
}

File File::from_bytes(std::string path, std::vector<std::byte> bytes) {
  File result;
  result.path_ = std::move(path);
  result.owned_ = std::move(bytes);
  return result;
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)), mode_(other.mode_), mapping_(std::exchange(other.mapping_, nullptr)),
      map_(std::exchange(other.map_, nullptr)), map_size_(std::exchange(other.map_size_, 0)),
      stored_size_(other.stored_size_), opened_(other.opened_), stream_(std::move(other.stream_)),
      owned_(std::move(other.owned_)) {}

File& File::operator=(File&& other) noexcept {
  if (this == &other) return *this;
  release();
  path_ = std::move(other.path_);
  mode_ = other.mode_;
  mapping_ = std::exchange(other.mapping_, nullptr);
  map_ = std::exchange(other.map_, nullptr);
  map_size_ = std::exchange(other.map_size_, 0);
  stored_size_ = other.stored_size_;
  opened_ = other.opened_;
  stream_ = std::move(other.stream_);
  owned_ = std::move(other.owned_);
  return *this;
}

File::~File() {
  release();
}

int File::reopen() const {
  if (!map_) return -1;
  const int fd = ::open(reachable(path_).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat info {};
  if (fd < 0 || (::fstat(fd, &info) == 0 && state_of(info).id == id())) return fd;
  ::close(fd);
  return -1;
}

File::State File::state_of(const struct stat& info) {
  return {
      .id = {info.st_dev, info.st_ino}, .seconds = info.st_mtim.tv_sec, .nanoseconds = info.st_mtim.tv_nsec};
}

bool File::is_unchanged() const {
  if (!map_) return true;
  struct stat now {};
  return ::stat(reachable(path_).c_str(), &now) == 0 && state_of(now) == opened_ &&
         static_cast<std::uint64_t>(now.st_size) == map_size_;
}

void File::release() {
  if (mapping_) {
    mapping_->end = 0;
    if (mapping_->intact) mapping_->used = false;
  }
  mapping_ = nullptr;
  if (map_) ::munmap(map_, map_size_);
  map_ = nullptr;
  map_size_ = 0;
}

std::span<const std::byte> File::bytes() const {
  if (map_) return {static_cast<const std::byte*>(map_), map_size_};
  return stream_.size() != 0 ? stream_.bytes() : owned_;
}

} // namespace sframe::elf
