// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread's general registers by DWARF number, and the kernel's layout of them: that of NT_PRSTATUS in
// cores, whose register part is also the result of PTRACE_GETREGSET. Layouts are data, one file per machine
// in src/abi/. Minidumps have layouts of their own.

#pragma once

#include "sframe/abi.h"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#pragma GCC visibility push(default)

namespace sframe::core {

/// Register values by DWARF number; valid only if marked known.
struct RegisterValues {
  static constexpr std::uint16_t count = 72; ///< more than the highest number of any machine here

  std::array<std::uint64_t, count> values{};
  std::bitset<count> known;
  std::uint64_t pc = 0;      ///< the program counter; it need not have a DWARF number
  bool lower_halves = false; ///< the upper 32 bits of all of them are 0, and unknown

  /// The value of register `reg`, or nothing if it is unknown or out of range.
  std::optional<std::uint64_t> get(std::uint16_t reg) const {
    return reg < count && known[reg] ? std::optional(values[reg]) : std::nullopt;
  }
  /// Sets register `reg`; no effect for a number out of range.
  void set(std::uint16_t reg, std::uint64_t value) {
    if (reg >= count) return;
    values[reg] = value;
    known[reg] = true;
  }
};

/// True if the machine's register layout is known (EM_X86_64, EM_AARCH64, EM_S390).
bool has_register_layout(std::uint16_t machine);

/// Decodes the kernel's user_regs_struct (the pr_reg of NT_PRSTATUS, the NT_PRSTATUS regset of ptrace) in the
/// machine's byte order. Nothing if the machine is unknown or there are too few bytes.
std::optional<RegisterValues> decode_registers(std::uint16_t machine, ByteOrder order,
                                               std::span<const std::byte> regs);

/// The same, where the process has died in code of another mode: Linux then writes the lower halves of all
/// threads' registers, as that mode has them (CoreThread). Nothing if the machine has no other mode.
std::optional<RegisterValues> decode_lower_halves(std::uint16_t machine, ByteOrder order,
                                                  std::span<const std::byte> regs);

/// Decodes a thread's context in a minidump (little-endian; CONTEXT of winnt.h, for AArch64 also breakpad's
/// former layout). Registers that its flags exclude are unknown. Nothing if the machine has no such context,
/// its bytes are too few, or the flags are those of another machine or exclude the program counter.
std::optional<RegisterValues> decode_context(std::uint16_t machine, std::span<const std::byte> context);

/// Adds to `into` the floating-point registers in which functions save general ones (s390x; none on other
/// machines), from the kernel's NT_FPREGSET in the machine's byte order. False if there are too few bytes;
/// the registers that fit are set.
bool decode_fp_registers(std::uint16_t machine, ByteOrder order, std::span<const std::byte> regs,
                         RegisterValues& into);

/// Decodes the user registers of a sample of perf events (perf_event_open(2), PERF_SAMPLE_REGS_USER): a word
/// for each bit of `mask`, in the machine's byte order. Nothing if the machine is unknown, there are too few
/// bytes, or the program counter is not among them.
std::optional<RegisterValues> decode_sampled_registers(std::uint16_t machine, ByteOrder order,
                                                       std::uint64_t mask, std::span<const std::byte> regs);

/// The kernel's sets of scalable vector registers of AArch64, which start with their length: of its usual
/// mode, NT_ARM_SVE, and of the streaming mode, NT_ARM_SSVE (numbers of notes and of ptrace's sets). To be
/// decoded in this order.
enum class VectorSet : std::uint16_t { usual = 0x405, streaming = 0x40b };
inline constexpr std::array vector_sets = {VectorSet::usual, VectorSet::streaming};
inline constexpr std::size_t vector_set_header = 16; ///< bytes that decode_vector_length() needs

/// Adds to `into` VG, the vectors' length in units of 64 bits, by the header of a set in the machine's byte
/// order; the streaming mode's only if the thread is in that mode. False if there are too few bytes, or the
/// length is none that a processor can have; true without effect on machines without such vectors.
bool decode_vector_length(VectorSet set, std::uint16_t machine, ByteOrder order,
                          std::span<const std::byte> header, RegisterValues& into);

} // namespace sframe::core

#pragma GCC visibility pop
