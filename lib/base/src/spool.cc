// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file is sparse: each Spool has a part of it, of a fixed size, and frees what it has written by a hole.
// A part reads as zeros where nothing was written; so one that has no hole, since the file system makes none,
// is not used again.

#include "sframe/base/spool.h"

#include "sframe/base/retry.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sframe {

namespace {

constexpr std::size_t page = 4096;

/// The parts of the file: 64 times 128 GiB, half of the largest file of ext4.
constexpr std::uint64_t part_size = std::uint64_t{1} << 37;

struct SpoolFile {
  std::string folder;
  int fd = -1;
  std::atomic<std::uint64_t> used = 0; ///< bit N: part N

  SpoolFile();
  int take();
  void give_back(int place);
  bool extend(std::uint64_t to) const;
  unexpected<Problem> failed(int why) const {
    return fail("cannot write a temporary file in " + folder + ": " + std::strerror(why));
  }
};

SpoolFile::SpoolFile() {
  const char* const wanted = std::getenv("TMPDIR");
  folder = wanted && *wanted ? wanted : "/tmp";
  fd = retry([&] { return ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600); });
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return;
  std::string name = folder + "/sframe-XXXXXX"; // file systems without O_TMPFILE
  fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd >= 0) ::unlink(name.c_str());
}

/// The number of a free part, or -1.
int SpoolFile::take() {
  std::uint64_t before = used.load();
  for (;;) {
    const int place = std::countr_one(before);
    if (place == 64) return -1;
    if (used.compare_exchange_weak(before, before | std::uint64_t{1} << place)) return place;
  }
}

void SpoolFile::give_back(int place) {
  const auto start = static_cast<off_t>(static_cast<std::uint64_t>(place) * part_size);
  if (::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start, off_t{part_size}) != 0) return;
  used &= ~(std::uint64_t{1} << place);
}

/// Reading a mapping beyond the file's end would fail. If the last byte of a Spool is there, it is one of the
/// zeros that were not written. Not by ftruncate(), which would cut what others write at the same time.
bool SpoolFile::extend(std::uint64_t to) const {
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0) return false;
  if (static_cast<std::uint64_t>(info.st_size) >= to) return true;
  const char zero = 0;
  return retry([&] { return ::pwrite(fd, &zero, 1, static_cast<off_t>(to - 1)); }) == 1;
}

/// Never destroyed: threads may use it until the process ends.
SpoolFile& spool_file() {
  static SpoolFile& file = *new SpoolFile;
  return file;
}

/// Writing beyond it would end the process by SIGXFSZ.
bool is_beyond_limit(std::uint64_t end) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && end > limit.rlim_cur;
}

bool is_zero(std::span<const std::byte> bytes) {
  return bytes.front() == std::byte{0} && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

/// Calls f(piece, is_zero) for the part of `bytes` in each page; `at`: the place of the first byte.
template <class F> void each_page(std::span<const std::byte> bytes, std::uint64_t at, F&& f) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min<std::size_t>(page - at % page, bytes.size()));
    f(piece, is_zero(piece));
    at += piece.size();
    bytes = bytes.subspan(piece.size());
  }
}

} // namespace

void prepare_spools() {
  (void)spool_file();
}

void Spool::swap(Spool& other) noexcept {
  std::swap(map_, other.map_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(stored_, other.stored_);
  std::swap(place_, other.place_);
}

Spool::~Spool() {
  if (map_) ::munmap(map_, capacity_);
  if (place_ != in_memory) spool_file().give_back(place_);
}

Result<void> Spool::append(std::span<const std::byte> bytes) {
  if (place_ == in_memory && stored_ + bytes.size() > most_in_memory && spool_file().fd >= 0)
    if (auto moved = move_to_file(); !moved) return moved;
  return place_ == in_memory ? append_in_memory(bytes) : append_to_file(bytes);
}

Result<void> Spool::append_in_memory(std::span<const std::byte> bytes) {
  if (auto enough = reserve(size_ + bytes.size()); !enough) return enough;
  each_page(bytes, size_, [&](std::span<const std::byte> piece, bool zero) {
    if (!zero) std::memcpy(static_cast<std::byte*>(map_) + size_, piece.data(), piece.size());
    if (!zero) stored_ += page;
    size_ += piece.size();
  });
  return {};
}

/// Pages without zeros between them are written at once.
Result<void> Spool::append_to_file(std::span<const std::byte> bytes) {
  Result<void> result;
  std::size_t first = 0, end = 0; // of those that are not written yet
  const auto write_run = [&] {
    if (result && first < end) result = write(bytes.subspan(first, end - first));
    size_ += end - first;
  };
  each_page(bytes, size_, [&](std::span<const std::byte> piece, bool zero) {
    if (!zero) {
      end += piece.size();
      stored_ += page;
      return;
    }
    write_run();
    size_ += piece.size();
    first = end += piece.size();
  });
  write_run();
  return result;
}

Result<void> Spool::reserve(std::uint64_t size) {
  if (size <= capacity_) return {};
  const std::uint64_t capacity = std::max({size, 2 * capacity_, std::uint64_t{1} << 18});
  void* const map = map_ ? ::mremap(map_, capacity_, capacity, MREMAP_MAYMOVE)
                         : ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) return fail("not enough memory");
  map_ = map;
  capacity_ = capacity;
  return {};
}

Result<void> Spool::move_to_file() {
  const int place = spool_file().take();
  if (place < 0) return {}; // it stays in memory
  place_ = place;
  const std::span all = bytes();
  size_ = stored_ = 0;
  auto copied = append_to_file(all);
  if (map_) ::munmap(std::exchange(map_, nullptr), std::exchange(capacity_, 0));
  return copied;
}

Result<void> Spool::write(std::span<const std::byte> bytes) {
  const SpoolFile& file = spool_file();
  std::uint64_t at = static_cast<std::uint64_t>(place_) * part_size + size_;
  if (size_ + bytes.size() > part_size || is_beyond_limit(at + bytes.size())) return file.failed(EFBIG);
  while (!bytes.empty()) {
    const ssize_t done =
        retry([&] { return ::pwrite(file.fd, bytes.data(), bytes.size(), static_cast<off_t>(at)); });
    if (done <= 0) return file.failed(done < 0 ? errno : EIO);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    at += static_cast<std::uint64_t>(done);
  }
  return {};
}

Result<void> Spool::finish() {
  if (place_ == in_memory || map_ || size_ == 0) return {};
  const SpoolFile& file = spool_file();
  const std::uint64_t start = static_cast<std::uint64_t>(place_) * part_size;
  if (size_ > part_size || is_beyond_limit(start + size_)) return file.failed(EFBIG);
  if (!file.extend(start + size_)) return file.failed(errno);
  void* const map =
      ::mmap(nullptr, size_, PROT_READ, MAP_SHARED | MAP_NORESERVE, file.fd, static_cast<off_t>(start));
  if (map == MAP_FAILED) return file.failed(errno);
  map_ = map;
  capacity_ = size_;
  return {};
}

} // namespace sframe
