// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sites of AMD64: instructions by their bytes (encodings from the manuals: Intel SDM, volume 2; GNU as writes
// the same), what of a function is free, and lengths as Zydis has them, over the code of this program.

#include "sites.h"

#include "sframe/code/instruction.h"
#include "sframe/elf/file.h"
#include "sframe/elf/image.h"

#include "gtest/gtest.h"

#include <initializer_list>
#include <vector>

namespace shrink_sites_test {

using namespace sframe;
using shrink::free_ranges;
using shrink::SiteInstruction;
using Kind = SiteInstruction::Kind;

constexpr std::uint64_t address = 0x1000;

std::vector<std::byte> bytes_of(std::initializer_list<int> numbers) {
  std::vector<std::byte> bytes;
  for (const int number : numbers) bytes.push_back(static_cast<std::byte>(number));
  return bytes;
}

SiteInstruction read(std::initializer_list<int> bytes) {
  return shrink::read_amd64(bytes_of(bytes), address);
}

void expect_kind(Kind kind, std::initializer_list<int> bytes) {
  const SiteInstruction one = read(bytes);
  EXPECT_EQ(one.length, bytes.size()) << testing::PrintToString(bytes_of(bytes).size());
  EXPECT_EQ(one.kind, kind) << "opcode " << std::hex << *bytes.begin() << ' ' << *(bytes.end() - 1);
}

TEST(ShrinkSites, SetupAndRemovalOfFrames) {
  expect_kind(Kind::setup, {0x48, 0x89, 0xe5});                           // mov %rsp,%rbp
  expect_kind(Kind::setup, {0x48, 0x8b, 0xec});                           // the same, the other way
  expect_kind(Kind::setup, {0x48, 0x83, 0xec, 0x18});                     // sub $24,%rsp
  expect_kind(Kind::setup, {0x48, 0x83, 0xc4, 0x80});                     // add $-128,%rsp
  expect_kind(Kind::setup, {0x48, 0x81, 0xec, 0, 1, 0, 0});               // sub $256,%rsp
  expect_kind(Kind::setup, {0x48, 0x8d, 0x64, 0x24, 0xf8});               // lea -8(%rsp),%rsp
  expect_kind(Kind::setup, {0x48, 0x8d, 0x6c, 0x24, 0x10});               // lea 16(%rsp),%rbp
  expect_kind(Kind::removal, {0x48, 0x89, 0xec});                         // mov %rbp,%rsp
  expect_kind(Kind::removal, {0x48, 0x83, 0xc4, 0x18});                   // add $24,%rsp
  expect_kind(Kind::removal, {0x48, 0x83, 0xec, 0x80});                   // sub $-128,%rsp
  expect_kind(Kind::removal, {0x48, 0x81, 0xc4, 0, 1, 0, 0});             // add $256,%rsp
  expect_kind(Kind::removal, {0x48, 0x8d, 0x65, 0xd8});                   // lea -40(%rbp),%rsp
  expect_kind(Kind::removal, {0x48, 0x8d, 0xa5, 0xd8, 0xff, 0xff, 0xff}); // the same, four bytes
  expect_kind(Kind::removal, {0x48, 0x8d, 0xa4, 0x24, 0, 1, 0, 0});       // lea 256(%rsp),%rsp
  expect_kind(Kind::removal, {0x5b});                                     // pop %rbx
  expect_kind(Kind::removal, {0x41, 0x5c});                               // pop %r12
  expect_kind(Kind::removal, {0xc9});                                     // leave
  expect_kind(Kind::removal, {0xc3});                                     // ret
  expect_kind(Kind::removal, {0xf3, 0xc3});                               // rep ret
  expect_kind(Kind::removal, {0xc2, 8, 0});                               // ret $8
  expect_kind(Kind::jump, {0xeb, 0x10});                                  // jmp
  expect_kind(Kind::jump, {0xe9, 0, 1, 0, 0});                            // jmp
}

TEST(ShrinkSites, WhatMayFaultIsASite) {
  expect_kind(Kind::site, {0x5c});                               // pop %rsp
  expect_kind(Kind::site, {0x66, 0x55});                         // push %bp
  expect_kind(Kind::site, {0xff, 0xf0});                         // push %rax, the long form
  expect_kind(Kind::site, {0x6a, 0x01});                         // push $1
  expect_kind(Kind::site, {0x66, 0x5b});                         // pop %bx
  expect_kind(Kind::site, {0x8f, 0x00});                         // pop (%rax)
  expect_kind(Kind::site, {0x48, 0x89, 0x65, 0xf8});             // mov %rsp,-8(%rbp)
  expect_kind(Kind::site, {0x48, 0x03, 0x65, 0xf8});             // add -8(%rbp),%rsp
  expect_kind(Kind::site, {0x48, 0x83, 0x04, 0x24, 8});          // addq $8,(%rsp)
  expect_kind(Kind::site, {0x67, 0x48, 0x8d, 0x65, 0xd8});       // lea -40(%ebp),%rsp
  expect_kind(Kind::site, {0x48, 0xf7, 0xf9});                   // idiv %rcx
  expect_kind(Kind::site, {0xff, 0x20});                         // jmp *(%rax)
  expect_kind(Kind::site, {0xc5, 0xf8, 0x77});                   // vzeroupper
  expect_kind(Kind::site, {0x62, 0xf1, 0x7c, 0x48, 0x28, 0xc1}); // vmovaps %zmm1,%zmm0
}

TEST(ShrinkSites, WhatOnlyAFullStackMakesFault) {
  expect_kind(Kind::push, {0x55});       // push %rbp
  expect_kind(Kind::push, {0x41, 0x57}); // push %r15
}

TEST(ShrinkSites, WhatCannotFault) {
  expect_kind(Kind::plain, {0x89, 0xe5});                  // mov %esp,%ebp
  expect_kind(Kind::plain, {0x49, 0x89, 0xe5});            // mov %rsp,%r13
  expect_kind(Kind::plain, {0x4c, 0x89, 0xe5});            // mov %r12,%rbp
  expect_kind(Kind::plain, {0x48, 0x83, 0xe4, 0xf0});      // and $-16,%rsp
  expect_kind(Kind::plain, {0x49, 0x83, 0xc4, 8});         // add $8,%r12
  expect_kind(Kind::plain, {0x83, 0xc4, 8});               // add $8,%esp
  expect_kind(Kind::plain, {0x49, 0x8d, 0x65, 0xd8});      // lea -40(%r13),%rsp
  expect_kind(Kind::plain, {0x48, 0x8d, 0x64, 0x04, 8});   // lea 8(%rsp,%rax),%rsp
  expect_kind(Kind::plain, {0xf3, 0x0f, 0x1e, 0xfa});      // endbr64
  expect_kind(Kind::plain, {0xb8, 1, 0, 0, 0});            // mov $1,%eax
  expect_kind(Kind::plain, {0x31, 0xc0});                  // xor %eax,%eax
  expect_kind(Kind::plain, {0x85, 0xff});                  // test %edi,%edi
  expect_kind(Kind::plain, {0x39, 0xc8});                  // cmp %ecx,%eax
  expect_kind(Kind::plain, {0x3c, 0x01});                  // cmp $1,%al
  expect_kind(Kind::plain, {0x48, 0x63, 0xc7});            // movslq %edi,%rax
  expect_kind(Kind::plain, {0x0f, 0xb6, 0xc0});            // movzbl %al,%eax
  expect_kind(Kind::plain, {0x0f, 0x94, 0xc0});            // sete %al
  expect_kind(Kind::plain, {0x0f, 0x44, 0xc1});            // cmove %ecx,%eax
  expect_kind(Kind::plain, {0x48, 0xc1, 0xe0, 3});         // shl $3,%rax
  expect_kind(Kind::plain, {0xf7, 0xd8});                  // neg %eax
  expect_kind(Kind::plain, {0xfe, 0xc0});                  // inc %al
  expect_kind(Kind::plain, {0x75, 0x10});                  // jne
  expect_kind(Kind::plain, {0x0f, 0x84, 0, 1, 0, 0});      // je
  expect_kind(Kind::plain, {0x0f, 0x1f, 0x44, 0, 0});      // nopl 0(%rax,%rax)
  expect_kind(Kind::site, {0x8b, 0x07});                   // mov (%rdi),%eax
  expect_kind(Kind::site, {0x03, 0x07});                   // add (%rdi),%eax
  expect_kind(Kind::site, {0x0f, 0xb6, 0x07});             // movzbl (%rdi),%eax
  expect_kind(Kind::site, {0x0f, 0x94, 0x07});             // sete (%rdi)
  expect_kind(Kind::site, {0x85, 0x3f});                   // test %edi,(%rdi)
  expect_kind(Kind::site, {0xf7, 0xf1});                   // div %ecx
  expect_kind(Kind::site, {0xff, 0x07});                   // incl (%rdi)
  expect_kind(Kind::site, {0xc7, 0xf8, 0, 0, 0, 0});       // xbegin
  expect_kind(Kind::site, {0xf0, 0x01, 0xc8});             // lock add %ecx,%eax
  expect_kind(Kind::site, {0x8d, 0xc0});                   // lea of a register
  expect_kind(Kind::site, {0x0f, 0x0b});                   // ud2
  expect_kind(Kind::site, {0xcc});                         // int3
  expect_kind(Kind::site, {0xf2, 0x0f, 0x58, 0xc1});       // addsd %xmm1,%xmm0
  expect_kind(Kind::site, {0x66, 0x0f, 0xef, 0xc0});       // pxor %xmm0,%xmm0
  expect_kind(Kind::site, {0xa1, 0, 0, 0, 0, 0, 0, 0, 0}); // mov 0,%eax
  expect_kind(Kind::site, {0xd9, 0xe8});                   // fld1
}

TEST(ShrinkSites, WhereControlGoes) {
  EXPECT_TRUE(read({0xe8, 0, 1, 0, 0}).returns); // call
  EXPECT_EQ(read({0xe8, 0, 1, 0, 0}).target, address + 5 + 0x100);
  EXPECT_TRUE(read({0xff, 0xd0}).returns); // call *%rax
  EXPECT_TRUE(read({0xff, 0x15, 0, 0, 0, 0}).returns);
  EXPECT_TRUE(read({0x0f, 0x05}).returns);        // syscall
  EXPECT_TRUE(read({0xcc}).returns);              // int3
  EXPECT_TRUE(read({0xcd, 0x80}).returns);        // int $0x80
  EXPECT_FALSE(read({0xff, 0xf0}).returns);       // push %rax
  EXPECT_FALSE(read({0x0f, 0x0b}).falls_through); // ud2
  EXPECT_FALSE(read({0xff, 0xe0}).falls_through); // jmp *%rax
  EXPECT_FALSE(read({0xf4}).falls_through);       // hlt
  EXPECT_FALSE(read({0xc3}).falls_through);
  EXPECT_TRUE(read({0x75, 0xfe}).falls_through); // jne to itself
  EXPECT_EQ(read({0x75, 0xfe}).target, address);
  EXPECT_EQ(read({0x0f, 0x84, 0xfa, 0xff, 0xff, 0xff}).target, address);
}

TEST(ShrinkSites, UnknownOrCutBytesHaveNoLength) {
  for (const auto& bytes : {bytes_of({0x06}), bytes_of({0xea}), bytes_of({0xd5, 0x10, 0x58}), // REX2
                            bytes_of({0xe8, 0, 1, 0}), bytes_of({0x48}), bytes_of({0x48, 0x8d, 0x65}),
                            bytes_of({0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
                                      0x66, 0x66, 0x66, 0x90})})
    EXPECT_EQ(shrink::read_amd64(bytes, address).length, 0) << bytes.size();
  EXPECT_EQ(shrink::read_amd64({}, address).length, 0);
}

/// What is free of a function, as the sum of one-letter instructions: each a byte long. The alphabet: s site,
/// u setup, r removal, t return, j jump, c call, p push, n plain, < a branch to the address 2 after the
/// start.
std::string free_of(std::string_view code, shrink::Level level = shrink::Level::sync) {
  std::vector<SiteInstruction> instructions;
  for (const char letter : code) {
    SiteInstruction one{.address = address + instructions.size(), .length = 1};
    one.kind = letter == 'u'                    ? Kind::setup
               : letter == 'r' || letter == 't' ? Kind::removal
               : letter == 'j'                  ? Kind::jump
               : letter == 'p'                  ? Kind::push
               : letter == 'n'                  ? Kind::plain
                                                : Kind::site;
    one.falls_through = letter != 't' && letter != 'j';
    one.returns = letter == 'c';
    if (letter == '<') one.target = address + 2;
    instructions.push_back(one);
  }
  const auto ranges = free_ranges(instructions, {address, code.size()}, level);
  if (!ranges) return "not understood";
  std::string out(code.size(), '.');
  for (const AddressRange& range : *ranges)
    for (std::uint64_t at = range.start; at < range.end(); ++at) out[at - address] = 'x';
  return out;
}

TEST(ShrinkSites, WhatIsFree) {
  EXPECT_EQ(free_of("suussrrt"), ".xx..xxx"); // a prologue, and an epilogue
  EXPECT_EQ(free_of("uurt"), ".x.x");         // the first address; between setup and removal
  EXPECT_EQ(free_of("scrrt"), "...xx");       // a return address
  EXPECT_EQ(free_of("srtuss"), ".xx...");     // what only a jump reaches
  EXPECT_EQ(free_of("srjss"), ".xx..");       // a tail call, and
  EXPECT_EQ(free_of("ssjrt"), "....x");       // a jump elsewhere
  EXPECT_EQ(free_of("srrt<"), ".x.x.");       // where a branch goes
  EXPECT_EQ(free_of("ppnus"), "...x.");       // pushes, and what debuggers stop at
  EXPECT_EQ(free_of(""), "");
}

TEST(ShrinkSites, WhatIsFreeIfOnlyFaultsCount) {
  constexpr auto faults = shrink::Level::faults;
  EXPECT_EQ(free_of("ppnus", faults), ".xxx.");   // a prologue; the first address
  EXPECT_EQ(free_of("scnrrt", faults), "...xxx"); // a return address
  EXPECT_EQ(free_of("srtpss", faults), ".xxx.."); // what only a jump reaches
  EXPECT_EQ(free_of("srrt<", faults), ".xxx.");   // where a branch goes
  EXPECT_EQ(free_of("ssjnr", faults), "..xxx");
}

TEST(ShrinkSites, BranchesIntoInstructionsAreNotUnderstood) {
  const std::vector<SiteInstruction> instructions{
      {.address = address, .length = 4},
      {.address = address + 4, .target = address + 2, .length = 2},
  };
  EXPECT_FALSE(free_ranges(instructions, {address, 6}, shrink::Level::sync));
}

/// Wherever both know an instruction, its length is the same; there is hardly one that only Zydis knows.
TEST(ShrinkSites, LengthsAreThoseOfZydis) {
  const auto file = elf::File::open("/proc/self/exe");
  ASSERT_TRUE(file);
  const auto image = elf::Image::parse(file->bytes());
  ASSERT_TRUE(image);
  if (!shrink::Sites::are_known(*image)) GTEST_SKIP() << "not AMD64";
  const auto decoder = code::make_decoder(*image->abi());
  std::uint64_t instructions = 0, unknown = 0;
  for (const elf::CodeRange& range : image->executable_ranges()) {
    const auto bytes = image->read(range.start, range.size);
    if (!bytes) continue;
    std::vector<code::Effect> effects;
    code::Instruction decoded;
    for (std::size_t at = 0; at < bytes->size(); at += decoded.length, ++instructions) {
      effects.clear();
      if (!decoder->decode(bytes->subspan(at), range.start + at, decoded, effects)) continue;
      const auto one = shrink::read_amd64(bytes->subspan(at), range.start + at);
      if (one.length == 0)
        ++unknown;
      else
        ASSERT_EQ(one.length, decoded.length) << "at " << std::hex << range.start + at;
    }
  }
  EXPECT_GT(instructions, 100'000U);
  EXPECT_LT(unknown, instructions / 1000);
}

} // namespace shrink_sites_test
