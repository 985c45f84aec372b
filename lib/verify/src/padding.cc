// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "padding.h"

namespace sframe::verify {

Padding::Padding(const Input& input) : input_(input) {
  const elf::Image* const image = input.image();
  if (image && !image->relocatable() && image->abi()) code_.emplace(*image->abi());
}

bool Padding::holds(std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t longest = 256, bytes_per_step = 4;
  if (!code_ || begin >= end || end - begin > longest) return false;
  Budget* const budget = input_.budget();
  if (budget && !budget->take(Resource::code_steps, 1 + (end - begin) / bytes_per_step)) return false;
  const auto bytes = input_.image()->read(begin, end - begin);
  return bytes && code_->is_padding(*bytes, begin);
}

bool Padding::follows_call(std::uint64_t row_begin, std::uint64_t begin) {
  if (!code_ || row_begin >= begin) return false;
  const auto bytes = input_.image()->read(row_begin, begin - row_begin);
  return bytes && code_->ends_with_call(*bytes, row_begin, input_.budget());
}

} // namespace sframe::verify
