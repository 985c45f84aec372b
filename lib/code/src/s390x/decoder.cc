// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// s390x: instructions of 2, 4 or 6 bytes, big-endian; the first two bits give the length. One table
// (opcodes.cc) has all opcodes: an instruction that affects frames has a handler; for all others it lists the
// registers that they write.
//
//    r0 to r15    0 to 15; r15 is SP, r14 the link register, r11 the frame pointer by custom
//    f0 to f15   16 to 31 in the ABI's own order (fpr()); they are also the first halves of v0 to v15
//
// Why not Capstone: version 4 (Debian 12) cannot report which registers an s390x instruction reads and
// writes, which is all that is needed here.
//
// Specified in the z/Architecture Principles of Operation (SA22-7832); the roles of the registers in the ELF
// Application Binary Interface, s390x Supplement.

#include "machines.h"
#include "opcodes.h"

#include <algorithm>

namespace sframe::code {
namespace s390x {
namespace {

constexpr std::uint8_t longest = 6;

/// 2, 4, 4 or 6 bytes by the first two bits.
std::uint8_t length_of(std::byte first) {
  constexpr std::array<std::uint8_t, 4> lengths = {2, 4, 4, 6};
  return lengths[std::to_integer<unsigned>(first) >> 6];
}

Word read_word(std::span<const std::byte> bytes) {
  Word word;
  for (std::size_t i = 0; i < longest; ++i)
    word.bits = word.bits << 8 | (i < bytes.size() ? std::to_integer<std::uint64_t>(bytes[i]) : 0);
  return word;
}

void clobber_float(unsigned number, EffectList& effects) {
  effects.clobber(fpr(number));
}

/// v16 to v31 do not overlap the floating point registers.
void clobber_vector(unsigned number, unsigned fifth_bit, EffectList& effects) {
  if (!fifth_bit) clobber_float(number, effects);
}

void clobber_written(Word word, Writes writes, EffectList& effects) {
  const auto general = [&](Writes which, unsigned number) {
    if (writes & which) effects.clobber(static_cast<std::uint8_t>(number % num_general));
  };
  general(r1, word.r1());
  general(r1_next, word.r1() + 1u);
  general(r2, word.r2());
  general(r2_next, word.r2() + 1u);
  general(r3, word.r3());
  general(r3_next, word.r3() + 1u);
  if (writes & f1) clobber_float(word.r1(), effects);
  if (writes & f1_next) clobber_float(word.r1() + 2u, effects);
  const unsigned third = word.reg(word.is_rre() ? 16 : 32);
  if (writes & f3) clobber_float(third, effects);
  if (writes & f3_next) clobber_float(third + 2, effects);
  if (writes & v1) clobber_vector(word.reg(8), word.field(36, 1), effects);
  if (writes & v5) clobber_vector(word.reg(32), word.field(39, 1), effects);
  if (writes & low)
    for (std::uint8_t reg = 0; reg <= 5; ++reg) effects.clobber(reg);
}

class ZDecoder final : public Decoder {
public:
  bool decode(std::span<const std::byte> bytes, std::uint64_t address, Instruction& instruction,
              std::vector<Effect>& effects) override {
    instruction = {.address = address};
    if (bytes.empty()) return false;
    instruction.length = length_of(bytes[0]);
    if (bytes.size() < instruction.length) {
      instruction.length = static_cast<std::uint8_t>(bytes.size());
      return false;
    }
    const Word word = read_word(bytes.first(instruction.length));
    const OpcodeRow* row = find_row(word);
    if (!row) return false;
    EffectList list(effects);
    if (row->handler) row->handler({word, row->argument, instruction, list, bytes});
    clobber_written(word, row->writes, list);
    instruction.writes_flags = list.flags_lost() || !row->handler || row->writes != nothing;
    return true;
  }
};

} // namespace
} // namespace s390x

// A call preserves r6 to r13, r15 and f8 to f15 (24 to 31). There is no red zone below SP, but the 160 bytes
// from SP on are the callee's register save area.
const MachineEntry machines::s390x{.machine = {.num_registers = s390x::scratch + 1,
                                               .call_clobbered = 0x1'00ff'403f,
                                               .red_zone = 0,
                                               .max_length = s390x::longest,
                                               .alignment = 2,
                                               .has_return_instruction = false,
                                               .function_alignment = 8,
                                               .last_system_calls = {1, 248, 173},
                                               .thread_system_calls = {120, 435}},
                                   .make_decoder = [](const AbiTraits&) -> std::unique_ptr<Decoder> {
                                     return std::make_unique<s390x::ZDecoder>();
                                   }};

} // namespace sframe::code
