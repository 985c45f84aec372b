// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of instructions, as the header of a core shows them. Encodings by hand, from the manuals.

#include "sframe/code/disassembly.h"

#include "inputs.h"

#include <gtest/gtest.h>
#include <initializer_list>
#include <string>
#include <vector>

namespace sframe::code {
namespace code_disassembly_test {

InstructionOperands operands(Abi abi, std::initializer_list<int> bytes, std::uint64_t address = 0x1000) {
  std::vector<std::byte> code;
  for (const int byte : bytes) code.push_back(static_cast<std::byte>(byte));
  return instruction_operands(traits(abi), code, address);
}

using Registers = std::vector<std::uint8_t>;

/// Memory of an instruction as text: base, displacement, size if it is known, what is done.
std::vector<std::string> memory_texts(Abi abi, std::initializer_list<int> bytes) {
  std::vector<std::string> texts;
  for (const MemoryAccess& one : operands(abi, bytes).memory)
    texts.push_back("r" + std::to_string(one.base) + " + " + std::to_string(one.displacement) +
                    (one.size ? "." + std::to_string(one.size) : "") + (one.reads ? " read" : "") +
                    (one.writes ? " written" : ""));
  return texts;
}

using Texts = std::vector<std::string>;

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

TEST(Disassembly, Amd64PrefetchCannotFault) {
  for (const int opcode : {0x18, 0x0d}) { // prefetcht0 (%rax), prefetchw (%rax)
    const auto found = operands(Abi::amd64, {0x0f, opcode, 0x08});
    EXPECT_EQ(found.length, 3);
    EXPECT_EQ(found.registers, Registers{0});
    EXPECT_TRUE(found.memory.empty());
  }
}

TEST(Disassembly, Amd64Undefined) {
  EXPECT_TRUE(operands(Abi::amd64, {0x0f, 0x0b}).is_undefined);                 // ud2
  EXPECT_TRUE(operands(Abi::amd64, {0x0f, 0xb9, 0xc0}).is_undefined);           // ud1 %eax, %eax
  EXPECT_TRUE(operands(Abi::amd64, {0x0f, 0xff, 0xc0}).is_undefined);           // ud0 %eax, %eax
  EXPECT_FALSE(operands(Abi::amd64, {0x0f, 0x05}).is_undefined);                // syscall
  EXPECT_FALSE(operands(Abi::amd64, {0xf4}).is_undefined);                      // hlt
  EXPECT_FALSE(operands(Abi::aarch64_little, {0, 8, 0xc1, 0x9a}).is_undefined); // udiv x0, x0, x1
}

TEST(Disassembly, Amd64Division) {
  const auto by_register = operands(Abi::amd64, {0x49, 0xf7, 0xf8}); // idiv %r8
  ASSERT_TRUE(by_register.divisor);
  EXPECT_EQ(by_register.divisor->size, 8);
  EXPECT_EQ(by_register.divisor->reg, 8);
  EXPECT_TRUE(by_register.is_signed_division);
  const auto by_memory = operands(Abi::amd64, {0xf7, 0x75, 0xf8}); // divl -0x8(%rbp)
  ASSERT_TRUE(by_memory.divisor);
  EXPECT_EQ(by_memory.divisor->size, 4);
  EXPECT_EQ(by_memory.divisor->reg, MemoryAccess::none);
  EXPECT_FALSE(by_memory.is_signed_division);
  EXPECT_FALSE(operands(Abi::amd64, {0xf6, 0xf4}).divisor);                         // div %ah
  EXPECT_FALSE(operands(Abi::amd64, {0x64, 0xf7, 0x34, 0x25, 0, 0, 0, 0}).divisor); // divl %fs:0
  EXPECT_FALSE(operands(Abi::amd64, {0x48, 0x0f, 0xaf, 0xc7}).divisor);             // imul %rdi, %rax
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

/// call *%rax   jmp *%r8   call *8(%rax)   call *%fs:0x10   call 0x1005
TEST(Disassembly, Amd64TargetsOfBranches) {
  const auto target = [](std::initializer_list<int> bytes) { return operands(Abi::amd64, bytes).target; };
  ASSERT_TRUE(target({0xff, 0xd0}));
  EXPECT_EQ(target({0xff, 0xd0})->reg, 0);
  EXPECT_EQ(target({0xff, 0xd0})->size, 8);
  EXPECT_TRUE(operands(Abi::amd64, {0xff, 0xd0}).is_call);
  EXPECT_FALSE(operands(Abi::amd64, {0x41, 0xff, 0xe0}).is_call);
  ASSERT_TRUE(target({0x41, 0xff, 0xe0}));
  EXPECT_EQ(target({0x41, 0xff, 0xe0})->reg, 8);
  ASSERT_TRUE(target({0xff, 0x50, 0x08}));
  EXPECT_EQ(target({0xff, 0x50, 0x08})->reg, MemoryAccess::none);
  EXPECT_FALSE(target({0x64, 0xff, 0x14, 0x25, 0x10, 0, 0, 0}));
  EXPECT_FALSE(target({0xe8, 0, 0, 0, 0}));
  EXPECT_FALSE(operands(Abi::amd64, {0xff, 0xd0}).divisor);
}

TEST(Disassembly, Amd64AddressesInSegmentsAreUnknown) { // mov %fs:0x28, %rax
  EXPECT_TRUE(operands(Abi::amd64, {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}).memory.empty());
}

/// movsb   call *8(%rax)   pop %rbx   xchg %rax, (%rdi)   push 8(%rsp)
TEST(Disassembly, Amd64SeveralAccesses) {
  EXPECT_EQ(memory_texts(Abi::amd64, {0xa4}), (Texts{"r5 + 0.1 written", "r4 + 0.1 read"}));
  EXPECT_EQ(memory_texts(Abi::amd64, {0xff, 0x50, 0x08}), (Texts{"r0 + 8.8 read", "r7 + -8.8 written"}));
  EXPECT_EQ(memory_texts(Abi::amd64, {0x5b}), (Texts{"r7 + 0.8 read"}));
  EXPECT_EQ(memory_texts(Abi::amd64, {0x48, 0x87, 0x07}), (Texts{"r5 + 0.8 read written"}));
  EXPECT_EQ(memory_texts(Abi::amd64, {0xff, 0x74, 0x24, 0x08}),
            (Texts{"r7 + 8.8 read", "r7 + -8.8 written"}));
}

/// DWARF numbers: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, then r8 to r15. Here all that mov %REG, %REG reads.
TEST(Disassembly, Amd64RegisterNumbers) {
  constexpr std::uint8_t by_encoding[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
  for (int reg = 0; reg < 16; ++reg)
    EXPECT_EQ(
        operands(Abi::amd64, {reg < 8 ? 0x48 : 0x4d, 0x89, 0xc0 | (reg & 7) << 3 | (reg & 7)}).registers,
        Registers{by_encoding[reg]});
  EXPECT_EQ(operands(Abi::amd64, {0x88, 0xe0}).registers, Registers{0}); // mov %ah, %al
}

/// mov %gs:0x28, %rax   mov (%eax), %ecx   vgatherdps %xmm1, (%rax,%xmm2,4), %xmm0
TEST(Disassembly, Amd64AddressesThatRegistersDoNotShow) {
  EXPECT_EQ(memory_texts(Abi::amd64, {0x65, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}), Texts{});
  EXPECT_EQ(memory_texts(Abi::amd64, {0x67, 0x8b, 0x08}), Texts{});
  EXPECT_EQ(operands(Abi::amd64, {0x67, 0x8b, 0x08}).registers, Registers{0});
  EXPECT_EQ(memory_texts(Abi::amd64, {0xc4, 0xe2, 0x71, 0x92, 0x04, 0x90}), Texts{});
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

/// stp x29, x30, [sp, #-32]!   ldp x29, x30, [sp], #16   str w1, [sp, #12]   ldr w28, [x28]
TEST(Disassembly, Aarch64Registers) {
  const std::initializer_list<int> stp = {0xfd, 0x7b, 0xbe, 0xa9}, ldp = {0xfd, 0x7b, 0xc1, 0xa8},
                                   str = {0xe1, 0x0f, 0x00, 0xb9}, ldr = {0x9c, 0x03, 0x40, 0xb9};
  EXPECT_EQ(operands(Abi::aarch64_little, stp).registers, (Registers{29, 30, 31}));
  EXPECT_EQ(memory_texts(Abi::aarch64_little, stp), (Texts{"r31 + -32 written"}));
  EXPECT_EQ(operands(Abi::aarch64_little, ldp).registers, Registers{31});
  EXPECT_EQ(memory_texts(Abi::aarch64_little, ldp), (Texts{"r31 + 0 read"}));
  EXPECT_EQ(operands(Abi::aarch64_little, str).registers, (Registers{1, 31}));
  EXPECT_EQ(memory_texts(Abi::aarch64_little, str), (Texts{"r31 + 12 written"}));
  EXPECT_EQ(operands(Abi::aarch64_little, ldr).registers, Registers{28});
  EXPECT_EQ(operands(Abi::aarch64_big, {0x41, 0x00, 0x03, 0x8b}).registers,
            (Registers{2, 3})); // add x1, x2, x3
  EXPECT_EQ(operands(Abi::aarch64_little, {0x00, 0x01, 0x3f, 0xd6}).registers, Registers{8}); // blr x8
}

/// prfm pldl1keep, [x0]   ldr x1, [x0, w2, sxtw]   ldr x1, [x0, x2]
TEST(Disassembly, Aarch64Addresses) {
  EXPECT_TRUE(operands(Abi::aarch64_little, {0x00, 0x00, 0x80, 0xf9}).memory.empty());
  EXPECT_TRUE(operands(Abi::aarch64_little, {0x01, 0xc8, 0x62, 0xf8}).memory.empty()); // half a register
  const auto plain = operands(Abi::aarch64_little, {0x01, 0x68, 0x62, 0xf8});
  ASSERT_EQ(plain.memory.size(), 1u);
  EXPECT_EQ(plain.memory[0].index, 2);
  EXPECT_EQ(plain.memory[0].scale, 1);
}

TEST(Disassembly, Texts) {
  const auto text = [](Abi abi, const char* bytes) {
    return instruction_text(traits(abi), test::hex(bytes), 0x1000);
  };
  EXPECT_EQ(text(Abi::amd64, "55"), "push %rbp");
  EXPECT_EQ(text(Abi::amd64, "e8 0b 00 00 00"), "call 0x1010");
  // As objdump writes them, but for the blank after a comma.
  EXPECT_EQ(text(Abi::amd64, "ff 50 08"), "call *0x8(%rax)");
  EXPECT_EQ(text(Abi::amd64, "ff e0"), "jmp *%rax");
  EXPECT_EQ(text(Abi::amd64, "0f be 07"), "movsbl (%rdi), %eax");
  EXPECT_EQ(text(Abi::amd64, "66 0f b7 07"), "movzww (%rdi), %ax");
  EXPECT_EQ(text(Abi::amd64, "48 63 07"), "movslq (%rdi), %rax");
  EXPECT_EQ(text(Abi::amd64, "f2 0f 10 07"), "movsd (%rdi), %xmm0");
  EXPECT_EQ(text(Abi::amd64, "f2 0f 2a 07"), "cvtsi2sdl (%rdi), %xmm0");
  EXPECT_EQ(text(Abi::amd64, "f2 48 0f 2a 07"), "cvtsi2sdq (%rdi), %xmm0");
  EXPECT_EQ(text(Abi::amd64, "f3 0f 5a 07"), "cvtss2sd (%rdi), %xmm0");
  EXPECT_EQ(text(Abi::amd64, "3e ff e2"), "notrack jmp *%rdx");
  EXPECT_EQ(text(Abi::amd64, "ff 1f"), "lcall *(%rdi)");
  EXPECT_EQ(text(Abi::amd64, "c7 04 25 10 00 00 00 01 00 00 00"), "movl $0x1, 0x10");
  EXPECT_EQ(text(Abi::amd64, "c8 10 00 00"), "enter $0x10, $0x0");
  EXPECT_EQ(text(Abi::aarch64_little, "fd 7b be a9"), "stp x29, x30, [sp, #-0x20]!");
  EXPECT_EQ(text(Abi::aarch64_big, "c0 03 5f d6"), "ret");
  EXPECT_EQ(text(Abi::s390x, "eb 6f f0 30 00 24"), "stmg %r6, %r15, 0x30(%r15)");
  EXPECT_EQ(text(Abi::amd64, "06 1f e2 a0"), "06 1f e2 a0"); // no instruction
  EXPECT_EQ(text(Abi::amd64, ""), "");
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

/// Addresses as numbers, and amounts to shift by: la %r1, 8(%r2)   lay %r1, -8(%r2)   sllg %r1, %r2, 3(%r4)
/// srlg, rllg, the same   sra %r1, 3(%r4)
TEST(Disassembly, S390xAddressArithmeticAccessesNothing) {
  const auto registers_of = [](std::initializer_list<int> bytes) {
    const auto found = operands(Abi::s390x, bytes);
    EXPECT_TRUE(found.memory.empty()) << *bytes.begin();
    return found.registers;
  };
  EXPECT_EQ(registers_of({0x41, 0x10, 0x20, 0x08}), (Registers{2}));
  EXPECT_EQ(registers_of({0xe3, 0x10, 0x2f, 0xf8, 0xff, 0x71}), (Registers{2}));
  EXPECT_EQ(registers_of({0xeb, 0x12, 0x40, 0x03, 0x00, 0x0d}), (Registers{2, 4}));
  EXPECT_EQ(registers_of({0xeb, 0x12, 0x40, 0x03, 0x00, 0x0c}), (Registers{2, 4}));
  EXPECT_EQ(registers_of({0xeb, 0x12, 0x40, 0x03, 0x00, 0x1c}), (Registers{2, 4}));
  EXPECT_EQ(registers_of({0x8a, 0x10, 0x40, 0x03}), (Registers{4}));
}

TEST(Disassembly, S390xSubtractReadsMemory) { // slg %r1, 8(%r2)   sl %r1, 8(%r2)
  EXPECT_EQ(memory_texts(Abi::s390x, {0xe3, 0x10, 0x20, 0x08, 0x00, 0x0b}), (Texts{"r2 + 8 read"}));
  EXPECT_EQ(memory_texts(Abi::s390x, {0x5f, 0x10, 0x20, 0x08}), (Texts{"r2 + 8 read"}));
}

TEST(Disassembly, S390xStorageToStorage) { // mvc, clc, oc 160(8,%r15), 0(%r2)   llgc %r1, 8(%r2)
  EXPECT_EQ(memory_texts(Abi::s390x, {0xd2, 0x07, 0xf0, 0xa0, 0x20, 0x00}),
            (Texts{"r15 + 160.8 written", "r2 + 0 read"}));
  EXPECT_EQ(memory_texts(Abi::s390x, {0xd5, 0x07, 0xf0, 0xa0, 0x20, 0x00}),
            (Texts{"r15 + 160.8 read", "r2 + 0 read"}));
  EXPECT_EQ(memory_texts(Abi::s390x, {0xd6, 0x07, 0xf0, 0xa0, 0x20, 0x00}),
            (Texts{"r15 + 160.8 read written", "r2 + 0 read"}));
  EXPECT_EQ(memory_texts(Abi::s390x, {0xe3, 0x10, 0x20, 0x08, 0x00, 0x90}), (Texts{"r2 + 8 read"}));
}

TEST(Disassembly, S390xImmediates) { // mvi 163(%r15), 1   xi 163(%r15), 1   agsi 8(%r2), 1
  EXPECT_EQ(memory_texts(Abi::s390x, {0x92, 0x01, 0xf0, 0xa3}), (Texts{"r15 + 163 written"}));
  EXPECT_EQ(memory_texts(Abi::s390x, {0x97, 0x01, 0xf0, 0xa3}), (Texts{"r15 + 163 read written"}));
  EXPECT_EQ(memory_texts(Abi::s390x, {0xeb, 0x01, 0x20, 0x08, 0x00, 0x7a}), (Texts{"r2 + 8 read written"}));
}

TEST(Disassembly, S390xRegisters) { // agr %r1, %r2   stmg %r6, %r15, 48(%r15)
  EXPECT_EQ(operands(Abi::s390x, {0xb9, 0x08, 0x00, 0x12}).registers, (Registers{2}));
  const std::initializer_list<int> stmg = {0xeb, 0x6f, 0xf0, 0x30, 0x00, 0x24};
  EXPECT_EQ(operands(Abi::s390x, stmg).registers, (Registers{6, 15}));
  EXPECT_EQ(memory_texts(Abi::s390x, stmg), (Texts{"r15 + 48 written"}));
}

} // namespace code_disassembly_test
} // namespace sframe::code
