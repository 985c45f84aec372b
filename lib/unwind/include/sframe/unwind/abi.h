// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a walk must know of an ABI beyond sframe::AbiTraits, as data: which registers a call keeps, the frame
// record, the signal frame, what a call looks like. One file per ABI in src/abi/, one line each in
// src/abi/registry.cc.

#pragma once

#include "sframe/abi.h"
#include "sframe/unwind/registers.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sframe::unwind {

/// A register that the kernel saved in a signal frame.
struct SavedRegister {
  std::uint16_t reg = 0;
  std::uint16_t offset = 0; ///< from SP in the trampoline
};

/// The code to which a signal handler returns, and where the interrupted registers are while it runs.
struct SignalTrampoline {
  std::span<const std::uint8_t> code;
  std::span<const std::uint8_t> stops; ///< offsets in `code` at which a thread can stand, 0 first
  std::span<const SavedRegister> registers;
  std::uint16_t pc_offset = 0;
};

/// Where a frame that keeps the frame pointer convention has what, in bytes from the frame pointer.
struct FrameRecord {
  std::int32_t caller_fp = 0;
  std::int32_t return_address = 0;
  std::int32_t cfa = 0;
  /// The record may lie anywhere in the frame: `cfa` is the least that CFA can be, and what the caller's SP
  /// was, only its own tables or frame record tell.
  bool cfa_at_least = false;
};

/// What a call leaves on the stack, by which it can be found without knowing whose frame it is in.
struct CallTrace {
  std::int32_t return_address = 0;       ///< from the trace's address
  std::int32_t sp = 0;                   ///< the caller's SP, as a distance from the trace's address...
  std::optional<std::int32_t> sp_saved;  ///< ...and where it must be saved, if it is
  std::optional<std::int32_t> caller_fp; ///< where the caller's FP is saved, if it is: 0, or up the stack
};

struct UnwindAbi {
  Abi id{};
  std::span<const std::string_view> register_names; ///< by DWARF number
  std::uint64_t call_saved = 0;                     ///< bit N: register N has the same value after a call
  std::uint8_t result_register = 0; ///< of a function that returns an integer or an address
  bool ra_is_register = true; ///< false: the RA column stands for the pc and holds nothing of its own (AMD64)
  std::optional<FrameRecord> frame_record; ///< nothing where there is no such convention
  CallTrace call_trace;
  /// Where code that keeps a back chain has the address of its own call's trace, from SP on.
  std::optional<std::int32_t> back_chain;
  std::span<const SignalTrampoline> trampolines;
  /// Bit N: where an instruction raises signal N, the pc is behind it.
  std::uint64_t signals_behind_fault = 0;
  std::uint32_t longest_call = 0; ///< bytes
  /// True where the last of `bytes` end a call instruction. `bytes` has longest_call bytes, or fewer at the
  /// start of memory.
  bool (*ends_with_call)(std::span<const std::byte> bytes) = nullptr;
  /// Where the call goes that ends `bytes`, as above, and that ends at `address`; nothing where it is
  /// indirect, or no call.
  std::optional<std::uint64_t> (*call_target)(std::span<const std::byte> bytes, std::uint64_t address) =
      nullptr;
  /// Bytes of an instruction where all have the same; 1 where they differ, and are counted in bytes.
  std::uint8_t instruction_size = 1;
  /// Functions usually start at multiples of this many bytes...
  std::uint8_t function_alignment = 16;
  /// ...behind padding or an instruction after which nothing runs on: true where the last of `bytes` (up to
  /// 16) look like that.
  bool (*ends_function)(std::span<const std::byte> bytes) = nullptr;
};

/// The bits of a code pointer that are an address. `signature` are the bits that hold authentication codes, as the
/// kernel gives them (NT_ARM_PAC_MASK); 0 where that is unknown: then all bits that no address up to
/// `highest_address` needs are taken for codes.
std::uint64_t code_address_mask(const AbiTraits& abi, std::uint64_t signature, std::uint64_t highest_address);

/// The ABI's data, or nullptr for an ABI that cannot be unwound yet.
const UnwindAbi* find_unwind_abi(Abi id);

} // namespace sframe::unwind
