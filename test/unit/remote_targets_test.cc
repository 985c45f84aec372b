// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cores of other machines through CoreTarget and a RemoteCursor. The expected calls follow from the source of
// the cores (test/lit/unwind/Inputs/cores/small.c). Walks by a PtraceTarget are in the lit test
// libunwind-remote; here are its memory and registers.

#include "live_target.h"
#include "small_cores.h"

#include "sframe/remote/remote_cursor.h"

#include <gtest/gtest.h>

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <elf.h>

namespace remote_targets_test {

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

/// The file at an address may be named later: its tables and symbols count from then on.
TEST_P(Cores, AFileThatIsAdded) {
  const auto target = CoreTarget::open(small_cores() / (std::string(GetParam()) + ".core.zst"));
  if (!target) GTEST_SKIP() << "zstd is not built in";
  std::uint64_t pc = 0;
  ASSERT_EQ((*target)->access_register(pc_register, pc, false, nullptr), RemoteStatus::ok);
  modules::Module* unnamed = (*target)->module_at(pc, nullptr);
  ASSERT_TRUE(!unnamed || !unnamed->image()) << "the core's program is on this machine";
  const std::string path = small_cores() / (std::string(GetParam()) + ".elf");
  ASSERT_TRUE((*target)->add_file(pc, path));
  modules::Module* added = (*target)->module_at(pc, nullptr);
  ASSERT_TRUE(added);
  EXPECT_EQ(added->info().path, path);
  EXPECT_TRUE(added->image());
  CallbackSpace space(**target, (*target)->abi());
  RemoteCursor cursor;
  ASSERT_EQ(cursor.start(space, nullptr), RemoteStatus::ok);
  char name[64] = "";
  std::uint64_t offset = 0;
  ASSERT_EQ(cursor.find_name(name, offset), RemoteStatus::ok);
  EXPECT_EQ(name, small_core_calls().front());
  EXPECT_EQ(cursor.step(), StepStatus::stepped);
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
  // No module has the stack: the file is for the range of memory.
  ASSERT_EQ(target->access_register(traits(Abi::s390x).sp, value, false, nullptr), RemoteStatus::ok);
  const core::MemoryRange* stack = target->core().range_at(value);
  ASSERT_TRUE(stack);
  ASSERT_FALSE(target->module_at(value, nullptr));
  ASSERT_TRUE(target->add_file(value, small_cores() / "s390x.elf"));
  const modules::Module* added = target->module_at(value, nullptr);
  ASSERT_TRUE(added);
  EXPECT_EQ(added->info().start, stack->start);
  EXPECT_EQ(target->module_at(stack->start + stack->size - 1, nullptr), added);
  EXPECT_NE(target->module_at(stack->start + stack->size, nullptr), added);
  target->select_thread(77);
  EXPECT_EQ(target->access_register(pc_register, value, false, nullptr), RemoteStatus::ok) << "no effect";
}

/// A process that this thread has stopped.
class PtraceTargets : public LiveTest {
protected:
  void SetUp() override {
    LiveTest::SetUp();
    if (IsSkipped()) return;
    process_ = std::make_unique<Target>();
    word_ = process_->known_word_address();
    const auto pid = static_cast<pid_t>(process_->pid());
    ASSERT_EQ(ptrace(PTRACE_SEIZE, pid, nullptr, nullptr), 0);
    ASSERT_EQ(ptrace(PTRACE_INTERRUPT, pid, nullptr, nullptr), 0);
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, __WALL), pid);
    auto created = PtraceTarget::create(process_->pid(), {});
    ASSERT_TRUE(created) << created.error().text();
    target_ = std::move(*created);
  }
  std::unique_ptr<Target> process_;
  std::unique_ptr<PtraceTarget> target_;
  std::uint64_t word_ = 0; ///< the address of its known_word
};

TEST_F(PtraceTargets, MemoryIsReadAndWritten) {
  std::uint64_t value = 0;
  EXPECT_EQ(target_->access_memory(word_, value, false, nullptr), RemoteStatus::ok);
  EXPECT_EQ(value, 0x1122334455667788u);
  value = 0x99;
  EXPECT_EQ(target_->access_memory(word_, value, true, nullptr), RemoteStatus::ok);
  value = 0;
  EXPECT_EQ(target_->access_memory(word_, value, false, nullptr), RemoteStatus::ok);
  EXPECT_EQ(value, 0x99u);
  EXPECT_EQ(target_->access_memory(8, value, false, nullptr), RemoteStatus::invalid) << "nothing is mapped";
  EXPECT_EQ(target_->access_memory(8, value, true, nullptr), RemoteStatus::invalid);
}

TEST_F(PtraceTargets, RegistersAreReadAndWritten) {
  const auto& abi = target_->abi();
  std::uint64_t sp = 0, pc = 0, value = 0;
  ASSERT_EQ(target_->access_register(abi.sp, sp, false, nullptr), RemoteStatus::ok);
  ASSERT_EQ(target_->access_register(pc_register, pc, false, nullptr), RemoteStatus::ok);
  EXPECT_TRUE(target_->is_code(pc, nullptr));
  EXPECT_FALSE(target_->is_code(sp, nullptr));
  EXPECT_EQ(target_->access_memory(sp / 8 * 8, value, false, nullptr), RemoteStatus::ok);
  EXPECT_EQ(target_->access_register(1000, value, false, nullptr), RemoteStatus::bad_register);
  EXPECT_EQ(target_->access_register(1000, value, true, nullptr), RemoteStatus::bad_register);
#if defined(__x86_64__)
  user_regs_struct registers;
  iovec set{&registers, sizeof registers};
  ASSERT_EQ(ptrace(PTRACE_GETREGSET, process_->pid(), NT_PRSTATUS, &set), 0);
  EXPECT_EQ(sp, registers.rsp);
  EXPECT_EQ(pc, registers.rip);
  value = 0x12345678;
  ASSERT_EQ(target_->access_register(3, value, true, nullptr), RemoteStatus::ok); // rbx
  const auto before = registers;
  ASSERT_EQ(ptrace(PTRACE_GETREGSET, process_->pid(), NT_PRSTATUS, &set), 0);
  EXPECT_EQ(registers.rbx, 0x12345678u);
  EXPECT_EQ(registers.rbp, before.rbp);
  EXPECT_EQ(registers.rip, before.rip);
#endif
}

TEST_F(PtraceTargets, Resumes) {
  RemoteCursor cursor;
  ASSERT_EQ(process_->state(process_->pid()), 't');
  EXPECT_EQ(target_->resume(cursor, nullptr), RemoteStatus::ok);
  EXPECT_TRUE(process_->comes_to(process_->pid(), 'S')); // it waits for requests
}

/// Threads that end, and what never was one.
TEST_F(PtraceTargets, AProcessThatIsGone) {
  process_.reset(); // kills it
  std::uint64_t value = 0;
  EXPECT_EQ(target_->access_register(pc_register, value, false, nullptr), RemoteStatus::invalid);
  EXPECT_EQ(target_->access_memory(0x1000, value, true, nullptr), RemoteStatus::invalid);
  RemoteCursor cursor;
  EXPECT_EQ(target_->resume(cursor, nullptr), RemoteStatus::invalid);
}

} // namespace remote_targets_test
