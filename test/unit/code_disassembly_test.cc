// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of instructions, as the header of a core shows them. Encodings by hand, from the manuals.

#include "sframe/code/disassembly.h"

#include <gtest/gtest.h>
#include <initializer_list>
#include <vector>

namespace sframe::code {
namespace {

InstructionOperands operands(Abi abi, std::initializer_list<int> bytes, std::uint64_t address = 0x1000) {
  std::vector<std::byte> code;
  for (const int byte : bytes) code.push_back(static_cast<std::byte>(byte));
  return instruction_operands(traits(abi), code, address);
}

using Registers = std::vector<std::uint8_t>;

TEST(Disassembly, Amd64Store) { // mov %rsi, 0x8(%rdi)
  const auto found = operands(Abi::amd64, {0x48, 0x89, 0x77, 0x08});
  EXPECT_EQ(found.length, 4);
  EXPECT_EQ(found.registers, (Registers{4, 5}));
  ASSERT_EQ(found.memory.size(), 1u);
  EXPECT_EQ(found.memory[0].base, 5);
  EXPECT_EQ(found.memory[0].index, MemoryAccess::none);
  EXPECT_EQ(found.memory[0].displacement, 8);
  EXPECT_EQ(found.memory[0].size, 8);
  EXPECT_TRUE(found.memory[0].writes);
  EXPECT_FALSE(found.memory[0].reads);
}

TEST(Disassembly, Amd64Index) { // movzbl 0x10(%rax,%rcx,4), %edx
  const auto found = operands(Abi::amd64, {0x0f, 0xb6, 0x54, 0x88, 0x10});
  EXPECT_EQ(found.registers, (Registers{0, 2}));
  ASSERT_EQ(found.memory.size(), 1u);
  EXPECT_EQ(found.memory[0].base, 0);
  EXPECT_EQ(found.memory[0].index, 2);
  EXPECT_EQ(found.memory[0].scale, 4);
  EXPECT_EQ(found.memory[0].size, 1);
  EXPECT_TRUE(found.memory[0].reads);
}

TEST(Disassembly, Amd64RelativeToThePc) { // mov 0x10(%rip), %rax
  const auto found = operands(Abi::amd64, {0x48, 0x8b, 0x05, 0x10, 0, 0, 0});
  ASSERT_EQ(found.memory.size(), 1u);
  EXPECT_EQ(found.memory[0].base, MemoryAccess::none);
  EXPECT_EQ(found.memory[0].displacement, 0x1017);
}

TEST(Disassembly, Amd64PushWritesBelowTheStackPointer) {
  const auto found = operands(Abi::amd64, {0x55});
  ASSERT_EQ(found.memory.size(), 1u);
  EXPECT_EQ(found.memory[0].base, 7);
  EXPECT_EQ(found.memory[0].displacement, -8);
  EXPECT_TRUE(found.memory[0].writes);
}

TEST(Disassembly, Amd64HiddenOperandsOfDivision) { // idiv %esi
  EXPECT_EQ(operands(Abi::amd64, {0xf7, 0xfe}).registers, (Registers{4, 0, 1}));
}

TEST(Disassembly, Amd64AddressesInSegmentsAreUnknown) { // mov %fs:0x28, %rax
  EXPECT_TRUE(operands(Abi::amd64, {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}).memory.empty());
}

TEST(Disassembly, Amd64AddressArithmeticAccessesNothing) { // lea 0x8(%rdi), %rax
  EXPECT_TRUE(operands(Abi::amd64, {0x48, 0x8d, 0x47, 0x08}).memory.empty());
}

TEST(Disassembly, Unknown) {
  EXPECT_EQ(operands(Abi::amd64, {0x06}).length, 0);
  EXPECT_EQ(operands(Abi::amd64, {0x48, 0x89}).length, 0);
  EXPECT_EQ(operands(Abi::amd64, {}).length, 0);
}

TEST(Disassembly, Aarch64Store) { // str x1, [x0, #8]
  const auto found = operands(Abi::aarch64_little, {0x01, 0x04, 0x00, 0xf9});
  EXPECT_EQ(found.length, 4);
  EXPECT_EQ(found.registers, (Registers{1, 0}));
  ASSERT_EQ(found.memory.size(), 1u);
  EXPECT_EQ(found.memory[0].base, 0);
  EXPECT_EQ(found.memory[0].displacement, 8);
  EXPECT_TRUE(found.memory[0].writes);
  EXPECT_FALSE(found.memory[0].reads);
}

TEST(Disassembly, Aarch64Index) { // ldr x1, [x0, x2, lsl #3]
  const auto found = operands(Abi::aarch64_little, {0x01, 0x78, 0x62, 0xf8});
  ASSERT_EQ(found.memory.size(), 1u);
  EXPECT_EQ(found.memory[0].index, 2);
  EXPECT_EQ(found.memory[0].scale, 8);
  EXPECT_TRUE(found.memory[0].reads);
  EXPECT_FALSE(found.memory[0].writes);
}

TEST(Disassembly, Aarch64AddressBeforeItIsChanged) { // ldr x1, [x0], #8   ldr x1, [x0, #8]!
  const auto after = operands(Abi::aarch64_little, {0x01, 0x84, 0x40, 0xf8});
  ASSERT_EQ(after.memory.size(), 1u);
  EXPECT_EQ(after.memory[0].displacement, 0);
  const auto before = operands(Abi::aarch64_little, {0x01, 0x8c, 0x40, 0xf8});
  ASSERT_EQ(before.memory.size(), 1u);
  EXPECT_EQ(before.memory[0].displacement, 8);
}

TEST(Disassembly, S390xLoadAndStore) { // stg %r1, 8(%r2)   lg %r1, 8(%r3,%r2)
  const auto store = operands(Abi::s390x, {0xe3, 0x10, 0x20, 0x08, 0x00, 0x24});
  EXPECT_EQ(store.length, 6);
  EXPECT_EQ(store.registers, (Registers{1, 2}));
  ASSERT_EQ(store.memory.size(), 1u);
  EXPECT_EQ(store.memory[0].base, 2);
  EXPECT_EQ(store.memory[0].displacement, 8);
  EXPECT_TRUE(store.memory[0].writes);
  const auto load = operands(Abi::s390x, {0xe3, 0x13, 0x20, 0x08, 0x00, 0x04});
  ASSERT_EQ(load.memory.size(), 1u);
  EXPECT_EQ(load.memory[0].base, 2);
  EXPECT_EQ(load.memory[0].index, 3);
  EXPECT_TRUE(load.memory[0].reads);
  EXPECT_FALSE(load.memory[0].writes);
}

TEST(Disassembly, S390xAddressArithmeticAccessesNothing) { // la %r1, 8(%r2)
  EXPECT_TRUE(operands(Abi::s390x, {0x41, 0x10, 0x20, 0x08}).memory.empty());
}

} // namespace
} // namespace sframe::code
