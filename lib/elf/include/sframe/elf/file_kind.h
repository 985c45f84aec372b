// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a file is that is no ELF file, for messages.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe::elf {

/// `message` with the kind of file in brackets, if it is known: "not an ELF file (text)", "...
/// (gzip-compressed)",
/// "... (Windows program)". Known are text, compressed files, archives and programs of other systems, by
/// their first bytes. "empty file" if there are none. Constant cost.
std::string with_file_kind(std::string_view message, std::span<const std::byte> bytes);

} // namespace sframe::elf

#pragma GCC visibility pop
