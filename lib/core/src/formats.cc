// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formats of cores. A file of its own, since test/extension replaces it.

#include "sframe/core/core_format.h"

namespace sframe::core {

Result<Core> Core::parse(std::span<const std::byte> bytes) {
  static constexpr const CoreFormat* all[] = {
#define SFRAME_CORE_FORMAT(name) &formats::name,
#include "sframe/core_formats.def"
  };
  for (const CoreFormat* const format : all) {
    if (!format->recognises(bytes)) continue;
    auto data = format->read(bytes);
    if (!data) return unexpected(data.error());
    return Core(std::move(*data));
  }
  return fail("not a core file");
}

} // namespace sframe::core
