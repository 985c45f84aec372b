// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration with the kernel, which has no such system calls: a filter makes them signals in a child, whose
// handler answers as the proposal says (struct sframe_setup).

#include "sframe/c/jit.h"

#include "sframe/jit/publishers.h"
#include "sframe/section.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

namespace c_jit_kernel_test {

using namespace sframe;

constexpr long add_number = 7001, drop_number = 7002; ///< no system calls

jit::Rows make_rows() {
  const AbiTraits& abi = traits(jit::host_abi());
  const FrameRow rows[] = {{0, Rule::value(abi.sp, 16), Rule::at_cfa(-8), {}, false},
                           {4, Rule::value(abi.sp, 48), Rule::at_cfa(-8), Rule::at_cfa(-16), false}};
  return jit::Rows::make({.size = 0x40}, rows).value();
}

struct Arguments {
  std::uint64_t sframe_start = 0, sframe_size = 0, text_start = 0, text_size = 0;
};

/// What the filter's handler has seen. No allocation in it.
struct Kernel {
  std::array<Arguments, 16> added, dropped;
  std::size_t num_added = 0, num_dropped = 0, wrong_size = 0;
  int next_error = 0; ///< what the next call returns, if not 0
} kernel;

long answer(long number, const Arguments* setup, std::size_t size) {
  if (size != 32) {
    ++kernel.wrong_size;
    return -EINVAL;
  }
  if (kernel.next_error) return -std::exchange(kernel.next_error, 0);
  if (number == add_number)
    kernel.added[kernel.num_added++] = *setup;
  else
    kernel.dropped[kernel.num_dropped++] = *setup;
  return 0;
}

void on_call(int, siginfo_t* info, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  const auto setup = registers.gregs[REG_RDI];
  const auto size = registers.gregs[REG_RSI];
  auto& result = registers.gregs[REG_RAX];
#elif defined(__aarch64__)
  const auto setup = registers.regs[0];
  const auto size = registers.regs[1];
  auto& result = registers.regs[0];
#else
  const auto setup = registers.gregs[2];
  const auto size = registers.gregs[3];
  auto& result = registers.gregs[2];
#endif
  result = static_cast<std::remove_reference_t<decltype(result)>>(
      answer(info->si_syscall, reinterpret_cast<const Arguments*>(setup), static_cast<std::size_t>(size)));
}

bool start_kernel() {
  struct sigaction action = {};
  action.sa_sigaction = on_call;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSYS, &action, nullptr);
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(add_number), 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(drop_number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program = {std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Runs the test in a child with the system calls. `body` returns the number of the line that has failed, or
/// 0.
template <class Body> void with_kernel(Body&& body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(start_kernel() ? body() : 255);
  int status = 0;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 255) GTEST_SKIP() << "no seccomp";
  EXPECT_EQ(0, WEXITSTATUS(status)) << "number of the check";
}

TEST(JitKernel, WithoutTheSystemCallsNothingIsDone) {
  const jit::Rows rows = make_rows();
  jit::KernelRegistration absent(add_number, drop_number);
  EXPECT_FALSE(absent.is_available());
  EXPECT_TRUE(absent.add({0x1000, "f", rows})); // no failure
  absent.drop({0x1000, "f", rows});
}

TEST(JitKernel, SectionsAreRegisteredWithTheirCode) {
  with_kernel([] {
    const jit::Rows rows = make_rows();
    jit::KernelRegistration publisher(add_number, drop_number);
    if (!publisher.is_available()) return 1;
    kernel.wrong_size = 0;
    if (!publisher.add({0x100000, "f", rows}) || !publisher.add({0x200000, "g", rows})) return 2;
    if (kernel.num_added != 2 || kernel.wrong_size) return 3;
    for (std::size_t i = 0; i < 2; ++i) {
      const Arguments& setup = kernel.added[i];
      if (setup.text_start != 0x100000 * (i + 1) || setup.text_size != 0x40) return 4;
      // The section says what the rows say, from where it is.
      const auto section = Section::parse(
          {reinterpret_cast<const std::byte*>(setup.sframe_start), setup.sframe_size}, setup.sframe_start);
      if (!section || section->num_fdes() != 1) return 5;
      const auto found = section->find(setup.text_start + 5);
      if (!found || !*found || (*found)->row.cfa.offset != 48) return 6;
      if (section->find(setup.text_start + 0x40)->has_value()) return 7;
    }
    publisher.drop({0x100000, "f", rows});
    const Arguments& dropped = kernel.dropped[0];
    if (kernel.num_dropped != 1 || dropped.sframe_start != kernel.added[0].sframe_start) return 8;
    if (dropped.sframe_size || dropped.text_start || dropped.text_size) return 9;
    // What the kernel refuses is not there, and is not dropped.
    kernel.next_error = EINVAL;
    if (publisher.add({0x300000, "h", rows})) return 10;
    return kernel.num_added == 2 ? 0 : 11;
  });
}

TEST(JitKernel, InC) {
  sframe_error error = {.size = sizeof error};
  sframe_jit* const without = sframe_jit_make(0, &error);
  EXPECT_EQ(SFRAME_NO_INFO, sframe_jit_register_with_kernel(without, add_number, drop_number, &error));
  EXPECT_EQ(SFRAME_NO_INFO, sframe_jit_register_with_kernel(without, -1, -1, nullptr));
  EXPECT_EQ(SFRAME_INVALID, sframe_jit_register_with_kernel(nullptr, 0, 0, &error));
  sframe_jit_free(without);
  with_kernel([] {
    sframe_jit* const jit = sframe_jit_make(0, nullptr);
    if (sframe_jit_register_with_kernel(jit, add_number, drop_number, nullptr) != SFRAME_OK) return 1;
    if (sframe_jit_register_with_kernel(jit, add_number, drop_number, nullptr) != SFRAME_INVALID) return 2;
    const sframe_function function = {.size = sizeof function, .length = 8};
    sframe_jit_rows* const rows = sframe_jit_rows_make(&function, nullptr, 0, nullptr, 0, nullptr);
    sframe_jit_region region = {};
    if (sframe_jit_add(jit, reinterpret_cast<void*>(0x1000), "f", rows, &region, nullptr) != SFRAME_OK)
      return 3;
    sframe_jit_rows_free(rows);
    if (kernel.num_added != 1 || kernel.added[0].text_start != 0x1000) return 4;
    sframe_jit_free(jit);
    return kernel.num_dropped == 1 ? 0 : 5;
  });
}

} // namespace c_jit_kernel_test
