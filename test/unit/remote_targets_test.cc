// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cores of other machines through CoreTarget and a RemoteCursor. The expected calls follow from the source of
// the cores (test/lit/unwind/Inputs/cores/small.c). PtraceTarget is tested by the lit test libunwind-remote.

#include "small_cores.h"

#include "sframe/remote/remote_cursor.h"

#include <gtest/gtest.h>

namespace {

using namespace sframe;
using namespace sframe::remote;
using namespace sframe::unwind;
using namespace sframe::test;

class Cores : public testing::TestWithParam<const char*> {};

TEST_P(Cores, WalkedByACursor) {
  const auto target = open_small_core(GetParam());
  if (!target) GTEST_SKIP() << "zstd is not built in";
  CallbackSpace space(*target, target->abi());
  space.set_caching(CachingPolicy::global);
  RemoteCursor cursor;
  ASSERT_EQ(cursor.start(space, nullptr), RemoteStatus::ok);
  std::vector<std::string> names;
  StepStatus end;
  do {
    char name[64] = "";
    std::uint64_t offset = 0;
    cursor.find_name(name, offset);
    names.push_back(cursor.peek().signal_frame ? "[signal]" : name);
    EXPECT_EQ(cursor.trust(), Trust::exact);
    // A frame is marked as interrupted right after a trampoline, and nowhere else.
    EXPECT_EQ(cursor.interrupted(), names.size() > 1 && names[names.size() - 2] == "[signal]");
    end = cursor.step();
  } while (end == StepStatus::stepped && names.size() < 100);
  EXPECT_EQ(names, small_core_calls());
  EXPECT_EQ(end, StepStatus::bottom);
  EXPECT_TRUE(cursor.complete());
}

INSTANTIATE_TEST_SUITE_P(All, Cores, testing::Values("aarch64", "aarch64_be", "aarch64_pac", "s390x"));

TEST(CoreTargetRefuses, NonCores) {
  EXPECT_FALSE(CoreTarget::open(inputs() / "README.md"));
  EXPECT_FALSE(CoreTarget::open("/no/such/core"));
}

TEST(CoreTargetAsks, OnlyWhatItHas) {
  const auto target = open_small_core("s390x");
  if (!target) GTEST_SKIP() << "zstd is not built in";
  std::uint64_t value = 0;
  EXPECT_EQ(target->access_memory(8, value, false, nullptr), RemoteStatus::invalid);
  EXPECT_EQ(target->access_memory(8, value, true, nullptr), RemoteStatus::invalid) << "cores do not change";
  EXPECT_EQ(target->access_register(1000, value, false, nullptr), RemoteStatus::bad_register);
  EXPECT_FALSE(target->add_file(8, inputs() / "README.md")) << "nothing is mapped there";
  target->select_thread(77);
  EXPECT_EQ(target->access_register(pc_register, value, false, nullptr), RemoteStatus::ok) << "no effect";
}

} // namespace
