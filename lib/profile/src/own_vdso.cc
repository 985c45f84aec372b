// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/profile/own_vdso.h"

#include "sframe/base/proc_text.h"
#include "sframe/elf/image.h"

#include <algorithm>
#include <string>

namespace sframe::profile {

namespace {

std::span<const std::byte> find() {
  const std::string maps = read_proc_file("/proc/self/maps");
  for (const MapsLine& line : parse_maps(maps))
    if (line.is_vdso()) // NOLINTNEXTLINE: of this process
      return {reinterpret_cast<const std::byte*>(line.start), line.end - line.start};
  return {};
}

} // namespace

std::span<const std::byte> own_vdso_id() {
  static const auto image = elf::Image::parse(find());
  return image ? image->build_id() : std::span<const std::byte>{};
}

std::span<const std::byte> own_vdso(std::span<const std::byte> build_id) {
  static const std::span<const std::byte> bytes = find();
  const bool is_same = !build_id.empty() && std::ranges::equal(own_vdso_id(), build_id);
  return is_same ? bytes : std::span<const std::byte>{};
}

} // namespace sframe::profile
