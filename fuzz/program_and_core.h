// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inputs that walk_seeds.py makes: the size of a program in three bytes, little-endian, a byte of
// choices, the program, and its core.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace sframe::fuzz {

struct ProgramAndCore {
  std::span<const std::byte> program, core;
  unsigned choices = 0; ///< only the target walk uses it
};

/// Nothing if the input is too short.
inline std::optional<ProgramAndCore> split_program(std::span<const std::byte> input) {
  std::uint32_t start = 0;
  if (input.size() < sizeof start) return std::nullopt;
  std::memcpy(&start, input.data(), sizeof start);
  input = input.subspan(sizeof start);
  const std::uint32_t size = start & 0xffffff;
  if (size > input.size()) return std::nullopt;
  return ProgramAndCore{input.first(size), input.subspan(size), start >> 24};
}

} // namespace sframe::fuzz
