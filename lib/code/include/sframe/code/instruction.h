// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one machine instruction means for stack frames: where control goes, and what happens to registers and
// to words on the stack. Decoders (one per ABI, src/<abi>/) turn bytes into this; the analysis knows nothing
// of instruction sets.
//
// Registers are DWARF register numbers of the ABI (those below Machine::num_registers; others are of no
// interest). A decoder says everything that an instruction writes to these registers: what it cannot say
// exactly is a clobber, so that the analysis never believes in a value that is gone.

#pragma once

#include "sframe/abi.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sframe::code {

/// Where control goes behind an instruction.
enum class Flow : std::uint8_t {
  next,               ///< to the instruction behind it
  jump,               ///< to `target`
  branch,             ///< to `target` or to the next
  call,               ///< to `target`; comes back, unless the callee never returns
  indirect_jump,      ///< to where a register or a word in memory says
  indirect_branch,    ///< the same, or to the next (s390x bcr)
  indirect_call,      ///< to where a register or a word in memory says; comes back
  ret,                ///< to the caller
  conditional_return, ///< to the caller or to the next (s390x bcr on the link register)
  stop,               ///< nowhere: ud2, hlt, udf, a trap that is not meant to be passed
  trap,     ///< to the next, or nowhere: a trap that the system passes over or not (the kernel's WARN and BUG)
  patchable ///< to the next; once the program has patched it, to `target` (the kernel's jump labels)
};

/// One thing that an instruction does to registers or memory. An instruction's effects take place one after
/// another in their order; sources are read when the effect takes place, so decoders order them such that
/// this gives the instruction's meaning. Trivially copyable, 16 bytes.
struct Effect {
  enum class Kind : std::uint8_t {
    /// reg := source + value; source none: reg := value. With `size` 1, 2 or 4: only that many bytes of
    /// the sum, extended (an index narrowed from a wider register keeps its bound)
    set,
    /// reg := reg + source * value; source none: reg := reg + value. (alloca: sp := sp + rax * -1; an
    /// index times 8 in place: r2 := r2 + r2 * 7; into another: r1 := 0, then r1 := r1 + r2 * 8)
    add,
    align,      ///< reg := reg & value (negative: a mask of high bits; else it bounds an index)
    load,       ///< reg := the word at source + value
    load_table, ///< reg := `size` bytes, sign-extended where `is_signed`, at source + index * scale + value
    store,      ///< the word at source + value := reg
    overwrite,  ///< `size` bytes at source + value := something
    clobber,    ///< reg := something
    sign, ///< reg (the link register) gets a pointer authentication code, with the key `index` (0 = A, 1 = B)
    authenticate, ///< reg loses it
    /// flags := reg against `value`, or against source where it is not none. Flags that mean something else
    /// afterwards: Instruction::writes_flags
    compare,
  };
  static constexpr std::uint8_t none = 0xff; ///< no register; for source and index

  Kind kind = Kind::clobber;
  std::uint8_t reg = none;
  std::uint8_t source = none;
  std::uint8_t index = none;
  std::uint8_t size = 0;  ///< bytes; 0 = a word of the ABI (8)
  std::uint8_t scale = 0; ///< load_table: bytes per step of `index`
  bool is_signed = false;
  std::int64_t value = 0;
};

/// What a conditional branch asks of the last compare, as far as bounds of jump tables need it.
enum class Condition : std::uint8_t { other, above, above_or_equal, below, below_or_equal, equal, not_equal };

/// An instruction without its effects, which the decoder appends to a list of the caller's.
struct Instruction {
  std::uint64_t address = 0;
  std::uint64_t target = 0; ///< of jump, branch, call, patchable
  std::uint8_t length = 0;  ///< bytes; at least 1 after a successful decode
  Flow flow = Flow::next;
  Condition condition = Condition::other; ///< of a branch: unsigned; the branch is taken when it holds
  bool is_nop = false;                    ///< padding between functions
  /// The condition of a later branch no longer speaks of an earlier compare. Needless where the instruction
  /// compares itself.
  bool writes_flags = false;
  /// Of indirect_jump: the register that is jumped to. A jump through memory first loads (load, load_table)
  /// into a register of its own: AMD64 takes 16, the column of the return address. None: not known. Of ret:
  /// the register that holds the return address, where it is not on the stack; none: the ABI's. s390x returns
  /// and jumps by the same instruction.
  std::uint8_t jump_register = Effect::none;
  /// AArch64, s390x: register that a call leaves the return address in. AMD64: none, it is pushed. A call's
  /// effects do not say so, nor what the callee clobbers: the analysis knows.
  std::uint8_t link_register = Effect::none;
  /// Of a system call: the register that holds its number, as it is before the instruction.
  std::uint8_t system_call_register = Effect::none;
};

/// What an ABI's machine fixes for the analysis, beyond AbiTraits. Constants of static duration.
struct Machine {
  std::uint8_t num_registers = 0;   ///< tracked registers: numbers 0 to num_registers - 1
  std::uint64_t call_clobbered = 0; ///< bit per register that a call by the ABI does not preserve
  std::uint32_t red_zone = 0;       ///< bytes below SP that stay what they are until a call
  std::uint8_t max_length = 0;      ///< bytes of the longest instruction
  std::uint8_t alignment = 1;       ///< every instruction's address is a multiple
  /// The numbers of Linux' system calls that do not come back: exit, exit_group, rt_sigreturn.
  std::array<std::int32_t, 3> last_system_calls{-1, -1, -1};
};

/// Turns bytes into instructions. Not for use by several threads at a time; make one per thread.
class Decoder {
public:
  virtual ~Decoder() = default;

  /// Decodes the instruction that starts `bytes`, which lies at `address`. Sets all of `instruction` and
  /// appends its effects to `effects`. False where the bytes are no instruction, or end inside it; then
  /// `instruction.length` says how many to skip (at least 1 where there are bytes). Never reads beyond
  /// `bytes`. An instruction that the decoder does not know but whose length it does is decoded: with
  /// clobbers of all that it might write.
  virtual bool decode(std::span<const std::byte> bytes, std::uint64_t address, Instruction& instruction,
                      std::vector<Effect>& effects) = 0;
};

/// The decoder of an ABI, or nullptr where code of the ABI cannot be analysed. Ownership goes to the caller.
/// (src/machines.h and src/registry.cc list the decoders: one definition in src/<abi>/ and one line each.)
std::unique_ptr<Decoder> make_decoder(const AbiTraits& abi);

/// The machine of an ABI. No cost.
const Machine& machine(const AbiTraits& abi);

} // namespace sframe::code
