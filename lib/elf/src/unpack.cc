// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unpacks into memory that the kernel allocates page by page, on the first write: pages of zeros are never
// written.

#include "sframe/elf/unpack.h"

#include "sframe/base/budget.h"
#include "unpack.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <utility>
#include <vector>

namespace sframe::elf {

Unpacked::Unpacked(Unpacked&& other) noexcept {
  *this = std::move(other);
}

Unpacked& Unpacked::operator=(Unpacked&& other) noexcept {
  std::swap(map_, other.map_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(damaged_, other.damaged_);
  return *this;
}

Unpacked::~Unpacked() {
  if (map_) ::munmap(map_, capacity_);
}

/// Appends to an Unpacked.
class SparseWriter {
public:
  explicit SparseWriter(UnpackLimits limits) : limits_(limits) {}

  /// An error message, or nullptr.
  const char* append(std::span<const std::byte> bytes) {
    if (bytes.size() > limits_.size - target_.size_) return "decompressed data would be too large";
    if (!reserve(target_.size_ + bytes.size())) return "not enough memory for the decompressed data";
    while (!bytes.empty()) {
      const std::size_t piece = std::min(bytes.size(), page - target_.size_ % page);
      if (!is_zero(bytes.first(piece))) {
        memory_ += page;
        if (memory_ > limits_.memory) return "decompressed data would be too large";
        std::memcpy(static_cast<std::byte*>(target_.map_) + target_.size_, bytes.data(), piece);
      }
      target_.size_ += piece;
      bytes = bytes.subspan(piece);
    }
    return nullptr;
  }

  Unpacked finish(bool damaged) {
    target_.damaged_ = damaged;
    return std::move(target_);
  }

private:
  static constexpr std::size_t page = 4096;

  static bool is_zero(std::span<const std::byte> bytes) {
    return bytes.front() == std::byte{0} &&
           std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
  }

  bool reserve(std::size_t size) {
    if (size <= target_.capacity_) return true;
    const std::size_t capacity = std::max<std::size_t>({size, 2 * target_.capacity_, std::size_t(1) << 24});
    void* map = target_.map_ ? ::mremap(target_.map_, target_.capacity_, capacity, MREMAP_MAYMOVE)
                             : ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) return false;
    target_.map_ = map;
    target_.capacity_ = capacity;
    return true;
  }

  UnpackLimits limits_;
  Unpacked target_;
  std::uint64_t memory_ = 0;
};

namespace {

struct Format {
  std::string_view name;
  std::string_view magic;
  MakeDecompressor make;
};

constexpr Format formats[] = {
    {"zstd", {"\x28\xb5\x2f\xfd", 4}, make_zstd_decompressor},
    {"xz", {"\xfd\x37\x7a\x58\x5a\x00", 6}, make_xz_decompressor},
    {"lz4", {"\x04\x22\x4d\x18", 4}, make_lz4_decompressor},
    {"gzip", {"\x1f\x8b\x08", 3}, make_gzip_decompressor},
};

const Format* format_of(std::span<const std::byte> bytes) {
  for (const Format& format : formats)
    if (bytes.size() >= format.magic.size() &&
        std::memcmp(bytes.data(), format.magic.data(), format.magic.size()) == 0)
      return &format;
  return nullptr;
}

} // namespace

bool is_packed(std::span<const std::byte> bytes) {
  return format_of(bytes) != nullptr;
}

Result<Unpacked> unpack(std::span<const std::byte> packed, UnpackLimits limits) {
  const Format* format = format_of(packed);
  if (!format) return fail("unknown compression format");
  limits.memory += limits.expansion * packed.size();
  SparseWriter writer(limits);
  std::vector<std::byte> buffer(std::size_t(1) << 17);
  // Consecutive frames are decompressed; other trailing bytes are ignored.
  while (format_of(packed) == format) {
    const auto decoder = format->make();
    if (!decoder) return fail("this build does not support " + std::string(format->name) + " compression");
    auto status = Decompressor::Status::more;
    while (status == Decompressor::Status::more) {
      std::span<std::byte> out = buffer;
      const std::size_t before = packed.size();
      status = decoder->step(packed, out);
      const std::size_t made = buffer.size() - out.size();
      if (auto ended = Budget::all_ended()) return unexpected(std::move(*ended));
      if (const char* why = writer.append(std::span(buffer).first(made))) return fail(why);
      if (status == Decompressor::Status::more && made == 0 && packed.size() == before)
        status = Decompressor::Status::damaged; // the input ends early
    }
    if (status == Decompressor::Status::damaged) return writer.finish(true);
  }
  return writer.finish(false);
}

} // namespace sframe::elf
