// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/code/signal_return.h"

namespace sframe::code {

namespace {

/// The vDSO has one, for unwinders that look up the address before the code.
constexpr int max_instructions_before = 4;

} // namespace

SignalReturns::SignalReturns(const AbiTraits& abi) : machine_(machine(abi)), decoder_(make_decoder(abi)) {}

/// `number_in`: the register that has been set to the number of the call, if any.
bool SignalReturns::is_call_of_it(const Instruction& instruction, std::uint8_t number_in) const {
  if (instruction.system_call >= 0) return instruction.system_call == machine_.last_system_calls[2];
  return instruction.system_call_register != Effect::none && instruction.system_call_register == number_in;
}

std::uint32_t SignalReturns::size(std::span<const std::byte> bytes, std::uint64_t address) {
  if (!decoder_) return 0;
  std::uint8_t number_in = Effect::none;
  int before = 0;
  Instruction instruction;
  for (std::size_t at = 0; at < bytes.size(); at += instruction.length) {
    effects_.clear();
    if (!decoder_->decode(bytes.subspan(at), address + at, instruction, effects_)) return 0;
    if (is_call_of_it(instruction, number_in)) return static_cast<std::uint32_t>(at) + instruction.length;
    const bool is_before = number_in == Effect::none && (instruction.is_nop || instruction.marks_start);
    if (is_before && ++before <= max_instructions_before) continue;
    const bool sets_number = number_in == Effect::none && effects_.size() == 1 &&
                             effects_[0].kind == Effect::Kind::set && effects_[0].source == Effect::none &&
                             effects_[0].value == machine_.last_system_calls[2];
    if (!sets_number) return 0;
    number_in = effects_[0].reg;
  }
  return 0;
}

std::optional<FrameRow> signal_return_row(const AbiTraits& abi) {
  const Interrupted& saved = machine(abi).interrupted;
  if (saved.sp == 0) return std::nullopt;
  return FrameRow{.offset = 0,
                  .cfa = Rule::stored(abi.sp, saved.sp),
                  .ra = Rule::stored(abi.sp, saved.pc),
                  .fp = Rule::stored(abi.sp, saved.fp)};
}

} // namespace sframe::code
