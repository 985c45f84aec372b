// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ABI data for walks, beyond sframe::AbiTraits: call-saved registers, the frame record, the signal frame,
// the form of call instructions. One file per ABI in src/abi/, one line each in abis.def.

#pragma once

#include "sframe/abi.h"
#include "sframe/unwind/registers.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe::unwind {

/// A register that the kernel saved in a signal frame.
struct SavedRegister {
  std::uint16_t reg = 0;
  std::uint16_t offset = 0; ///< from SP in the trampoline
};

/// What a signal frame has of its signal, each at an offset from SP in the trampoline; nothing where it has
/// none.
struct SignalRecord {
  std::optional<std::uint16_t> info; ///< siginfo_t, 128 bytes
  /// The kernel writes it for handlers with SA_SIGINFO only: for others, it has what was on the stack before.
  bool info_may_be_missing = false;
  /// Of the thread's last exception, which is not that of the signal if something else has sent it: the
  /// address (8 bytes), the processor's number of the exception, and its error code (8 bytes each).
  std::optional<std::uint16_t> address, exception, error;
};

/// How the mode of the processor is known, for which rules of this ABI do not apply: 32-bit code of an AMD64
/// process (Wine).
struct CodeMode {
  std::uint16_t reg = 0;   ///< the register that has the mode
  std::uint16_t saved = 0; ///< where a signal frame has it, from SP in the trampoline
  bool (*is_other)(std::uint64_t value) = nullptr;
};

/// The code to which a signal handler returns, and where the kernel saved the interrupted registers.
struct SignalTrampoline {
  std::span<const std::uint8_t> code;
  std::span<const std::uint8_t> stops; ///< offsets in `code` at which a thread can be, 0 first
  std::span<const SavedRegister> registers;
  std::uint16_t pc_offset = 0;
  SignalRecord record{};
  /// Where the frame has the thread's alternate stack (uc_stack, a stack_t), from SP in the trampoline; 0: it
  /// does not have it.
  std::uint16_t alternate_stack = 0;
};

/// The layout of a frame record, in bytes from the frame pointer.
struct FrameRecord {
  std::int32_t caller_fp = 0;
  std::int32_t return_address = 0;
  std::int32_t cfa = 0;
  /// The record may lie anywhere in the frame: `cfa` is the lowest possible CFA. The caller's SP is known
  /// only from the caller's own tables or frame record.
  bool cfa_at_least = false;
};

/// What a call leaves on the stack. It can be found without knowing the frame that it belongs to.
struct CallTrace {
  std::int32_t return_address = 0;       ///< from the trace's address
  std::int32_t sp = 0;                   ///< the caller's SP, relative to the trace's address
  std::optional<std::int32_t> sp_saved;  ///< where the caller's SP must be saved, if it is
  std::optional<std::int32_t> caller_fp; ///< where the caller's FP is saved, if it is: 0 or higher addresses
};

/// What 16 bytes of type `long double` are.
enum class LongDouble : std::uint8_t {
  quadruple, ///< IEEE 754 binary128
  x87,       ///< 64 bits with the integer bit, then sign and exponent; six bytes of padding
};

struct UnwindAbi {
  Abi id{};
  std::span<const std::string_view> register_names; ///< by DWARF number
  std::uint64_t call_saved = 0;                     ///< bit N: register N has the same value after a call
  std::uint8_t result_register = 0;                 ///< register that returns an integer or an address
  std::uint64_t left_aligned = 0; ///< bit N: values shorter than register N are at its most significant end
  LongDouble long_double = LongDouble::quadruple;
  bool ra_is_register = true; ///< false: the RA column stands for the pc, not for a register (AMD64)
  std::optional<FrameRecord> frame_record; ///< none if the ABI has no frame record
  CallTrace call_trace;
  /// Code with a back chain: offset from SP to the address of the trace of its own call.
  std::optional<std::int32_t> back_chain;
  std::span<const SignalTrampoline> trampolines;
  std::optional<CodeMode> mode; ///< none if there is only one
  /// Bit N: if an instruction raises signal N, the saved pc is after that instruction.
  std::uint64_t signals_after_fault = 0;
  /// How the kernel marks the delivery of a signal on a hardware shadow stack: if `word`, at `address`, is
  /// such a mark, where the entries of the interrupted frame are; else 0. nullptr: the ABI has none.
  std::uint64_t (*shadow_before_signal)(std::uint64_t address, std::uint64_t word) = nullptr;
  std::uint32_t longest_call = 0; ///< bytes
  /// True if the last of `bytes` are a call instruction. `bytes` has longest_call bytes, or fewer at the
  /// start of memory.
  bool (*ends_with_call)(std::span<const std::byte> bytes) = nullptr;
  /// The target of the call that ends `bytes`; `address` is the end of `bytes`. Nothing for an indirect call
  /// or if there is no call.
  std::optional<std::uint64_t> (*call_target)(std::span<const std::byte> bytes,
                                              std::uint64_t address) = nullptr;
  /// Instruction size in bytes; 1 if instructions differ in size (they are then counted in bytes).
  std::uint8_t instruction_size = 1;
  /// Functions usually start at multiples of this many bytes, after padding or an instruction that does not
  /// fall through.
  std::uint8_t function_alignment = 16;
  /// True if the last of `bytes` (up to 16) are such padding or such an instruction.
  bool (*ends_function)(std::span<const std::byte> bytes) = nullptr;
  /// Only if return addresses are signed: the bits of an address in the smallest and in the usual address
  /// space of a Linux program. A code pointer's authentication code is above them.
  std::uint8_t fewest_address_bits = 64;
  std::uint8_t usual_address_bits = 64;
};

/// The address bits of a code pointer. `signature` has the bits of authentication codes, as reported by the
/// kernel (NT_ARM_PAC_MASK). If it is 0 (unknown), all bits above those that `highest_address` needs are
/// taken for codes; this is the last mapped address, not the end after it: an address space may end at 2^48.
/// Nothing: unknown, an address space of usual size.
std::uint64_t code_address_mask(const AbiTraits& abi, std::uint64_t signature,
                                std::optional<std::uint64_t> highest_address);

/// The ABI's data, or nullptr for an ABI that cannot be unwound yet.
const UnwindAbi* find_unwind_abi(Abi id);

} // namespace sframe::unwind

#pragma GCC visibility pop
