// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/code/call_end.h"

#include "sframe/base/budget.h"

#include <algorithm>

namespace sframe::code {

namespace {

bool pay(std::span<const std::byte> bytes, Budget* budget) {
  constexpr std::uint64_t bytes_per_step = 4;
  return !budget || budget->take(Resource::code_steps, 1 + bytes.size() / bytes_per_step);
}

} // namespace

CallEnds::CallEnds(const AbiTraits& abi) : abi_(&abi), decoder_(make_decoder(abi)) {}

bool CallEnds::decode(std::span<const std::byte> bytes, std::uint64_t address) {
  effects_.clear();
  return decoder_ && decoder_->decode(bytes, address, instruction_, effects_);
}

bool CallEnds::ends_with_call(std::span<const std::byte> bytes, std::uint64_t address, Budget* budget) {
  if (!pay(bytes, budget)) return false;
  for (std::size_t at = 0; at < bytes.size(); at += instruction_.length)
    if (!decode(bytes.subspan(at), address + at)) return false;
  return !bytes.empty() && (instruction_.flow == Flow::call || instruction_.flow == Flow::indirect_call);
}

std::uint32_t CallEnds::padding(std::span<const std::byte> bytes, std::uint64_t address) {
  if (decode(bytes, address) && instruction_.is_nop) return instruction_.length;
  // Zeros can be a valid instruction, but none that a compiler emits. One alone is a part of an instruction,
  // unless a function may start after it.
  const std::uint32_t unit = machine(*abi_).alignment;
  const bool is_last = (address + unit) % machine(*abi_).function_alignment == 0;
  const std::size_t least = is_last ? unit : std::max<std::size_t>(unit, 2);
  const bool zeros = std::ranges::all_of(bytes.first(std::min(bytes.size(), least)),
                                         [](std::byte byte) { return byte == std::byte{0}; });
  return zeros && bytes.size() >= unit ? unit : 0;
}

bool CallEnds::is_padding(std::span<const std::byte> bytes, std::uint64_t address, Budget* budget) {
  if (!pay(bytes, budget)) return false;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::uint32_t size = padding(bytes.subspan(at), address + at);
    if (size == 0) return false;
    at += size;
  }
  return !bytes.empty();
}

} // namespace sframe::code
