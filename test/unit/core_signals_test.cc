// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals and their codes as <signal.h> of a Linux host numbers them; SFrame's machines all have the same
// numbers (include/uapi/asm-generic).

#include "sframe/core/core.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace sframe::core {

using namespace elf;
namespace core_signals_test {

TEST(ElfCoreSignals, Names) {
  for (int signal = 1; signal < 32; ++signal) {
    const char* const name = ::sigabbrev_np(signal);
    ASSERT_TRUE(name);
    // 29 is SIGIO, too.
    EXPECT_EQ(signal_name(signal), std::string("SIG") + (signal == SIGPOLL ? "IO" : name)) << signal;
  }
  EXPECT_EQ(signal_name(0), "signal 0");
  EXPECT_EQ(signal_name(32), "signal 32");
  EXPECT_EQ(signal_name(-1), "signal -1");
}

TEST(ElfCoreSignals, Codes) {
  const struct {
    int signal, code;
    const char* name;
  } all[] = {{SIGILL, ILL_ILLOPC, "ILL_ILLOPC"},
             {SIGILL, ILL_PRVREG, "ILL_PRVREG"},
             {SIGILL, ILL_BADSTK, "ILL_BADSTK"},
             {SIGTRAP, TRAP_BRKPT, "TRAP_BRKPT"},
             {SIGTRAP, TRAP_TRACE, "TRAP_TRACE"},
             {SIGTRAP, TRAP_HWBKPT, "TRAP_HWBKPT"},
             {SIGTRAP, TRAP_UNK, "TRAP_UNK"},
             {SIGBUS, BUS_ADRALN, "BUS_ADRALN"},
             {SIGBUS, BUS_ADRERR, "BUS_ADRERR"},
             {SIGBUS, BUS_OBJERR, "BUS_OBJERR"},
             {SIGBUS, BUS_MCEERR_AR, "BUS_MCEERR_AR"},
             {SIGBUS, BUS_MCEERR_AO, "BUS_MCEERR_AO"},
             {SIGFPE, FPE_INTDIV, "FPE_INTDIV"},
             {SIGFPE, FPE_FLTINV, "FPE_FLTINV"},
             {SIGFPE, FPE_FLTSUB, "FPE_FLTSUB"},
             {SIGSEGV, SEGV_MAPERR, "SEGV_MAPERR"},
             {SIGSEGV, SEGV_ACCERR, "SEGV_ACCERR"},
             {SIGSEGV, SEGV_BNDERR, "SEGV_BNDERR"},
             {SIGSEGV, SEGV_PKUERR, "SEGV_PKUERR"},
             {SIGSEGV, SEGV_MTEAERR, "SEGV_MTEAERR"},
             {SIGSEGV, SEGV_MTESERR, "SEGV_MTESERR"},
             {SIGUSR1, SI_USER, "SI_USER"},
             {SIGSEGV, SI_KERNEL, "SI_KERNEL"},
             {SIGUSR1, SI_QUEUE, "SI_QUEUE"},
             {SIGUSR1, SI_TIMER, "SI_TIMER"},
             {SIGUSR1, SI_MESGQ, "SI_MESGQ"},
             {SIGUSR1, SI_ASYNCIO, "SI_ASYNCIO"},
             {SIGABRT, SI_TKILL, "SI_TKILL"},
             {SIGSYS, 1, "SYS_SECCOMP"},
             {SIGSYS, 2, "SYS_USER_DISPATCH"},
             {SIGTRAP, 6, "TRAP_PERF"},
             {SIGSEGV, 10, "SEGV_CPERR"}};
  for (const auto& one : all) {
    const SignalCode found = signal_code(one.signal, one.code);
    EXPECT_EQ(found.name, one.name);
    EXPECT_FALSE(found.meaning.empty()) << one.name;
  }
}

// The kernel sends SIGXCPU for two limits of processor time only (kernel/time/posix-cpu-timers.c).
TEST(ElfCoreSignals, MeaningOfTheKernelsSignals) {
  EXPECT_EQ(signal_code(SIGXCPU, SI_KERNEL).meaning, "processor time limit exceeded");
  EXPECT_EQ(signal_code(SIGSEGV, SI_KERNEL).meaning, "sent by the kernel");
}

// One more than the last of each, codes of other signals, and unknown ones of a program.
TEST(ElfCoreSignals, UnknownCodes) {
  const std::pair<int, int> unknown[] = {{SIGILL, 9},   {SIGTRAP, 7},  {SIGBUS, 6},     {SIGFPE, 9},
                                         {SIGSEGV, 11}, {SIGSYS, 3},   {SIGUSR1, 1},    {SIGABRT, 5},
                                         {SIGSEGV, -5}, {SIGSEGV, -7}, {SIGSEGV, 0x7f}, {0, 1}};
  for (const auto& [signal, code] : unknown)
    EXPECT_TRUE(signal_code(signal, code).name.empty()) << signal << ' ' << code;
}

} // namespace core_signals_test
} // namespace sframe::core
