// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: s390x as the host. The CFA is 160 bytes above the caller's SP, and registers are saved in those
// 160 bytes.

#pragma once

#include "plain_rule.h"
#include "sframe/abi.h"
#include "sframe/cfi/rows.h"
#include "sframe/unwind/registers.h"

namespace sframe::here::host {

inline constexpr Abi abi = Abi::s390x;
inline constexpr unsigned instruction_shift = 1;       ///< instructions start at even addresses
inline constexpr bool mmap_arguments_in_memory = true; ///< of the system call
inline constexpr std::int64_t sp_from_cfa = -160;
/// What rows of CFI are decoded with.
using CfiRegisters = cfi::GeneralRegisters;
/// The register save area, the trampoline's code and the siginfo are below the ucontext
/// (lib/unwind/src/abi/s390x.cc).
inline constexpr std::uint64_t ucontext_from_sp = 296;

/// bit 0 CFA by FP, 1 FP saved, 2-6 words from FP's place to the CFA, 7-11 from RA's, 12-24 of the CFA's
/// offset
using FpDistance = BitField<2, 5, 8>;
using RaDistance = BitField<7, 5, 8>;
using CfaOffset = BitField<12, 13, 8>;

constexpr bool can_pack(const PlainRule& rule) {
  return CfaOffset::fits(rule.cfa_offset) && RaDistance::fits(-rule.ra_offset) &&
         FpDistance::fits(-rule.fp_offset);
}
constexpr std::uint32_t pack(const PlainRule& rule) {
  return rule.fp_based | rule.fp_saved << 1 | FpDistance::put(-rule.fp_offset) |
         RaDistance::put(-rule.ra_offset) | CfaOffset::put(rule.cfa_offset);
}
constexpr PlainRule unpack(std::uint32_t packed) {
  return {(packed & 1) != 0, (packed & 2) != 0, CfaOffset::get(packed), -RaDistance::get(packed),
          -FpDistance::get(packed)};
}

/// The address in a return address.
inline std::uint64_t strip(std::uint64_t address) {
  return address;
}

/// VG: there is none.
inline std::uint64_t vector_granule() {
  return 0;
}

/// pc, SP and the call-saved registers, in the function into which this is inlined. The numbers of
/// floating-point registers are not in the order of their names: 24 to 31 are f8 f10 f12 f14 f9 f11 f13 f15.
[[gnu::always_inline]] inline void capture(unwind::Registers& to) {
  asm volatile("larl %%r1, 0f\n"
               "0:\n\t"
               "stg %%r1, %[pc]\n\t"
               "stmg %%r6, %%r15, 6*8(%[at])\n\t"
               "std %%f8, 24*8(%[at])\n\t"
               "std %%f10, 25*8(%[at])\n\t"
               "std %%f12, 26*8(%[at])\n\t"
               "std %%f14, 27*8(%[at])\n\t"
               "std %%f9, 28*8(%[at])\n\t"
               "std %%f11, 29*8(%[at])\n\t"
               "std %%f13, 30*8(%[at])\n\t"
               "std %%f15, 31*8(%[at])"
               : [pc] "=Q"(to.pc), "=m"(to.values)
               : [at] "a"(to.values.data())
               : "r1");
  to.known = 0xff00ffc0; // r6 to r15, f8 to f15
}

} // namespace sframe::here::host
