// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One instruction as text, for reports.

#pragma once

#include "sframe/abi.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sframe::code {

/// The first instruction of `bytes`, which are at `address`, in the ABI's assembler syntax: "push %rbp" (AT&T
/// syntax for AMD64, as in GNU tools), "stp x29, x30, [sp, #-0x20]!". Hexadecimal bytes if the disassembler
/// does not know it. Slow: sets up a disassembler for each call.
std::string instruction_text(const AbiTraits& abi, std::span<const std::byte> bytes, std::uint64_t address);

} // namespace sframe::code
