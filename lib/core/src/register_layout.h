// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: where each machine's registers are in the kernel's records and in minidumps, as data: the
// constants defined by the files of abi/. abis.def lists them.

#pragma once

#include "sframe/core/registers.h"

#include <cstdint>
#include <optional>
#include <span>

namespace sframe::core {

/// A register in the kernel's user_regs_struct.
struct RegisterSlot {
  std::uint16_t offset;
  std::uint16_t dwarf;
  std::uint8_t size = 8;
};

/// Registers in a minidump's context that are there if a bit of its flags is set.
struct ContextGroup {
  std::uint32_t flag;
  std::span<const RegisterSlot> registers;
};

/// A layout of the registers in a minidump.
struct ContextLayout {
  std::uint32_t machine;      ///< all of these bits are set in the flags
  std::uint16_t flags_offset; ///< 4 bytes
  std::uint16_t pc_offset;
  std::uint16_t size;                   ///< up to the last register here
  std::span<const ContextGroup> groups; ///< the first one has the pc
};

/// What Linux writes into the core of a 64-bit process that died in code of another mode.
struct OtherMode {
  std::uint16_t machine; ///< e_machine
  std::span<const RegisterSlot> registers;
  std::uint16_t pc_offset;
  std::uint16_t size;
};

/// The headers of the kernel's sets of vector registers whose length the processor decides.
struct ScalableVectors {
  std::uint16_t granule; ///< the DWARF number of the pseudo-register that counts in units of 64 bits
  std::uint16_t length_offset, flags_offset; ///< 2 bytes each
  std::uint16_t active;                      ///< a flag: the thread's registers are those of the set
  std::uint16_t quantum, longest;            ///< bytes: lengths are multiples of it, up to the longest
};

struct RegisterLayout {
  std::uint16_t machine; ///< e_machine
  std::span<const RegisterSlot> registers;
  std::uint16_t pc_offset; ///< of the program counter in user_regs_struct
  std::uint16_t size;      ///< of user_regs_struct
  /// The floating-point registers in NT_FPREGSET in which functions save general registers; empty if there
  /// are none.
  std::span<const RegisterSlot> fp_registers = {};
  std::span<const ContextLayout> contexts = {};
  std::optional<OtherMode> other_mode = std::nullopt;
  std::optional<ScalableVectors> vectors = std::nullopt;
  /// DWARF numbers by those that samples of perf events have (asm/perf_regs.h), `no_register` among them;
  /// and the number there of the program counter.
  std::span<const std::uint8_t> sampled = {};
  std::uint8_t sampled_pc = 0;
};

inline constexpr std::uint8_t no_register = 0xff;

namespace abi {
#define SFRAME_DEFINE_ABI(name, identifier) extern const RegisterLayout name;
#include "sframe/abis.def"
} // namespace abi

/// The layout of the machine, or nullptr.
const RegisterLayout* find_layout(std::uint16_t machine);

/// The layout with OtherMode::machine `id`, or nullptr.
const RegisterLayout* find_layout_of_mode(std::uint16_t id);

} // namespace sframe::core
