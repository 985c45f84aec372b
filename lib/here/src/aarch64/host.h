// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: AArch64 as the host. The return address is stored right above the frame pointer (the frame
// record, AAPCS64 section 6.4.6), or alone.

#pragma once

#include "plain_rule.h"
#include "sframe/abi.h"
#include "sframe/cfi/rows.h"
#include "sframe/unwind/registers.h"

#include <bit>
#include <sys/auxv.h>

namespace sframe::here::host {

inline constexpr Abi abi = std::endian::native == std::endian::big ? Abi::aarch64_big : Abi::aarch64_little;
inline constexpr unsigned instruction_shift = 2;        ///< instructions start at multiples of 4
inline constexpr bool mmap_arguments_in_memory = false; ///< of the system call
inline constexpr std::int64_t sp_from_cfa = 0;
/// What rows of CFI are decoded with.
using CfiRegisters = cfi::GeneralRegisters;
/// The siginfo lies below the ucontext (lib/unwind/src/abi/aarch64.cc).
inline constexpr std::uint64_t ucontext_from_sp = 128;

/// bit 0 CFA by FP, 1 FP saved, 2-12 words from the record to the CFA, 13-24 words of the CFA's offset
using RecordDistance = BitField<2, 11, 8>;
using CfaOffset = BitField<13, 12, 8>;

constexpr std::int64_t record_of(const PlainRule& rule) {
  return rule.fp_saved ? rule.fp_offset : rule.ra_offset;
}
constexpr bool can_pack(const PlainRule& rule) {
  return (!rule.fp_saved || rule.ra_offset == rule.fp_offset + 8) && CfaOffset::fits(rule.cfa_offset) &&
         RecordDistance::fits(-record_of(rule));
}
constexpr std::uint32_t pack(const PlainRule& rule) {
  return rule.fp_based | rule.fp_saved << 1 | RecordDistance::put(-record_of(rule)) |
         CfaOffset::put(rule.cfa_offset);
}
constexpr PlainRule unpack(std::uint32_t packed) {
  const bool fp_saved = packed & 2;
  const std::int64_t record = -RecordDistance::get(packed);
  return {(packed & 1) != 0, fp_saved, CfaOffset::get(packed), record + 8 * fp_saved, record * fp_saved};
}

/// The address in a return address. XPACLRI, a hint instruction, removes the authentication code from x30,
/// and is a nop on machines without pointer authentication (Arm Architecture Reference Manual, C6.2).
inline std::uint64_t strip(std::uint64_t address) {
  register std::uint64_t x30 asm("x30") = address;
  asm("hint #7" : "+r"(x30));
  return x30;
}

/// VG, or 0 on a processor without scalable vectors. The instruction is `cntd x0`, which assemblers accept
/// only for such processors.
inline std::uint64_t vector_granule() {
  if (!(::getauxval(AT_HWCAP) & HWCAP_SVE)) return 0;
  register std::uint64_t x0 asm("x0");
  asm volatile(".inst 0x04e0e3e0" : "=r"(x0));
  return x0;
}

/// pc, SP and the call-saved registers, in the function into which this is inlined.
[[gnu::always_inline]] inline void capture(unwind::Registers& to) {
  asm volatile("adr x9, .\n\t"
               "str x9, %[pc]\n\t"
               "stp x19, x20, [%[at], #19*8]\n\t"
               "stp x21, x22, [%[at], #21*8]\n\t"
               "stp x23, x24, [%[at], #23*8]\n\t"
               "stp x25, x26, [%[at], #25*8]\n\t"
               "stp x27, x28, [%[at], #27*8]\n\t"
               "stp x29, x30, [%[at], #29*8]\n\t"
               "mov x9, sp\n\t"
               "str x9, [%[at], #31*8]"
               : [pc] "=m"(to.pc), "=m"(to.values)
               : [at] "r"(to.values.data())
               : "x9");
  to.known = 0xfff80000; // x19 to sp
}

} // namespace sframe::here::host
