// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AArch64 instructions as text.

#include "capstone_text.h"
#include "machines.h"

namespace sframe::code {

// Instructions are little-endian in programs of either byte order.
const Disassemble disassemblers::aarch64_little = capstone_text<CS_ARCH_ARM64, CS_MODE_ARM>;
const Disassemble disassemblers::aarch64_big = capstone_text<CS_ARCH_ARM64, CS_MODE_ARM>;

} // namespace sframe::code
