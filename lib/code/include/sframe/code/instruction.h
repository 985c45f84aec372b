// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The effect of one machine instruction on stack frames: its control flow, and its effects on registers and
// stack words. Decoders (one per ABI, src/<abi>/) produce this from bytes; the analysis does not depend on
// instruction sets.
//
// Registers are the ABI's DWARF register numbers below Machine::num_registers; others are not tracked. A
// decoder reports every write to these registers. A write that it cannot describe exactly is a clobber, so
// the analysis never uses a stale value.

#pragma once

#include "sframe/abi.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace sframe::code {

/// Where control goes after an instruction.
enum class Flow : std::uint8_t {
  next,               ///< to the instruction after it
  jump,               ///< to `target`
  branch,             ///< to `target` or to the next instruction
  call,               ///< to `target`; returns, unless the callee never does
  indirect_jump,      ///< to the address in a register or a word of memory
  indirect_branch,    ///< the same, or to the next instruction (s390x bcr)
  indirect_call,      ///< to the address in a register or a word of memory; returns
  ret,                ///< to the caller
  conditional_return, ///< to the caller or to the next instruction (s390x bcr on the link register)
  stop,               ///< nowhere: ud2, hlt, udf, a fatal trap
  trap,     ///< to the next instruction, or nowhere: the system may continue after the trap (the kernel's
            ///< WARN and BUG)
  patchable ///< to the next instruction; once patched by the program, to `target` (the kernel's jump labels)
};

/// One effect of an instruction on registers or memory. Effects take place in the order of the list; sources
/// are read when the effect takes place, and decoders order effects accordingly. Trivially copyable, 16
/// bytes.
struct Effect {
  enum class Kind : std::uint8_t {
    /// reg := source + value; source none: reg := value. If `size` is 1, 2 or 4: only that many bytes of the
    /// sum, extended (an index narrowed from a wider register keeps its bound)
    set,
    /// reg := reg + source * value; source none: reg := reg + value. (alloca: sp := sp + rax * -1; an
    /// index times 8 in place: r2 := r2 + r2 * 7; into another: r1 := 0, then r1 := r1 + r2 * 8)
    add,
    add_vectors, ///< reg := source + value eighths of a scalable vector's length (AArch64)
    align,       ///< reg := reg & value (negative: a mask of high bits; otherwise it bounds an index)
    load,        ///< reg := the word at source + value
    load_table,  ///< reg := `size` bytes at source + index * scale + value, sign-extended if `is_signed`
    store,       ///< the word at source + value := reg
    overwrite,   ///< `size` bytes at source + value := unknown
    clobber,     ///< reg := unknown
    mask,        ///< reg := reg & source
    or_zero,     ///< reg := reg, or 0 where the processor speculates wrongly
    /// adds a pointer authentication code to reg (the link register), with key `index` (0 = A, 1 = B);
    /// `value` is 1 if the code covers the instruction's address, too. To FP: the mark of Swift's
    /// asynchronous frames
    sign,
    authenticate, ///< removes it from reg
    add_address,  ///< the next sign of reg covers the instruction's address, too (AArch64: PACM)
    /// flags := reg compared with `value`, or with source if it is not none. For flags of any other meaning,
    /// see Instruction::writes_flags
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

/// The conditions that bounds of jump tables need; a conditional branch tests the last compare.
enum class Condition : std::uint8_t { other, above, above_or_equal, below, below_or_equal, equal, not_equal };

/// Whether an instruction executes another one elsewhere, as if that was in its place (s390x: ex, exrl).
enum class Executes : std::uint8_t {
  nothing, ///< or only what the decoder knows
  unchanged,
  changed, ///< a register changes the second byte
};

/// An instruction without its effects, which the decoder appends to the caller's list.
struct Instruction {
  std::uint64_t address = 0;
  /// Of jump, branch, call, patchable. Of next: the instruction elsewhere that this one executes, if
  /// `executes` and no register has it. Of indirect_call: where the pointer to the callee is, 0 if that is
  /// not a constant address. Of ret: 0; the analysis makes a jump to a return elsewhere a return with its
  /// target.
  std::uint64_t target = 0;
  std::uint8_t length = 0; ///< bytes; at least 1 after a successful decode
  Flow flow = Flow::next;
  Condition condition = Condition::other; ///< of a branch: unsigned; the branch is taken if it holds
  bool is_nop = false;                    ///< padding between functions
  /// What functions start with so that pointers may call them (endbr64, bti c), also where a function that
  /// returns twice returns to.
  bool marks_start = false;
  /// The flags no longer hold the result of an earlier compare. Not needed if the instruction itself
  /// compares.
  bool writes_flags = false;
  /// Of indirect_jump: the register that is jumped to. A jump through memory first loads (load, load_table)
  /// into a pseudo register: 16 on AMD64, the column of the return address. None: not known. Of ret: the
  /// register that holds the return address, if it is not on the stack; none: the ABI's. s390x returns and
  /// jumps by the same instruction.
  std::uint8_t jump_register = Effect::none;
  /// AArch64, s390x: the register that receives a call's return address. AMD64: none, it is pushed. A call's
  /// effects include neither this nor the callee's clobbers; the analysis adds them. Of a jump: the register
  /// that receives the address of the data that is jumped over (s390x bras over a literal pool).
  std::uint8_t link_register = Effect::none;
  /// Of a system call: the register that holds its number before the instruction.
  std::uint8_t system_call_register = Effect::none;
  /// Of a system call whose number is in the instruction (s390x): that number. Otherwise negative.
  std::int16_t system_call = -1;
  Executes executes = Executes::nothing;
  /// The register that has, after the effects, the address of the instruction that is executed; none:
  /// `target` is that.
  std::uint8_t executed_at = Effect::none;
};

/// Where the Linux kernel keeps registers of the code that a signal interrupted, from SP at the system call
/// rt_sigreturn. All 0: no row can represent it, as on s390x, whose CFA is above the SP that is there.
struct Interrupted {
  std::uint16_t sp = 0, pc = 0, fp = 0;
};

/// Properties of an ABI's machine that the analysis needs beyond AbiTraits. Constants of static duration.
struct Machine {
  std::uint8_t num_registers = 0;   ///< tracked registers: numbers 0 to num_registers - 1
  std::uint64_t call_clobbered = 0; ///< one bit per register that a call does not preserve, by the ABI
  std::uint32_t red_zone = 0;       ///< bytes below SP that are preserved until a call
  std::uint8_t max_length = 0;      ///< bytes of the longest instruction
  std::uint8_t alignment = 1;       ///< every instruction's address is a multiple of this
  std::uint8_t stack_alignment = 8; ///< SP is always a multiple of this, as is the CFA
  /// The register that may point to a stack of return addresses; none: there is no such convention.
  std::uint8_t shadow_stack_register = Effect::none;
  /// False: a jump to the address in the link register returns, or jumps like any other.
  bool has_return_instruction = true;
  /// Compilers align functions at least to this, apart from those that they expect to run rarely.
  std::uint8_t function_alignment = 1;
  /// Bytes on the stack, above a function's entry, when a lazy PLT jumps to the dynamic linker: the words
  /// that it passes to it. (AMD64: the stub pushes the relocation's index, PLT0 the link map.)
  std::uint8_t resolver_stack = 0;
  /// Numbers of the Linux system calls that do not return: exit, exit_group, rt_sigreturn.
  std::array<std::int32_t, 3> last_system_calls{-1, -1, -1};
  /// Numbers of those that also return in a new thread, with another stack: clone, clone3.
  std::array<std::int32_t, 2> thread_system_calls{-1, -1};
  Interrupted interrupted;
};

/// Decodes instructions. Not thread-safe; make one per thread.
class Decoder {
public:
  virtual ~Decoder() = default;

  /// Decodes the first instruction of `bytes`, which are at `address`. Sets all of `instruction` and appends
  /// its effects to `effects`. Returns false if the bytes are not an instruction or end inside it;
  /// `instruction.length` is then the number of bytes to skip (at least 1 unless `bytes` is empty). Never
  /// reads beyond `bytes`. An unknown instruction of known length is decoded as clobbers of everything that
  /// it might write.
  virtual bool decode(std::span<const std::byte> bytes, std::uint64_t address, Instruction& instruction,
                      std::vector<Effect>& effects) = 0;
};

/// The decoder of an ABI, or nullptr if code of the ABI cannot be analysed. The caller owns it. (Decoders are
/// defined in src/<abi>/, one for each line of abis.def.)
std::unique_ptr<Decoder> make_decoder(const AbiTraits& abi);

/// The machine of an ABI. Constant cost.
const Machine& machine(const AbiTraits& abi);

} // namespace sframe::code
