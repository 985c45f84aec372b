// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Minidumps of Linux and Android, as breakpad, crashpad and rust-minidump (Firefox) write them: the format of
// Windows (minidumpapiset.h) with streams for Linux (breakpad's minidump_format.h). Core::parse() reads them.

#pragma once

#include <cstddef>
#include <span>

#pragma GCC visibility push(default)

namespace sframe::core {

/// True if the bytes start as a minidump does: "MDMP".
bool is_minidump(std::span<const std::byte> bytes);

} // namespace sframe::core

#pragma GCC visibility pop
