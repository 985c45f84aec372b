// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The AMD64 decoder: instructions newer than Debian 12's Zydis, and missing operands. Encodings and texts are
// from llvm-mc.

#include "code_effect_text.h"
#include "inputs.h"
#include "sframe/abi.h"

#include <array>
#include <gtest/gtest.h>

namespace {

using namespace sframe;

struct Newer {
  const char* assembly;
  const char* bytes;
};

/// They write vector registers, or a segment's base.
constexpr Newer newer[] = {
    {"vpmadd52luq (%rsi), %ymm1, %ymm3", "c4 e2 f5 b4 1e"},
    {"vpmadd52huq 32(%rsi), %ymm1, %ymm0", "c4 e2 f5 b5 46 20"},
    {"vpmadd52luq 144(%rsi), %ymm1, %ymm0", "c4 e2 f5 b4 86 90 00 00 00"},
    {"vpmadd52luq 256(%rip), %ymm1, %ymm0", "c4 e2 f5 b4 05 00 01 00 00"},
    {"vpmadd52luq 128(%rsp), %ymm1, %ymm0", "c4 e2 f5 b4 84 24 80 00 00 00"},
    {"vpmadd52luq (%esi), %ymm1, %ymm3", "67 c4 e2 f5 b4 1e"},
    {"vpmadd52luq %es:(%rsi), %ymm1, %ymm3", "26 c4 e2 f5 b4 1e"},
    {"vpmadd52luq %cs:(%rsi), %ymm1, %ymm3", "2e c4 e2 f5 b4 1e"},
    {"vpmadd52luq %ss:(%rsi), %ymm1, %ymm3", "36 c4 e2 f5 b4 1e"},
    {"vpmadd52luq %ds:(%rbp), %ymm1, %ymm3", "3e c4 e2 f5 b4 5d 00"},
    {"vpmadd52luq %fs:(%rsi), %ymm1, %ymm3", "64 c4 e2 f5 b4 1e"},
    {"vpmadd52luq %gs:(%rsi), %ymm1, %ymm3", "65 c4 e2 f5 b4 1e"},
    {"vpmadd52luq 64(,%rsi,2), %ymm1, %ymm3", "c4 e2 f5 b4 1c 75 40 00 00 00"},
    {"vpmadd52luq 4(%rsp), %ymm1, %ymm3", "c4 e2 f5 b4 5c 24 04"},
    {"vsm3rnds2 $5, (%rdi), %xmm2, %xmm1", "c4 e3 69 de 0f 05"},
    {"vsha512msg2 %ymm2, %ymm1", "c4 e2 7f cd ca"},
    {"vsha512rnds2 %xmm1, %ymm2, %ymm0", "c4 e2 6f cb c1"},
    {"vsha512msg1 %xmm2, %ymm1", "c4 e2 7f cc ca"},
    {"vsm3msg1 %xmm2, %xmm1, %xmm0", "c4 e2 70 da c2"},
    {"vsm3msg2 %xmm2, %xmm1, %xmm0", "c4 e2 71 da c2"},
    {"vsm4key4 %xmm2, %xmm1, %xmm0", "c4 e2 72 da c2"},
    {"vsm4rnds4 %ymm2, %ymm1, %ymm0", "c4 e2 77 da c2"},
    {"vpdpbuud %xmm2, %xmm1, %xmm0", "c4 e2 70 50 c2"},
    {"vpdpbssd %xmm2, %xmm1, %xmm0", "c4 e2 73 50 c2"},
    {"vpdpwusd %xmm2, %xmm1, %xmm0", "c4 e2 71 d2 c2"},
    {"vpdpbsud %xmm2, %xmm1, %xmm0", "c4 e2 72 50 c2"},
    {"vpdpbuuds %xmm2, %xmm1, %xmm0", "c4 e2 70 51 c2"},
    {"vpdpbssds %xmm2, %xmm1, %xmm0", "c4 e2 73 51 c2"},
    {"vpdpbsuds %xmm2, %xmm1, %xmm0", "c4 e2 72 51 c2"},
    {"vpdpwsud %xmm2, %xmm1, %xmm0", "c4 e2 72 d2 c2"},
    {"vpdpwuud %xmm2, %xmm1, %xmm0", "c4 e2 70 d2 c2"},
    {"vpdpwusds %xmm2, %xmm1, %xmm0", "c4 e2 71 d3 c2"},
    {"vpdpwsuds %xmm2, %xmm1, %xmm0", "c4 e2 72 d3 c2"},
    {"vpdpwuuds %xmm2, %xmm1, %xmm0", "c4 e2 70 d3 c2"},
    {"vcvtneps2bf16x (%rdi), %xmm0", "c4 e2 7a 72 07"},
    {"vcvtneebf162ps (%rdi), %xmm0", "c4 e2 7a b0 07"},
    {"vcvtneoph2ps (%rdi), %xmm0", "c4 e2 78 b0 07"},
    {"vcvtneeph2ps (%rdi), %xmm0", "c4 e2 79 b0 07"},
    {"vcvtneobf162ps (%rdi), %xmm0", "c4 e2 7b b0 07"},
    {"vbcstnebf162ps (%rdi), %xmm0", "c4 e2 7a b1 07"},
    {"vbcstnesh2ps (%rdi), %xmm0", "c4 e2 79 b1 07"},
    {"lkgs %ax", "f2 0f 00 f0"},
    {"lkgs %r11w", "f2 41 0f 00 f3"},
    {"lkgs (%rdi)", "f2 0f 00 37"},
    {"lkgs 8(%rdi)", "f2 0f 00 77 08"},
};

TEST(Amd64Decoder, LengthOfNewerInstructions) {
  const auto decoder = code::make_decoder(traits(Abi::amd64));
  ASSERT_TRUE(decoder);
  for (const Newer& one : newer) {
    const auto bytes = test::hex(one.bytes);
    auto more = bytes;
    more.resize(bytes.size() + 16, std::byte{0x90});
    code::Instruction instruction;
    std::vector<code::Effect> effects;
    EXPECT_TRUE(decoder->decode(more, 0x1000, instruction, effects)) << one.assembly;
    EXPECT_EQ(instruction.length, bytes.size()) << one.assembly;
    EXPECT_EQ(instruction.flow, code::Flow::next) << one.assembly;
    EXPECT_FALSE(instruction.is_nop) << one.assembly;
    EXPECT_TRUE(effects.empty()) << one.assembly;
  }
}

TEST(Amd64Decoder, RefusesTruncatedNewerInstruction) {
  const auto decoder = code::make_decoder(traits(Abi::amd64));
  ASSERT_TRUE(decoder);
  for (const Newer& one : newer) {
    const auto bytes = test::hex(one.bytes);
    for (std::size_t size = 1; size < bytes.size(); ++size) {
      code::Instruction instruction;
      std::vector<code::Effect> effects;
      EXPECT_FALSE(decoder->decode(std::span(bytes).first(size), 0x1000, instruction, effects))
          << one.assembly << ", " << size << " bytes";
    }
  }
}

// Opcodes other than those that are known, which no processor has: a VEX prefix alone is not enough.
TEST(Amd64Decoder, RefusesInvalid) {
  const auto decoder = code::make_decoder(traits(Abi::amd64));
  ASSERT_TRUE(decoder);
  for (const char* bytes : {"c4 e2 70 cb c2", "c4 e3 68 de 0f 05", "c4 e2 70 b4 c2", "c4 e2 73 d3 c2",
                            "c4 e1 7b d3 c2", "c4 e2 78 b1 07", "f2 0f 00 38"})
    EXPECT_EQ(test::decoded_text(*decoder, test::hex(bytes)), "no instruction") << bytes;
}

// An instruction of one operand after one of two: what the second was is nothing to the first. (The
// sanitizers see reads of operands that no instruction has written yet.)
TEST(Amd64Decoder, ReadsOnlyExistingOperands) {
  const std::array texts = {
      std::pair{"0f ae 3f", ""},                        // clflush (%rdi)
      std::pair{"f0 83 0c 24 00", ""},                  // lock orl $0, (%rsp)
      std::pair{"0f ae 3c 24", ""},                     // clflush (%rsp)
      std::pair{"0f c0 04 24", "[r7].1 := ?; r0 := ?"}, // xadd %al, (%rsp)
  };
  for (const auto& [bytes, meaning] : texts) {
    const auto decoder = code::make_decoder(traits(Abi::amd64)); // has decoded nothing
    ASSERT_TRUE(decoder);
    EXPECT_EQ(test::decoded_text(*decoder, test::hex(bytes)), meaning) << bytes;
  }
  const auto decoder = code::make_decoder(traits(Abi::amd64));
  for (const auto& [bytes, meaning] : texts)
    EXPECT_EQ(test::decoded_text(*decoder, test::hex(bytes)), meaning) << bytes;
}

} // namespace
