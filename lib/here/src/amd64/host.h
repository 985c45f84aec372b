// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: AMD64 as the host. The return address is always at CFA-8.

#pragma once

#include "plain_rule.h"
#include "sframe/abi.h"
#include "sframe/cfi/rows.h"
#include "sframe/unwind/registers.h"

static_assert(sizeof(void*) == 8, "the ABI with 4-byte pointers (x32) is not supported");

namespace sframe::here::host {

inline constexpr Abi abi = Abi::amd64;
inline constexpr unsigned instruction_shift = 0;        ///< instructions start anywhere
inline constexpr bool mmap_arguments_in_memory = false; ///< of the system call
inline constexpr std::int64_t sp_from_cfa = 0;
/// What rows of CFI are decoded with.
using CfiRegisters = cfi::GeneralAmd64Registers;
/// In the signal trampoline, SP is the address of the ucontext (lib/unwind/src/abi/amd64.cc).
inline constexpr std::uint64_t ucontext_from_sp = 0;

/// bit 0 CFA by FP, 1 FP saved, 2-7 words from FP's place to the CFA, 8-24 words of the CFA's offset
using FpDistance = BitField<2, 6, 8>;
using CfaOffset = BitField<8, 17, 8>;

constexpr bool can_pack(const PlainRule& rule) {
  return rule.ra_offset == -8 && CfaOffset::fits(rule.cfa_offset) && FpDistance::fits(-rule.fp_offset);
}
constexpr std::uint32_t pack(const PlainRule& rule) {
  return rule.fp_based | rule.fp_saved << 1 | FpDistance::put(-rule.fp_offset) |
         CfaOffset::put(rule.cfa_offset);
}
constexpr PlainRule unpack(std::uint32_t packed) {
  return {(packed & 1) != 0, (packed & 2) != 0, CfaOffset::get(packed), -8, -FpDistance::get(packed)};
}

/// The address in a return address.
inline std::uint64_t strip(std::uint64_t address) {
  return address;
}

/// VG: there is none.
inline std::uint64_t vector_granule() {
  return 0;
}

/// pc, SP and the call-saved registers, in the function into which this is inlined.
[[gnu::always_inline]] inline void capture(unwind::Registers& to) {
  asm volatile("leaq 0f(%%rip), %%rax\n"
               "0:\n\t"
               "movq %%rax, %[pc]\n\t"
               "movq %%rbx, 3*8(%[at])\n\t"
               "movq %%rbp, 6*8(%[at])\n\t"
               "movq %%rsp, 7*8(%[at])\n\t"
               "movq %%r12, 12*8(%[at])\n\t"
               "movq %%r13, 13*8(%[at])\n\t"
               "movq %%r14, 14*8(%[at])\n\t"
               "movq %%r15, 15*8(%[at])"
               : [pc] "=m"(to.pc), "=m"(to.values)
               : [at] "r"(to.values.data())
               : "rax");
  to.known = 1u << 3 | 1u << 6 | 1u << 7 | 0xfu << 12;
}

} // namespace sframe::here::host
