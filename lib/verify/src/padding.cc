// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "call_padding.h"

namespace sframe::verify {

namespace {

/// Functions are aligned to less.
constexpr std::uint64_t max_padding = 64;

} // namespace

CallPadding::CallPadding(const Input& input) : input_(input) {
  const elf::Image* const image = input.image();
  if (image && !image->relocatable() && image->abi()) calls_.emplace(*image->abi());
}

bool CallPadding::is_padding(std::uint64_t begin, std::uint64_t end) {
  if (!calls_ || begin >= end || end - begin > max_padding) return false;
  const auto bytes = input_.image()->read(begin, end - begin);
  return bytes && calls_->is_padding(*bytes, begin);
}

bool CallPadding::follows_call(std::uint64_t row_begin, std::uint64_t begin, std::uint64_t end) {
  if (row_begin >= begin || !is_padding(begin, end)) return false;
  const auto code = input_.image()->read(row_begin, begin - row_begin);
  return code && calls_->ends_with_call(*code, row_begin, input_.budget());
}

} // namespace sframe::verify
