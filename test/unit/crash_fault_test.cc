// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults of made-up cores. What they mean follows from the manuals of the processors, and from what Linux
// reports of each exception (arch/x86/kernel/traps.c, arch/x86/mm/fault.c, arch/s390/mm/fault.c).

#include "crash_core.h"

#include "sframe/crash/crash.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>

namespace crash_fault_test {

using namespace sframe;
using namespace sframe::test;
using namespace std::literals;
using crash::Crash;
using Access = crash::Fault::Access;

constexpr std::uint64_t sp = CrashCore::stack_at + CrashCore::page / 2;

Crash explain(const CrashCore& made) {
  const OpenedCrash opened(made);
  EXPECT_TRUE(opened.process);
  return opened.process ? crash::explain_crash(*opened.process, {}) : Crash();
}

TEST(CrashFault, WriteToNull) { // mov %rax, 8(%rdi)
  const Crash crash = explain({.registers = {{at_rax, 5}},
                               .code = "\x48\x89\x47\x08"sv,
                               .info = {.signal = SIGSEGV, .code = SEGV_MAPERR, .address = 8}});
  EXPECT_EQ(crash.tid, 7u);
  EXPECT_EQ(crash.code, SEGV_MAPERR);
  EXPECT_EQ(crash.code_name, "SEGV_MAPERR");
  EXPECT_EQ(crash.access, Access::write);
  EXPECT_EQ(crash.address, 8u);
  EXPECT_EQ(crash.meaning, "write to 0x8, not mapped");
  EXPECT_EQ(crash.guess, "a null pointer + 0x8");
  ASSERT_TRUE(crash.instruction);
  EXPECT_EQ(crash.instruction->pc, CrashCore::code_at);
  ASSERT_EQ(crash.instruction->registers.size(), 2u);
  EXPECT_EQ(crash.instruction->registers[0].name, "rax");
  EXPECT_EQ(crash.instruction->registers[0].value, 5u);
  EXPECT_EQ(crash.instruction->registers[1].name, "rdi");
  EXPECT_FALSE(crash.sender);
  EXPECT_FALSE(crash.first_fault);
}

// The processor has no address where bits 47 to 63 differ: the kernel sends SI_KERNEL without one.
TEST(CrashFault, NotCanonical) {
  const core::SignalInfo refused{.signal = SIGSEGV, .code = SI_KERNEL};
  for (const auto& [address, is_canonical] : {std::pair(0x0000800000000000u, false),
                                              {0xffff7fffffffffffu, false},
                                              {0x00007ffffffffff0u, true},
                                              {0xffff800000000000u, true}}) {
    const Crash crash = explain(
        {.registers = {{at_rdi, address}}, .code = "\x8b\x07"sv, .info = refused}); // mov (%rdi), %eax
    EXPECT_EQ(crash.address, is_canonical ? std::nullopt : std::optional(std::uint64_t{address})) << address;
    EXPECT_EQ(crash.access, is_canonical ? Access::unknown : Access::read) << address;
  }
  const Crash text =
      explain({.registers = {{at_rdi, 0x6161616161616161}}, .code = "\x8b\x07"sv, .info = refused});
  EXPECT_EQ(text.meaning, "read of 0x6161616161616161, not a canonical address");
  EXPECT_EQ(text.guess, "a pointer overwritten by the text \"aaaaaaaa\"");
  const Crash end =
      explain({.registers = {{at_rdi, 0x00007ffffffffffe}}, .code = "\x8b\x07"sv, .info = refused});
  EXPECT_EQ(end.meaning, "read of 0x7ffffffffffe, runs past the last canonical address");
}

TEST(CrashFault, RefusedBranches) {
  const core::SignalInfo refused{.signal = SIGSEGV, .code = SI_KERNEL};
  const Crash returned =
      explain({.code = "\xc3"sv, .info = refused, .words = {{sp, 0x4242424242424242}}}); // ret
  EXPECT_EQ(returned.access, Access::execute);
  EXPECT_EQ(returned.meaning, "return to 0x4242424242424242, not a canonical address");
  EXPECT_EQ(returned.guess, "a return address overwritten by the text \"BBBBBBBB\"");
  EXPECT_TRUE(returned.instruction);
  const Crash called =
      explain({.registers = {{at_rax, 1ULL << 60}}, .code = "\xff\xd0"sv, .info = refused}); // call *%rax
  EXPECT_EQ(called.meaning, "call to 0x1000000000000000, not a canonical address");
  const Crash other = explain({.code = "\xf4"sv, .info = refused}); // hlt
  EXPECT_EQ(other.meaning, "the processor refused the instruction (general protection)");
}

TEST(CrashFault, Misaligned) { // movaps %xmm0, 8(%rsp)
  const Crash crash =
      explain({.code = "\x0f\x29\x44\x24\x08"sv, .info = {.signal = SIGSEGV, .code = SI_KERNEL}});
  EXPECT_EQ(crash.access, Access::write);
  EXPECT_EQ(crash.address, sp + 8);
  EXPECT_TRUE(crash.meaning.ends_with(", misaligned")) << crash.meaning;
}

// int3: the pc is after it.
TEST(CrashFault, Breakpoint) {
  const core::SignalInfo trap{.signal = SIGTRAP, .code = SI_KERNEL};
  const Crash crash = explain({.code = "\x90\xcc\x90"sv, .pc = CrashCore::code_at + 2, .info = trap});
  EXPECT_EQ(crash.meaning, "a breakpoint instruction");
  ASSERT_TRUE(crash.instruction);
  EXPECT_EQ(crash.instruction->pc, CrashCore::code_at + 1);
  EXPECT_FALSE(explain({.code = "\x90\x90\xcc"sv, .pc = CrashCore::code_at + 2, .info = trap}).instruction);
}

// One exception, and one code, for a divisor of zero and for a quotient that does not fit.
TEST(CrashFault, Division) {
  const auto divide = [](std::uint64_t by) { // div %rcx, of 1 * 2^64
    return explain({.registers = {{at_rcx, by}, {at_rdx, 1}},
                    .code = "\x48\xf7\xf1"sv,
                    .info = {.signal = SIGFPE, .code = FPE_INTDIV, .address = CrashCore::code_at}});
  };
  EXPECT_EQ(divide(0).meaning, "integer division by zero");
  EXPECT_EQ(divide(1).meaning, "integer division: the quotient does not fit");
}

TEST(CrashFault, Execution) {
  const Crash crash =
      explain({.pc = 0x10, .info = {.signal = SIGSEGV, .code = SEGV_MAPERR, .address = 0x10}});
  EXPECT_EQ(crash.access, Access::execute);
  EXPECT_EQ(crash.meaning, "execute at 0x10, not mapped");
  EXPECT_FALSE(crash.instruction);
  // A return leaves the address below SP; there is no code at what SP points to.
  const Crash returned = explain({.pc = 0x10,
                                  .info = {.signal = SIGSEGV, .code = SEGV_MAPERR, .address = 0x10},
                                  .words = {{sp - 8, 0x10}}});
  EXPECT_EQ(returned.meaning, "return to 0x10, not mapped");
  // After a call, SP points to code.
  const Crash called = explain({.pc = 0x10,
                                .info = {.signal = SIGSEGV, .code = SEGV_MAPERR, .address = 0x10},
                                .words = {{sp - 8, 0x10}, {sp, CrashCore::code_at}}});
  EXPECT_EQ(called.meaning, "execute at 0x10, not mapped");
}

TEST(CrashFault, ExecutionOfData) { // the zeros there are no add %al, (%rax)
  const Crash crash = explain({.registers = {{at_rax, sp}},
                               .pc = sp,
                               .info = {.signal = SIGSEGV, .code = SEGV_ACCERR, .address = sp}});
  EXPECT_EQ(crash.access, Access::execute);
  EXPECT_EQ(crash.meaning, "execute at 0x7ff000000800, not permitted: data");
  EXPECT_FALSE(crash.instruction);
}

TEST(CrashFault, NotPermitted) { // mov %rax, (%rdi)
  const std::uint64_t at = CrashCore::code_at + 16;
  const Crash crash = explain({.registers = {{at_rdi, at}},
                               .code = "\x48\x89\x07"sv,
                               .info = {.signal = SIGSEGV, .code = SEGV_ACCERR, .address = at}});
  EXPECT_EQ(crash.meaning, "write to 0x400010, not permitted: code");
}

TEST(CrashFault, StackOverflow) { // push %rax, at the first bytes of the stack
  const std::uint64_t at = CrashCore::stack_at - 8;
  const Crash crash = explain({.code = "\x50"sv,
                               .sp = CrashCore::stack_at,
                               .info = {.signal = SIGSEGV, .code = SEGV_MAPERR, .address = at}});
  EXPECT_EQ(crash.access, Access::write);
  EXPECT_EQ(crash.guess, "a stack overflow");
}

// The address is none that the operand has by its general registers.
TEST(CrashFault, AccessElsewhere) {
  const std::uint64_t base = CrashCore::stack_at, far = base + 0x100000;
  const auto access = [&](std::string_view code) {
    return explain({.registers = {{at_rax, 0x800000}, {at_rdi, base}},
                    .code = code,
                    .info = {.signal = SIGSEGV, .code = SEGV_MAPERR, .address = far}})
        .meaning;
  };
  const std::string rest = hex(far) + ", not mapped";
  EXPECT_EQ(access("\x48\x0f\xa3\x07"sv), "read of " + rest);              // bt %rax, (%rdi): bit 0x800000
  EXPECT_EQ(access("\x48\x0f\xbb\x07"sv), "read and write to " + rest);    // btc
  EXPECT_EQ(access("\xc4\xe2\xed\x92\x04\xc8"sv), "read of " + rest);      // vgatherdpd
  EXPECT_EQ(access("\x62\xf2\xfd\x49\xa2\x04\xc8"sv), "write to " + rest); // vscatterdpd
  EXPECT_EQ(access("\x67\x8b\x07"sv), "read of " + rest);                  // mov (%edi), %eax
  EXPECT_EQ(access("\x67\x89\x07"sv), "write to " + rest);
  EXPECT_EQ(access("\x64\x48\x8b\x04\x25\x08\0\0\0"sv), "read of " + rest); // mov %fs:8, %rax
  EXPECT_EQ(access("\x67\xff\x37"sv), "read of " + rest);                   // push (%edi): the stack is there
  EXPECT_EQ(access("\xff\x37"sv), "access to " + rest);                     // push (%rdi): neither operand
}

TEST(CrashFault, Senders) {
  const auto sent_by = [](std::uint32_t pid, int code) {
    const std::uint64_t user = 1000; // si_pid and si_uid are where other signals have their address
    return explain({.info = {.signal = SIGTERM, .code = code, .address = user << 32 | pid}});
  };
  const Crash other = sent_by(99, SI_USER);
  ASSERT_TRUE(other.sender);
  EXPECT_EQ(other.sender->pid, 99u);
  EXPECT_EQ(other.sender->user, 1000u);
  EXPECT_EQ(other.meaning, "sent by process 99, user 1000");
  EXPECT_EQ(sent_by(7, SI_TKILL).meaning, "raised by the process itself");
  EXPECT_EQ(sent_by(7, SI_USER).meaning, "sent by the process to itself");
  EXPECT_FALSE(sent_by(99, SI_TIMER).sender);
}

// The kernel of s390x has the page of an address; the operand has the rest.
TEST(CrashFault, PageOfS390x) { // lg %r2, 8(%r3)
  const Crash crash = explain({.record = s390x_registers,
                               .registers = {{2 + 3, 0x12345000}},
                               .code = "\xe3\x20\x30\x08\x00\x04"sv,
                               .info = {.signal = SIGSEGV, .code = SEGV_MAPERR, .address = 0x12345000}});
  if (!crash.instruction) GTEST_SKIP() << "no disassembler for s390x";
  EXPECT_EQ(crash.access, Access::read);
  EXPECT_EQ(crash.address, 0x12345008u);
}

TEST(CrashFault, NoSignal) {
  const Crash crash = explain({});
  EXPECT_EQ(crash.tid, 0u);
  EXPECT_TRUE(crash.meaning.empty());
}

// A handler that raises the signal while it is blocked, and returns: no signal frame is left.
TEST(CrashFault, FirstFaultByTheInstruction) {
  const std::uint64_t self = 7; // si_pid
  CrashCore made{.registers = {{at_rcx, 0}},
                 .code = "\x48\xf7\xf1"sv, // div %rcx
                 .info = {.signal = SIGFPE, .code = SI_TKILL, .address = self}};
  const Crash crash = explain(made);
  ASSERT_TRUE(crash.first_fault);
  EXPECT_TRUE(crash.first_fault->from.from_instruction);
  EXPECT_EQ(crash.first_fault->from.info.signal, SIGFPE);
  EXPECT_EQ(crash.first_fault->code, FPE_INTDIV);
  made.registers = {{at_rcx, 3}}; // the division does not fault
  EXPECT_FALSE(explain(made).first_fault);
  made = {.code = "\x0f\x0b"sv, .info = {.signal = SIGILL, .code = SI_TKILL, .address = self}}; // ud2
  EXPECT_TRUE(explain(made).first_fault);
  made.code = "\x0f\x05\x0f\x0b"sv; // a thread that sends itself a signal dies after the system call
  made.pc = CrashCore::code_at + 2;
  EXPECT_FALSE(explain(made).first_fault);
}

} // namespace crash_fault_test
