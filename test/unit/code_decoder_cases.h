// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of all decoders do: instructions in a table, with what each means.

#pragma once

#include "code_effect_text.h"
#include "inputs.h"
#include "sframe/abi.h"

#include <gtest/gtest.h>
#include <span>
#include <vector>

namespace sframe::test {

struct DecoderCase {
  const char* assembly;
  const char* bytes;
  const char* meaning; ///< decoded_text()
};

inline void expect_meanings(Abi abi, std::span<const DecoderCase> cases) {
  const auto decoder = code::make_decoder(traits(abi));
  ASSERT_TRUE(decoder);
  for (const DecoderCase& one : cases)
    EXPECT_EQ(decoded_text(*decoder, hex(one.bytes)), one.meaning) << one.assembly;
}

/// True if the flags (condition code) are unknown after the instruction.
inline bool loses_flags(Abi abi, const char* bytes) {
  code::Instruction instruction;
  std::vector<code::Effect> effects;
  EXPECT_TRUE(code::make_decoder(traits(abi))->decode(hex(bytes), 0, instruction, effects)) << bytes;
  return instruction.writes_flags;
}

} // namespace sframe::test
