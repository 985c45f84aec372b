// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ready accessors of libunwind's interface, _UPT_* and _UCD_*, with NULL arguments or too little memory.
// The lit tests libunwind-remote and libunwind-core use them for whole walks.

#include "allocations.h"
#include "inputs.h"

#include "libunwind-coredump.h"
#include "libunwind-ptrace.h"

#include <gtest/gtest.h>

#include <string>
#include <unistd.h>

namespace libunwind_targets_test {

using namespace sframe::test;

TEST(LibunwindTargets, NullIsRefused) {
  constexpr unw_word_t ip = 0x1000;
  unw_proc_info_t info;
  unw_word_t value = 0;
  unw_fpreg_t wide{};
  unw_cursor_t cursor;
  char name[8];
  EXPECT_EQ(_UPT_find_proc_info(nullptr, ip, &info, 1, nullptr), -UNW_EINVAL);
  EXPECT_EQ(_UPT_access_mem(nullptr, ip, &value, 0, nullptr), -UNW_EINVAL);
  EXPECT_EQ(_UPT_access_reg(nullptr, 0, &value, 0, nullptr), -UNW_EINVAL);
  EXPECT_EQ(_UPT_access_fpreg(nullptr, 0, &wide, 0, nullptr), -UNW_EINVAL);
  EXPECT_EQ(_UPT_get_proc_name(nullptr, ip, name, 8, &value, nullptr), -UNW_EINVAL);
  EXPECT_EQ(_UPT_get_dyn_info_list_addr(nullptr, nullptr, nullptr), -UNW_EINVAL);
  EXPECT_EQ(_UPT_resume(nullptr, &cursor, nullptr), -UNW_EINVAL);
  _UPT_destroy(nullptr);

  EXPECT_EQ(_UCD_create(nullptr), nullptr);
  EXPECT_EQ(_UCD_get_num_threads(nullptr), 0);
  _UCD_select_thread(nullptr, 0);
  EXPECT_EQ(_UCD_get_pid(nullptr), 0);
  EXPECT_EQ(_UCD_get_cursig(nullptr), 0);
  EXPECT_EQ(_UCD_add_backing_file_at_segment(nullptr, 0, "/bin/sh"), -1);
  EXPECT_EQ(_UCD_add_backing_file_at_vaddr(nullptr, 0, "/bin/sh"), -1);
  EXPECT_EQ(_UCD_find_proc_info(nullptr, ip, &info, 1, nullptr), -UNW_EINVAL);
  EXPECT_EQ(_UCD_access_mem(nullptr, ip, &value, 0, nullptr), -UNW_EINVAL);
  EXPECT_EQ(_UCD_access_reg(nullptr, 0, &value, 0, nullptr), -UNW_EINVAL);
  EXPECT_EQ(_UCD_access_fpreg(nullptr, 0, &wide, 0, nullptr), -UNW_EINVAL);
  EXPECT_EQ(_UCD_get_proc_name(nullptr, ip, name, 8, &value, nullptr), -UNW_EINVAL);
  EXPECT_EQ(_UCD_get_dyn_info_list_addr(nullptr, nullptr, nullptr), -UNW_EINVAL);
  _UCD_destroy(nullptr);

  // A target, but nothing to fill in.
  void* self = _UPT_create(::getpid());
  ASSERT_TRUE(self);
  EXPECT_EQ(_UPT_find_proc_info(nullptr, ip, nullptr, 1, self), -UNW_EINVAL);
  EXPECT_EQ(_UPT_access_mem(nullptr, ip, nullptr, 0, self), -UNW_EINVAL);
  EXPECT_EQ(_UPT_access_reg(nullptr, 0, nullptr, 0, self), -UNW_EINVAL);
  EXPECT_EQ(_UPT_get_proc_name(nullptr, ip, nullptr, 8, &value, self), -UNW_EINVAL);
  _UPT_destroy(self);
}

/// Of a core: opened, asked for a register, a procedure and a name, each time with a little more memory.
TEST(LibunwindTargets, OutOfMemoryIsNoException) {
  const std::string core = small_cores() / "aarch64.core.zst";
  UCD_info* whole = _UCD_create(core.c_str());
  if (!whole) GTEST_SKIP() << "zstd is not built in";
  unw_word_t ip = 0;
  EXPECT_EQ(_UCD_access_reg(nullptr, 32, &ip, 0, whole), 0); // pc
  _UCD_destroy(whole);
  for (std::size_t calls = 0, step = 1;; calls += step, step += 1 + step / 8) {
    unw_proc_info_t info;
    unw_word_t value = 0, offset = 0;
    char name[64];
    limit_allocations(calls);
    UCD_info* opened = _UCD_create(core.c_str());
    int found = -UNW_ENOMEM, named = -UNW_ENOMEM;
    if (opened) {
      _UCD_access_reg(nullptr, 32, &value, 0, opened);
      found = _UCD_find_proc_info(nullptr, ip, &info, 1, opened);
      named = _UCD_get_proc_name(nullptr, ip, name, sizeof name, &offset, opened);
    }
    limit_allocations(std::nullopt);
    _UCD_destroy(opened);
    if (found != -UNW_ENOMEM && named != -UNW_ENOMEM) break;
    ASSERT_LT(calls, 10'000'000u);
  }
}

} // namespace libunwind_targets_test
