// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A64: every instruction is one 32-bit little-endian word, also in big-endian programs; bits 28 to 25 give
// its class. That keeps this decoder small. It reads the fields of the classes that move the stack pointer,
// save registers or branch. Of all other classes it only needs the general register that is written, nearly
// always the one in bits 4 to 0.
//
// Why not Capstone: version 4 (Debian 12) rejects newer instructions (retaa, ldraa, udf, SVE) and is slower
// than this with its details enabled; the registers that a word writes would still have to be decided here.
//
// Specified in the Arm Architecture Reference Manual for A-profile (DDI 0487), chapter C4; the register roles
// in the Procedure Call Standard (AAPCS64), section 6.1.

#include "encoding.h"
#include "machines.h"

#include "sframe/bytes.h"

namespace sframe::code::aarch64 {

namespace {

constexpr std::uint8_t word_size = 4;

Word read_word(std::span<const std::byte> bytes) {
  return {load<std::uint32_t>(bytes.data(), ByteOrder::little)};
}

/// UDF: the upper half is 0. Padding and data often are words of 0.
bool is_udf(Word word) {
  return word.field(31, 16) == 0;
}

bool decode_word(Word word, Instruction& instruction, EffectList& effects) {
  switch (word.field(28, 25)) {
  case 0b0000:
    if (is_udf(word)) {
      instruction.flow = Flow::stop;
      return true;
    }
    if (!word.bit(31)) return false;
    decode_vector(word, effects);
    return true;
  case 0b0001:
  case 0b0011: return false;
  case 0b1000:
  case 0b1001: decode_immediate(word, instruction.address, effects); return true;
  case 0b1010:
  case 0b1011: return decode_branch(word, instruction, effects);
  case 0b0101:
  case 0b1101: decode_register(word, effects); return true;
  case 0b0010:
  case 0b0111:
  case 0b1111: decode_vector(word, effects); return true;
  default: decode_memory(word, effects); return true;
  }
}

class A64Decoder final : public Decoder {
public:
  bool decode(std::span<const std::byte> bytes, std::uint64_t address, Instruction& instruction,
              std::vector<Effect>& effects) override {
    instruction = {.address = address};
    if (bytes.size() < word_size) {
      instruction.length = static_cast<std::uint8_t>(bytes.size());
      return false;
    }
    instruction.length = word_size;
    EffectList list(effects);
    const bool decoded = decode_word(read_word(bytes), instruction, list);
    instruction.writes_flags = list.flags_lost();
    return decoded;
  }
};

} // namespace
} // namespace sframe::code::aarch64

namespace sframe::code {

namespace aarch64 {
namespace {

/// SP points to a struct rt_sigframe: a siginfo of 128 bytes, and the ucontext. In that, the sigcontext is at
/// 176: the fault's address, x0 to x30, SP, pc.
constexpr std::uint16_t saved_x0 = 128 + 176 + 8;
constexpr Interrupted interrupted = {
    .sp = saved_x0 + 31 * 8, .pc = saved_x0 + 32 * 8, .fp = saved_x0 + 29 * 8};

} // namespace
} // namespace aarch64

// A call preserves x19 to x29 and SP. x18, the platform register, and x30, which gets the return address,
// count as clobbered too (but see Analysis::call() for a shadow call stack).
const MachineEntry machines::aarch64_little{.machine = {.num_registers = aarch64::scratch + 1,
                                                        .call_clobbered = 0x1'4007'ffff,
                                                        .red_zone = 0,
                                                        .max_length = aarch64::word_size,
                                                        .alignment = aarch64::word_size,
                                                        .stack_alignment = 16, // the processor requires it
                                                        .shadow_stack_register = 18,
                                                        .function_alignment = aarch64::word_size,
                                                        .resolver_stack = 16,
                                                        .last_system_calls = {93, 94, 139},
                                                        .thread_system_calls = {220, 435},
                                                        .interrupted = aarch64::interrupted},
                                            .make_decoder = [](const AbiTraits&) -> std::unique_ptr<Decoder> {
                                              return std::make_unique<aarch64::A64Decoder>();
                                            },
                                            .loads_pages = true};
const MachineEntry machines::aarch64_big = machines::aarch64_little;

} // namespace sframe::code
