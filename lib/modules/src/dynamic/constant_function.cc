// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As a shared library, libunwind does not export its list, only a function that returns the list's address.
// That address is found by interpreting the function's few instructions.

#include "dynamic/registration.h"

#include "sframe/code/instruction.h"

#include <array>

namespace sframe::modules::dynamic {

namespace {

using code::Effect;
using code::Instruction;

/// The registers with constant values.
class Constants {
public:
  void apply(const Effect& effect) {
    if (effect.reg >= values_.size()) return;
    std::optional<std::uint64_t>& reg = values_[effect.reg];
    const auto value = static_cast<std::uint64_t>(effect.value);
    const bool is_sum = effect.kind == Effect::Kind::set && effect.size == 0;
    const bool adds = effect.kind == Effect::Kind::add && effect.source == Effect::none;
    if (is_sum && effect.source == Effect::none)
      reg = value;
    else if (is_sum || adds)
      reg =
          get(adds ? effect.reg : effect.source).transform([&](std::uint64_t base) { return base + value; });
    else if (effect.kind != Effect::Kind::store && effect.kind != Effect::Kind::compare)
      reg.reset();
  }
  std::optional<std::uint64_t> get(std::uint8_t reg) const {
    return reg < values_.size() ? values_[reg] : std::nullopt;
  }

private:
  std::array<std::optional<std::uint64_t>, unwind::Registers::count> values_;
};

} // namespace

std::optional<std::uint64_t> constant_result(std::uint64_t function, unwind::Memory& memory) {
  const AbiTraits& abi = memory.space().abi();
  const auto decoder = code::make_decoder(abi);
  if (!decoder) return std::nullopt;
  constexpr int most_instructions = 8;
  std::array<std::byte, 16> bytes;
  std::vector<Effect> effects;
  Constants constants;
  for (int i = 0; i < most_instructions; ++i) {
    const auto size = memory.space().read(function, bytes);
    Instruction instruction;
    effects.clear();
    if (!decoder->decode(std::span(bytes).first(size), function, instruction, effects)) return std::nullopt;
    if (instruction.flow == code::Flow::ret)
      return constants.get(unwind::find_unwind_abi(abi.id)->result_register);
    if (instruction.flow != code::Flow::next) return std::nullopt;
    for (const Effect& effect : effects) constants.apply(effect);
    function += instruction.length;
  }
  return std::nullopt;
}

} // namespace sframe::modules::dynamic
