// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signal frames in made-up cores, whole and hostile. Layouts: Linux arch/x86/include/asm/sigframe.h,
// arch/arm64/kernel/signal.c, arch/s390/kernel/signal.c; exceptions: arch/x86/include/asm/trapnr.h.

#include "elf_builder.h"

#include "sframe/crash/crash.h"
#include "sframe/crash/signals_on_stack.h"

#include "sframe/steppers/steppers.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace crash_signals_on_stack_test {

using namespace sframe;
using namespace sframe::test;
using crash::SignalOnStack;
using namespace std::literals;

constexpr std::uint64_t code = 0x400000, stack = 0x7ff000000000, page = 0x1000, apart = 0x400,
                        other_code = code + apart,
                        elsewhere = 0x600000; ///< no memory: nothing leads on from there

/// Offsets from SP in the trampoline; 0: there is none.
struct Layout {
  std::uint16_t machine;
  ByteOrder order;
  std::string_view trampoline;
  unsigned registers, pc_at, sp_at; ///< of NT_PRSTATUS: size, and the indices of pc and SP
  unsigned info, saved_pc, saved_sp, fault_address, exception, error;
};
constexpr Layout amd64{
    62, ByteOrder::little, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05"sv, 27, 16, 19, 304, 168, 160, 216, 200, 192};
constexpr Layout aarch64{
    183, ByteOrder::little, "\x68\x11\x80\xd2\x01\0\0\xd4"sv, 34, 32, 31, 0, 568, 560, 304, 0, 0};
constexpr Layout s390x{22, ByteOrder::big, "\x0a\xad"sv, 27, 1, 17, 168, 344, 472, 0, 0, 0};

struct Signal {
  std::int32_t number = 0, code = 0;
  std::uint64_t address = 0; ///< of the siginfo
  std::uint64_t exception = 0, error = 0, fault_address = 0;
};

// Exceptions of AMD64.
constexpr std::uint64_t divide = 0, breakpoint = 3, opcode = 6, no_device = 7, protection = 13,
                        page_fault = 14, alignment = 17;

/// A thread that is in the trampoline of the first of some handlers, each of which interrupted the next one's
/// trampoline; the last interrupted what the core does not have.
struct MadeUpCore {
  Layout layout = amd64;
  std::vector<Signal> signals;
  std::uint64_t sp = stack;
  std::optional<std::size_t> stack_size;
  std::uint64_t interrupted_pc = elsewhere, interrupted_sp = 0; ///< of the last; SP: 0 is above it
  std::string_view interrupted{};                               ///< what is at other_code

  std::vector<std::byte> build() const {
    Writer text(layout.order);
    text.text(layout.trampoline, apart).text(interrupted, page - apart);
    std::vector<std::byte> memory(stack_size.value_or((signals.size() + 2) * apart));
    const auto put = [&](std::uint64_t at, std::uint64_t value, unsigned size) {
      const auto bytes = Writer(layout.order).number(value, size).bytes;
      for (std::size_t i = 0; i < bytes.size() && at + i < memory.size(); ++i) memory[at + i] = bytes[i];
    };
    for (std::size_t i = 0; i < signals.size(); ++i) {
      const std::uint64_t at = sp - stack + i * apart;
      const bool is_last = i + 1 == signals.size();
      const Signal& signal = signals[i];
      put(at + layout.saved_pc, is_last ? interrupted_pc : code, 8);
      put(at + layout.saved_sp, is_last && interrupted_sp ? interrupted_sp : sp + (i + 1) * apart, 8);
      put(at + layout.info, static_cast<std::uint32_t>(signal.number), 4);
      put(at + layout.info + 8, static_cast<std::uint32_t>(signal.code), 4);
      put(at + layout.info + 16, signal.address, 8);
      if (layout.fault_address) put(at + layout.fault_address, signal.fault_address, 8);
      if (layout.exception)
        put(at + layout.exception, signal.exception, 8), put(at + layout.error, signal.error, 8);
    }
    Writer status(layout.order);
    status.zeros(12).u16(SIGABRT).zeros(18).u32(7).zeros(76);
    for (unsigned i = 0; i < layout.registers; ++i)
      status.u64(i == layout.pc_at ? code : i == layout.sp_at ? sp : 0);
    status.zeros(8);
    TestElf core{.order = layout.order,
                 .type = elf::et_core,
                 .machine = layout.machine,
                 .sections = {},
                 .segments = {}};
    core.segments = {{elf::pt_note, 0, 0, note("CORE", 1, status.bytes, layout.order), 0},
                     {elf::pt_load, 5, code, text.bytes, 0},
                     {elf::pt_load, 6, stack, memory, 0}};
    return core.build();
  }
};

/// What `use` makes of the signals that are found, and of the process.
template <class Use> auto with_signals(const MadeUpCore& made, Use&& use) {
  using Result = decltype(use(std::vector<SignalOnStack>(), std::declval<process::CoreProcess&>()));
  const auto bytes = made.build();
  const auto core = core::Core::parse(bytes);
  EXPECT_TRUE(core);
  if (!core) return Result();
  const auto process = process::CoreProcess::create(*core, {.open_files = false});
  EXPECT_TRUE(process);
  if (!process || (*process)->threads().empty()) return Result();
  process::CoreSpace& space = (*process)->space();
  unwind::Walker walker(space, steppers::default_steppers(space.abi(), nullptr));
  return use(crash::signals_on_stack((*process)->threads().front(), **process, walker), **process);
}

std::vector<SignalOnStack> find(const MadeUpCore& made) {
  return with_signals(made, [](std::vector<SignalOnStack> found, process::CoreProcess&) { return found; });
}

/// The signal of the fault that explains the instruction `interrupted`; nothing if there is none.
std::optional<int> first_fault(const Layout& layout, const Signal& signal, std::string_view interrupted) {
  const MadeUpCore made{
      .layout = layout, .signals = {signal}, .interrupted_pc = other_code, .interrupted = interrupted};
  return with_signals(made, [](const std::vector<SignalOnStack>& found, process::CoreProcess& process) {
    const auto fault = crash::first_fault(process, found);
    return fault ? std::optional<int>(fault->from.info.signal) : std::nullopt;
  });
}

/// The signal and code of the only one; nothing if there is none.
std::optional<std::pair<int, int>> signal_of(const MadeUpCore& made) {
  const auto found = find(made);
  EXPECT_LE(found.size(), 1u);
  return found.empty() ? std::nullopt
                       : std::optional(std::pair<int, int>(found[0].info.signal, found[0].info.code));
}
using Pair = std::pair<int, int>;

TEST(SignalsOnStack, FaultWithItsFrame) {
  const auto found = find({.signals = {{SIGSEGV, SEGV_MAPERR, 8, page_fault, 4, 8}}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].frame, 1u);
  EXPECT_EQ(found[0].info.signal, SIGSEGV);
  EXPECT_EQ(found[0].info.code, SEGV_MAPERR);
  EXPECT_EQ(found[0].info.address, 8u);
  EXPECT_TRUE(found[0].info.has_sender);
  EXPECT_FALSE(found[0].certain); // of a handler without SA_SIGINFO it could be left over
  EXPECT_FALSE(found[0].from_instruction);
  EXPECT_EQ(found[0].interrupted.registers.pc, elsewhere);
  EXPECT_EQ(found[0].interrupted.registers.get(7), stack + apart);
  EXPECT_EQ(found[0].interrupted.registers.get(16), std::nullopt);
  EXPECT_FALSE(found[0].interrupted.after_fault);
}

// What the kernel sends for each exception (arch/x86/kernel/traps.c), where the handler has no siginfo.
TEST(SignalsOnStack, ExceptionsOfAmd64) {
  for (const auto& [exception, error, expected] :
       {std::tuple(divide, 0u, std::optional(Pair(SIGFPE, FPE_INTDIV))),
        {breakpoint, 0u, Pair(SIGTRAP, SI_KERNEL)},
        {opcode, 0u, Pair(SIGILL, ILL_ILLOPN)},
        {protection, 0u, Pair(SIGSEGV, SI_KERNEL)},
        {page_fault, 6u, Pair(SIGSEGV, SEGV_MAPERR)},
        {page_fault, 7u, Pair(SIGSEGV, SEGV_ACCERR)},
        {alignment, 0u, Pair(SIGBUS, BUS_ADRALN)},
        {no_device, 0u, std::nullopt},
        {~std::uint64_t{0}, 0u, std::nullopt}})
    for (const std::int32_t garbage : {0, SIGSEGV, -1}) { // no codes of faults
      const MadeUpCore made{.signals = {{garbage, SI_USER, 77, exception, error, 0x1234}}};
      EXPECT_EQ(signal_of(made), expected) << exception;
      const auto found = find(made);
      if (found.empty()) continue;
      EXPECT_EQ(found[0].info.address, exception == page_fault ? 0x1234u : 0u);
      EXPECT_FALSE(found[0].info.has_sender);
    }
}

// A siginfo that is left over is another fault's than the exception.
TEST(SignalsOnStack, InfoThatDoesNotFit) {
  EXPECT_EQ(find({.signals = {{SIGSEGV, SEGV_ACCERR, 0x10, page_fault, 4, 8}}}).at(0).info.address, 8u);
  EXPECT_EQ(signal_of({.signals = {{SIGSEGV, SEGV_ACCERR, 0x10, page_fault, 4, 8}}}),
            Pair(SIGSEGV, SEGV_MAPERR));
  EXPECT_EQ(signal_of({.signals = {{SIGFPE, FPE_INTDIV, 0, opcode, 0, 0}}}), Pair(SIGILL, ILL_ILLOPN));
  EXPECT_EQ(signal_of({.signals = {{SIGILL, ILL_ILLOPN, 0, divide, 0, 0}}}), Pair(SIGFPE, FPE_INTDIV));
  // Page faults of short files are SIGBUS, and a system call is no exception.
  EXPECT_EQ(signal_of({.signals = {{SIGBUS, BUS_ADRERR, 8, page_fault, 4, 8}}}), Pair(SIGBUS, BUS_ADRERR));
  EXPECT_EQ(signal_of({.signals = {{SIGBUS, BUS_ADRERR, 9, page_fault, 4, 8}}}), Pair(SIGSEGV, SEGV_MAPERR));
  EXPECT_EQ(signal_of({.signals = {{SIGSYS, 1, 0x400100, page_fault, 4, 8}}}), Pair(SIGSYS, 1));
  // An exception that is not known excludes nothing; codes that do not exist do.
  EXPECT_EQ(signal_of({.signals = {{SIGSEGV, SEGV_MAPERR, 8, no_device, 0, 0}}}), Pair(SIGSEGV, SEGV_MAPERR));
  EXPECT_EQ(signal_of({.signals = {{SIGSEGV, 99, 8, no_device, 0, 0}}}), std::nullopt);
  EXPECT_EQ(signal_of({.signals = {{SIGUSR1, SI_KERNEL, 8, no_device, 0, 0}}}), std::nullopt);
}

TEST(SignalsOnStack, AArch64) {
  const auto with = [](Signal signal) { return MadeUpCore{.layout = aarch64, .signals = {signal}}; };
  const auto found = find(with({SIGSEGV, SEGV_MAPERR, 0x10, 0, 0, 0x10}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].certain);
  EXPECT_EQ(found[0].interrupted.registers.get(31), stack + apart);
  // The kernel removes the tag of one of both.
  EXPECT_EQ(signal_of(with({SIGSEGV, SEGV_ACCERR, 0x10, 0, 0, 0x0b00000000000010})),
            Pair(SIGSEGV, SEGV_ACCERR));
  EXPECT_EQ(signal_of(with({SIGSEGV, SEGV_ACCERR, 0x10, 0, 0, 0x18})), std::nullopt);
  EXPECT_EQ(signal_of(with({SIGILL, ILL_ILLOPC, 0x10, 0, 0, 0x18})), Pair(SIGILL, ILL_ILLOPC));
  EXPECT_EQ(signal_of(with({SIGSEGV, SI_TKILL, 0x10, 0, 0, 0x10})), std::nullopt);
}

// Its kernel always writes the siginfo of an rt_sigframe. The pc is after instructions that were suppressed.
TEST(SignalsOnStack, S390x) {
  for (const auto& [number, fault, is_after] : {std::tuple<int, int, bool>(SIGFPE, FPE_INTDIV, true),
                                                {SIGILL, ILL_ILLOPC, true},
                                                {SIGSEGV, SEGV_MAPERR, false}}) {
    const auto found = find({.layout = s390x, .signals = {{number, fault, 0x10}}});
    ASSERT_EQ(found.size(), 1u) << number;
    EXPECT_TRUE(found[0].certain);
    EXPECT_EQ(found[0].info.signal, number);
    EXPECT_EQ(found[0].interrupted.after_fault, is_after);
    EXPECT_EQ(found[0].interrupted.registers.get(15), stack + apart);
  }
  // sigreturn: a frame without siginfo.
  MadeUpCore made{.layout = s390x, .signals = {{SIGFPE, FPE_INTDIV, 0x10}}};
  made.layout.trampoline = "\x0a\x77"sv;
  made.layout.saved_pc = 184, made.layout.saved_sp = 176 + 16 + 15 * 8;
  EXPECT_EQ(find(made).size(), 0u);
}

// A hostile core can have any number of signal frames.
TEST(SignalsOnStack, ManyFrames) {
  const auto found = find({.signals = std::vector<Signal>(30, {SIGSEGV, SEGV_MAPERR, 8, page_fault, 4, 8})});
  ASSERT_EQ(found.size(), 16u);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].frame, i + 1);
  // Signals that were sent do not count.
  std::vector<Signal> sent(20, {SIGUSR1, SI_USER, 0, no_device});
  sent.push_back({SIGFPE, FPE_INTDIV, 0, divide});
  const auto last = find({.signals = sent});
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].frame, 21u);
}

// The interrupted frame is the signal frame itself, or one before it.
TEST(SignalsOnStack, LoopsEnd) {
  for (const std::uint64_t back : {2 * apart, apart, std::uint64_t{0}}) {
    const auto found = find({.signals = std::vector<Signal>(3, {SIGSEGV, SEGV_MAPERR, 8, page_fault, 4, 8}),
                             .interrupted_pc = code,
                             .interrupted_sp = stack + back});
    EXPECT_GE(found.size(), 2u);
    EXPECT_LE(found.size(), 16u);
  }
}

// The stack ends within the signal frame: what is there counts.
TEST(SignalsOnStack, FrameAtTheEndOfMemory) {
  const std::vector<Signal> one = {{SIGBUS, BUS_ADRERR, 8, page_fault, 4, 8}};
  std::size_t with_info = 0, without = 0;
  for (std::size_t size = 8; size <= 512; size += 8) {
    const auto found = find({.signals = one, .stack_size = size});
    if (found.empty()) {
      EXPECT_EQ(with_info + without, 0u) << size; // not after more memory made one
      continue;
    }
    ASSERT_EQ(found.size(), 1u);
    ++(found[0].info.signal == SIGBUS ? with_info : without);
    // cr2 is the last of what is needed, before the siginfo, of which 32 bytes are read.
    EXPECT_GE(size, 224u);
    EXPECT_EQ(found[0].info.signal == SIGBUS, size >= 304 + 32) << size;
  }
  EXPECT_GT(with_info, 0u);
  EXPECT_GT(without, 0u);
}

TEST(SignalsOnStack, StackPointersThatLeadNowhere) {
  for (const std::uint64_t sp : {std::uint64_t{0}, std::uint64_t{8}, ~std::uint64_t{0},
                                 ~std::uint64_t{0} - 200, stack - apart, stack + 0x8000})
    for (const Layout& layout : {amd64, aarch64, s390x}) {
      MadeUpCore made{.layout = layout};
      made.sp = sp;
      EXPECT_TRUE(find(made).empty()) << sp;
    }
  EXPECT_EQ(find({.signals = {{SIGSEGV, SEGV_MAPERR, 8, page_fault, 4, 8}},
                  .interrupted_pc = 0,
                  .interrupted_sp = ~std::uint64_t{7}})
                .size(),
            1u);
}

// What the kernel has put on the stack may be of an older fault: the instruction must be able to raise it.
TEST(SignalsOnStack, FaultsThatFitTheInstruction) {
  constexpr std::uint64_t simd = 19; // the exception of SSE's arithmetic
  const Signal none{.exception = opcode};
  EXPECT_EQ(first_fault(amd64, none, "\x0f\x0b"sv), SIGILL);     // ud2
  EXPECT_EQ(first_fault(amd64, none, "\x0f\xb9\xc0"sv), SIGILL); // ud1 %eax, %eax
  EXPECT_EQ(first_fault(amd64, none, "\x90"sv), std::nullopt);   // nop
  const Signal integer{.exception = divide};
  EXPECT_EQ(first_fault(amd64, integer, "\x48\xf7\xf1"sv), SIGFPE); // div %rcx, by 0
  EXPECT_EQ(first_fault(amd64, integer, "\x90"sv), std::nullopt);
  // A floating-point division is none of integers: the siginfo has its address.
  const Signal vector{SIGFPE, FPE_FLTDIV, other_code, simd};
  EXPECT_EQ(first_fault(amd64, vector, "\xf2\x0f\x5e\xc1"sv), SIGFPE); // divsd %xmm1, %xmm0
  // AArch64: "udiv" is no undefined instruction; a siginfo that is left over has another address.
  const Signal old{SIGILL, ILL_ILLOPC, 0x10, 0, 0, 0x10};
  EXPECT_EQ(first_fault(aarch64, old, "\x00\x08\xc1\x9a"sv), std::nullopt); // udiv x0, x0, x1
  const Signal at_pc{SIGILL, ILL_ILLOPC, other_code, 0, 0, 0x10};
  EXPECT_EQ(first_fault(aarch64, at_pc, "\x00\x00\x00\x00"sv), SIGILL); // udf #0
}

} // namespace crash_signals_on_stack_test
