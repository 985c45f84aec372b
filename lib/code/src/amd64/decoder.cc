// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMD64 for the analysis of code: Zydis decodes, Translator produces effects.
//
// | DWARF | register                | a call by the ABI                          |
// | 0-2   | rax, rdx, rcx           | clobbers it                                |
// | 3     | rbx                     | preserves it                               |
// | 4, 5  | rsi, rdi                | clobbers it                                |
// | 6, 7  | rbp (FP), rsp (SP)      | preserves it                               |
// | 8-11  | r8-r11                  | clobbers it                                |
// | 12-15 | r12-r15                 | preserves it                               |
// | 16    | none: RA's column, here the target of a jump through memory                  |
//
// (System V psABI for x86-64, section 3.2.1; the red zone of 128 bytes: section 3.2.2.)

#include "amd64/decoder.h"
#include "amd64/apx.h"
#include "amd64/known_instructions.h"
#include "machines.h"

namespace sframe::code {
namespace amd64 {
namespace {

class ZydisBackedDecoder final : public Decoder {
public:
  ZydisBackedDecoder() {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    // Instructions of KNC share encodings with the no-operations that compilers use.
    ZydisDecoderEnableMode(&decoder_, ZYDIS_DECODER_MODE_KNC, ZYAN_FALSE);
  }

  bool decode(std::span<const std::byte> bytes, std::uint64_t address, Instruction& instruction,
              std::vector<Effect>& effects) override {
    if (known_.find(bytes, address, instruction, effects)) return true;
    instruction = {.address = address, .length = 1};
    const std::size_t before = effects.size();
    std::optional<std::uint8_t> displaced;
    ZydisDecoderContext context;
    ZydisDecodedInstruction raw;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder_, &context, bytes.data(), bytes.size(), &raw)))
      return decode_newer(bytes, instruction, effects);
    instruction.length = raw.length;
    if (raw.mnemonic == ZYDIS_MNEMONIC_ENDBR64) return instruction.marks_start = true; // not remembered
    if (raw.mnemonic == ZYDIS_MNEMONIC_NOP) {
      instruction.is_nop = true;
    } else {
      if (!ZYAN_SUCCESS(
              ZydisDecoderDecodeOperands(&decoder_, &context, &raw, operands_.data(), raw.operand_count)))
        return false;
      Translator(raw, operands_.data(), instruction, effects).translate();
      if (KnownInstructions::varies(raw))
        displaced = displaced_effects(raw, address, std::span(effects).subspan(before));
    }
    known_.add(bytes, raw, instruction, std::span(effects).subspan(before), displaced);
    return true;
  }

private:
  /// What Zydis does not know. Not remembered.
  bool decode_newer(std::span<const std::byte> bytes, Instruction& instruction,
                    std::vector<Effect>& effects) {
    if (const std::uint8_t length = length_of_newer_instruction(bytes)) {
      instruction.length = length;
      return true;
    }
    const auto known = without_rex2(bytes);
    if (!known) return decode_apx(bytes, instruction, effects);
    ZydisDecodedInstruction raw;
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&decoder_, known->bytes.data(), known->size, &raw, operands_.data())))
      return false;
    raw.length = static_cast<ZyanU8>(raw.length + known->added_length);
    if (raw.length > bytes.size()) return false;
    instruction.length = raw.length;
    if (raw.mnemonic == ZYDIS_MNEMONIC_NOP) { // else it exchanges RAX and a register that is not tracked
      instruction.is_nop = !known->extends_rm;
      if (known->extends_rm) effects.push_back({.kind = Effect::Kind::clobber, .reg = rax});
      return true;
    }
    hide_extended_registers(*known, std::span(operands_).first(raw.operand_count));
    Translator(raw, operands_.data(), instruction, effects).translate();
    return true;
  }

  /// A bit for each of the last instruction's effects whose value contains the displacement: it is greater by
  /// one if the displacement is. Empty if there is another difference.
  std::optional<std::uint8_t> displaced_effects(const ZydisDecodedInstruction& raw, std::uint64_t address,
                                                std::span<const Effect> effects) {
    for (ZydisDecodedOperand& operand : std::span(operands_).first(raw.operand_count))
      if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) ++operand.mem.disp.value;
    Instruction instruction{.address = address, .length = raw.length};
    scratch_.clear();
    Translator(raw, operands_.data(), instruction, scratch_).translate();
    if (scratch_.size() != effects.size()) return std::nullopt;
    std::uint8_t displaced = 0;
    for (std::size_t i = 0; i < std::min(effects.size(), KnownInstructions::max_effects); ++i) {
      const std::int64_t difference = scratch_[i].value - effects[i].value;
      const bool is_other = scratch_[i].kind != effects[i].kind || difference < 0 || difference > 1;
      if (is_other || (effects[i].kind == Effect::Kind::add && difference)) return std::nullopt;
      displaced |= static_cast<std::uint8_t>(difference << i);
    }
    return displaced;
  }

  ZydisDecoder decoder_;
  KnownInstructions known_;
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands_{};
  std::vector<Effect> scratch_;
};

/// Hardware numbers to DWARF numbers.
constexpr std::uint8_t dwarf_of[16] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};

/// By Zydis register.
constexpr auto gprs = [] {
  std::array<Gpr, ZYDIS_REGISTER_MAX_VALUE + 1> table{};
  table.fill({.number = Effect::none}); // g++ 12 leaves zeros where the default should be
  const auto fill = [&](int first, int last, std::uint8_t size, int hardware_number, bool high) {
    for (int reg = first; reg <= last; ++reg)
      table[static_cast<std::size_t>(reg)] = {dwarf_of[reg - first + hardware_number], size, high};
  };
  fill(ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15, 8, 0, false);
  fill(ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D, 4, 0, false);
  fill(ZYDIS_REGISTER_AX, ZYDIS_REGISTER_R15W, 2, 0, false);
  fill(ZYDIS_REGISTER_AL, ZYDIS_REGISTER_BL, 1, 0, false);
  fill(ZYDIS_REGISTER_AH, ZYDIS_REGISTER_BH, 1, 0, true);
  fill(ZYDIS_REGISTER_SPL, ZYDIS_REGISTER_R15B, 1, 4, false); // follow bh
  return table;
}();

} // namespace

Gpr gpr(ZydisRegister reg) {
  return gprs[static_cast<std::size_t>(reg)];
}

} // namespace amd64

const MachineEntry machines::amd64 = {
    .machine = {.num_registers = 17,
                .call_clobbered = 0b1'0000'1111'0011'0111,
                .red_zone = 128,
                .max_length = 15,
                .alignment = 1,
                .function_alignment = 16,
                .resolver_stack = 16,
                .last_system_calls = {60, 231, 15},
                .thread_system_calls = {56, 435},
                // SP points to the ucontext, whose registers begin at 40
                .interrupted = {.sp = 160, .pc = 168, .fp = 120}},
    .make_decoder = [](const AbiTraits&) -> std::unique_ptr<Decoder> {
      return std::make_unique<amd64::ZydisBackedDecoder>();
    },
    .refers_by_distance = true,
};

} // namespace sframe::code
