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

/// The instruction that starts `bytes`, which lies at `address`, as the ABI's assembler writes it: "push
/// %rbp" (AMD64 in AT&T syntax, as the GNU tools), "stp x29, x30, [sp, #-0x20]!". Bytes in hexadecimal where
/// the disassembler does not know it. For single instructions: sets up a disassembler each time.
std::string instruction_text(const AbiTraits& abi, std::span<const std::byte> bytes, std::uint64_t address);

} // namespace sframe::code
