// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decompresses into a Spool, which does not store pages of zeros.

#include "sframe/elf/unpack.h"

#include "sframe/base/budget.h"
#include "unpack.h"

#include <cstring>
#include <string>
#include <vector>

namespace sframe::elf {

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
  constexpr const char* too_large = "decompressed data would be too large";
  const Format* format = format_of(packed);
  if (!format) return fail("unknown compression format");
  limits.memory += limits.expansion * packed.size();
  Unpacked result;
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
      if (status == Decompressor::Status::too_large)
        return fail("cannot decompress: its window has more than 2 GiB");
      const std::size_t made = buffer.size() - out.size();
      if (auto ended = Budget::all_ended()) return unexpected(std::move(*ended));
      if (made > limits.size - result.spool_.size()) return fail(too_large);
      if (auto kept = result.spool_.append(std::span(buffer).first(made)); !kept)
        return fail("cannot decompress: " + kept.error().what);
      if (result.spool_.stored() > limits.memory) return fail(too_large);
      if (status == Decompressor::Status::more && made == 0 && packed.size() == before)
        status = Decompressor::Status::damaged; // the input ends early
    }
    result.damaged_ = status == Decompressor::Status::damaged;
    if (result.damaged_) break;
  }
  if (auto finished = result.spool_.finish(); !finished)
    return fail("cannot decompress: " + finished.error().what);
  return result;
}

} // namespace sframe::elf
