// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The AMD64 decoder remembers what it decoded. That must not change what an instruction does: compared with
// decoders that have decoded nothing, over all opcodes of the two maps that compilers use most.

#include "sframe/abi.h"
#include "sframe/code/instruction.h"

#include <array>
#include <cstring>
#include <gtest/gtest.h>

namespace code_amd64_known_test {

using namespace sframe;

using Bytes = std::vector<std::byte>;

/// All that a decoder says of the first instruction.
std::vector<std::int64_t> meaning(code::Decoder& decoder, std::span<const std::byte> bytes,
                                  std::uint64_t address) {
  code::Instruction i;
  std::vector<code::Effect> effects;
  const bool is_good = decoder.decode(bytes, address, i, effects);
  std::vector<std::int64_t> all = {is_good,
                                   static_cast<std::int64_t>(i.address),
                                   static_cast<std::int64_t>(i.target),
                                   i.length,
                                   static_cast<std::int64_t>(i.flow),
                                   static_cast<std::int64_t>(i.condition),
                                   i.is_nop,
                                   i.writes_flags,
                                   i.jump_register,
                                   i.link_register,
                                   i.system_call_register,
                                   i.system_call};
  if (is_good)
    for (const code::Effect& e : effects)
      all.insert(all.end(), {static_cast<std::int64_t>(e.kind), e.reg, e.source, e.index, e.size, e.scale,
                             e.is_signed, e.value});
  return all;
}

/// What follows ModRM: a SIB byte, displacements and immediates; small, negative and mixed ones.
constexpr std::array tails = {
    std::array<std::uint8_t, 12>{0x24, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    std::array<std::uint8_t, 12>{0x24, 8, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0},
    std::array<std::uint8_t, 12>{0x8d, 0xf8, 0xff, 0xff, 0xff, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
    std::array<std::uint8_t, 12>{0x24, 0x81, 0x42, 0x13, 0x74, 0x25, 0x96, 0x37, 0x68, 0x19, 0x5a, 0xcb},
};

Bytes instruction(std::initializer_list<unsigned> opening, const std::array<std::uint8_t, 12>& tail) {
  Bytes bytes;
  for (const unsigned byte : opening)
    if (byte <= 0xff) bytes.push_back(static_cast<std::byte>(byte));
  for (const std::uint8_t byte : tail) bytes.push_back(static_cast<std::byte>(byte));
  return bytes;
}

TEST(Amd64KnownInstructions, MeanTheSame) {
  constexpr unsigned nothing = 0x100;
  const auto used = code::make_decoder(traits(Abi::amd64));
  ASSERT_TRUE(used);
  for (const unsigned prefix : {nothing, 0x48u, 0x66u, 0xf3u})
    for (const unsigned escape : {nothing, 0x0fu})
      for (unsigned opcode = 0; opcode < 0x100; ++opcode)
        for (unsigned mode = 0; mode < 4; ++mode)
          for (const unsigned rm : {0u, 4u, 5u}) {
            const unsigned modrm = mode << 6 | (opcode + rm) % 8 << 3 | rm;
            for (const auto& tail : tails)
              (void)meaning(*used, instruction({prefix, escape, opcode, modrm}, tail), 0x1000);
            const Bytes bytes =
                instruction({prefix, escape, opcode, modrm}, tails[(opcode + mode) % tails.size()]);
            const std::uint64_t address = std::uint64_t{opcode} << 56 | 0x7654'3210;
            const auto expected = meaning(*code::make_decoder(traits(Abi::amd64)), bytes, address);
            ASSERT_EQ(meaning(*used, bytes, address), expected)
                << std::hex << prefix << ' ' << escape << ' ' << opcode << ' ' << modrm;
          }
}

// A known instruction that is longer than the bytes that are left is none.
TEST(Amd64KnownInstructions, AreNotReadPastTheEnd) {
  const auto decoder = code::make_decoder(traits(Abi::amd64));
  ASSERT_TRUE(decoder);
  const auto zeros = instruction({0x05}, tails[0]); // add $0x24, %eax
  const auto call = instruction({0xe8}, tails[0]);
  for (const Bytes& bytes : {zeros, call}) {
    code::Instruction i;
    std::vector<code::Effect> effects;
    ASSERT_TRUE(decoder->decode(bytes, 0x1000, i, effects));
    ASSERT_EQ(i.length, 5);
    for (std::size_t size = 1; size < i.length; ++size) {
      code::Instruction cut;
      EXPECT_FALSE(decoder->decode(std::span(bytes).first(size), 0x1000, cut, effects)) << size;
    }
  }
}

} // namespace code_amd64_known_test
