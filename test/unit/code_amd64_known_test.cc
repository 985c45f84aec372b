// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The AMD64 decoder remembers what it decoded. That must not change what an instruction does: compared with
// decoders that have decoded nothing, over all opcodes of the two maps that compilers use most.

#include "code_effect_text.h"
#include "inputs.h"
#include "sframe/abi.h"

#include <array>
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

/// One that remembers: it has decoded more than some instructions.
std::unique_ptr<code::Decoder> used_decoder() {
  auto decoder = code::make_decoder(traits(Abi::amd64));
  const std::array nop = {std::byte{0x90}};
  for (unsigned i = 0; decoder && i < 10'000; ++i) (void)meaning(*decoder, nop, 0x1000);
  return decoder;
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
  const auto used = used_decoder();
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

struct Pair {
  const char* assembly;
  const char* before; ///< decoded first
  const char* bytes;
  const char* meaning;
};

/// Meanings by hand, from the manual (Intel SDM, volume 2); instructions are at 0x1000.
constexpr Pair pairs[] = {
    {"movq -8(%rbp), %rbx", "48 8b 5d 08", "48 8b 5d f8", "r3 := [r6 - 8]"},
    {"movq %rbx, -256(%rsp)", "48 89 9c 24 00 01 00 00", "48 89 9c 24 00 ff ff ff", "[r7 - 256] := r3"},
    {"pushq 16(%rax)", "ff 70 08", "ff 70 10", "[r7 - 8].8 := ?; r7 += -8"},
    {"jmpq *16(%rax)", "ff 60 08", "ff 60 10", "r16 := [r0 + 16] -> indirect r16"},
    {"leaq (,%rcx,8), %rcx", "48 8d 0c cd 04 00 00 00", "48 8d 0c cd 00 00 00 00", "r2 += r2 * 7"},
    {"leaq 16(%rip), %rax", "48 8d 05 20 00 00 00", "48 8d 05 10 00 00 00", "r0 := 4119"},
    {"vmovaps %ymm0, 64(%rsp)", "c5 fc 29 44 24 20", "c5 fc 29 44 24 40", "[r7 + 64].32 := ?"},
    {"vmovaps %zmm0, 128(%rsp)", "62 f1 7c 48 29 44 24 01", "62 f1 7c 48 29 44 24 02", "[r7 + 128].64 := ?"},
    {"movl $-5, %eax", "b8 05 00 00 00", "b8 fb ff ff ff", "r0 := 4294967291"},
    {"addl $0, (%rsp)", "83 04 24 01", "83 04 24 00", ""},
    {"addl $0, 8(%rsp)", "83 44 24 08 01", "83 44 24 08 00", ""},
    {"shlq $4, %rcx", "48 c1 e1 03", "48 c1 e1 04", "r2 := ?"},
    {"jmp .", "eb 0e", "eb fe", "-> jump 0x1000"},
    {"callq .-16", "e8 0b 00 00 00", "e8 eb ff ff ff", "-> call 0xff0"},
    // Knights Corner (Zydis decodes it, other processors do not): a target that is not followed
    {"jkzd %k1, .+24", "c5 f0 84 09 00 00 00", "c5 f0 84 10 00 00 00", "-> branch"},
};

TEST(Amd64KnownInstructions, FieldsThatDiffer) {
  const auto decoder = used_decoder();
  ASSERT_TRUE(decoder);
  for (const Pair& pair : pairs) {
    (void)test::decoded_text(*decoder, test::hex(pair.before));
    EXPECT_EQ(test::decoded_text(*decoder, test::hex(pair.bytes)), pair.meaning) << pair.assembly;
  }
}

// A known instruction that is longer than the bytes that are left is none.
TEST(Amd64KnownInstructions, AreNotReadPastTheEnd) {
  const auto decoder = used_decoder();
  ASSERT_TRUE(decoder);
  const auto zeros = instruction({0x05}, tails[0]); // add $0x24, %eax
  const auto call = instruction({0xe8}, tails[0]);
  for (const Bytes& bytes : {zeros, call}) {
    code::Instruction i;
    std::vector<code::Effect> effects;
    ASSERT_TRUE(decoder->decode(bytes, 0x1000, i, effects));
    ASSERT_EQ(i.length, 5);
    for (std::size_t size = 0; size < i.length; ++size) {
      code::Instruction cut;
      EXPECT_FALSE(decoder->decode(std::span(bytes).first(size), 0x1000, cut, effects)) << size;
    }
  }
}

} // namespace code_amd64_known_test
