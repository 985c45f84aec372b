// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compression formats that lib/elf reads in this build: those whose libraries CMake has found. What the
// library itself says cannot show that it leaves one out.

#pragma once

#include <string_view>

namespace sframe::test {

/// True if the library of "zstd", "xz", "lz4" or "gzip" was there.
bool is_built_with(std::string_view format);

} // namespace sframe::test
