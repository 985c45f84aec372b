// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/core/core_file.h"

#include "sframe/core/crash_report.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace sframe::core {

using namespace elf;

namespace {

/// Limits for decompressing a core: zeros, which cost time only, and other bytes.
UnpackLimits unpack_limits(Limits limits, std::uint64_t packed) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20, all = std::numeric_limits<std::uint64_t>::max();
  if (limits == Limits::off) return {.size = all / 2, .memory = all / 2, .expansion = 0};
  const std::uint64_t part = limits == Limits::strict ? 4 : 1;
  const std::uint64_t times = std::min(packed, all / 4096);
  return {
      .size = (4096 * mib + 1024 * times) / part, .memory = (64 * mib + 64 * times) / part, .expansion = 0};
}

} // namespace

Result<CoreFile> CoreFile::open(const std::string& path, Limits limits) {
  auto file = File::open(path);
  if (!file) return unexpected(file.error());
  auto core = view(file->bytes(), limits);
  if (core) core->file_ = std::move(*file);
  return core;
}

Result<CoreFile> CoreFile::view(std::span<const std::byte> bytes, Limits limits) {
  const std::uint64_t size = bytes.size();
  Unpacked unpacked;
  std::vector<std::byte> in_report; // until it is decompressed
  const bool is_report = is_crash_report(bytes);
  if (is_report) {
    auto packed = core_in_report(bytes);
    if (!packed) return unexpected(packed.error());
    in_report = std::move(*packed);
    bytes = in_report;
  }
  if (is_report || is_packed(bytes)) {
    auto result = unpack(bytes, unpack_limits(limits, size));
    if (!result) return unexpected(result.error());
    if (result->damaged() && result->bytes().empty())
      return fail("compressed file is damaged: nothing can be decompressed");
    unpacked = std::move(*result);
    bytes = unpacked.bytes();
  }
  auto core = Core::parse(bytes);
  if (!core) return unexpected(core.error());
  const std::uint64_t cost_size = std::min<std::uint64_t>(bytes.size(), 64 * size);
  return CoreFile(std::move(unpacked), std::move(*core), cost_size);
}

} // namespace sframe::core
