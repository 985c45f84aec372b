// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface on the target of remote_target.h: which call-backs are called and how often, NULL
// arguments, and running out of memory. Whole walks of cores and processes are in the lit tests c-interface*.

#include "allocations.h"
#include "inputs.h"
#include "remote_target.h"

#include "sframe/c/walk.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace {

using namespace sframe::test;

struct Target {
  TargetMemory memory{2};
  int tables = 0, words = 0;
};

Target& of(void* data) {
  return *static_cast<Target*>(data);
}

sframe_status find_table(uint64_t, sframe_table* table, void* data) {
  ++of(data).tables;
  *table = {table_at, 24, table_at};
  return SFRAME_OK;
}
sframe_status read_word(uint64_t address, uint64_t* value, void* data) {
  ++of(data).words;
  return of(data).memory.read(address, *value) ? SFRAME_OK : SFRAME_INVALID;
}
sframe_status read_register(uint16_t reg, uint64_t* value, void*) {
  *value = reg == SFRAME_PC ? leaf + 0x10 : reg == rsp ? stack_at : 0xb00;
  return reg == SFRAME_PC || reg == rsp || reg == rbx ? SFRAME_OK : SFRAME_BAD_REGISTER;
}
sframe_status find_name(uint64_t, char* buffer, size_t size, uint64_t* offset, void*) {
  *offset = 1;
  return size && snprintf(buffer, size, "name") < static_cast<int>(size) ? SFRAME_OK : SFRAME_NO_MEMORY;
}
constexpr sframe_callbacks callbacks = {find_table, read_word, read_register, find_name};

struct CWalk : testing::Test {
  CWalk() : process(sframe_open_callbacks("amd64", &callbacks, &target, nullptr)) {}
  ~CWalk() override { sframe_close(process); }

  Target target;
  sframe_process* process;
  sframe_frame frames[8]{};
  std::size_t count = 0;
};

TEST_F(CWalk, OneTableLookupPerFrame) {
  sframe_end end{};
  ASSERT_EQ(sframe_walk_into(process, 0, frames, 8, &count, &end, nullptr), SFRAME_OK);
  ASSERT_EQ(count, 4u);
  EXPECT_TRUE(end.complete);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(frames[i].has_cfa);
    EXPECT_EQ(frames[i].cfa, stack_at + 16 * (i + 1));
    EXPECT_FALSE(frames[i].signal_frame);
  }
  EXPECT_EQ(target.tables, 4) << "one for each step";
}

TEST_F(CWalk, NullIsRefused) {
  sframe_error error{};
  const auto refused = [&](auto* made) {
    return made == nullptr && error.status == SFRAME_INVALID && *error.message;
  };
  EXPECT_TRUE(refused(sframe_open_callbacks(nullptr, &callbacks, &target, &error)));
  error = {};
  EXPECT_TRUE(refused(sframe_open_callbacks("amd64", nullptr, &target, &error)));
  error = {};
  EXPECT_TRUE(refused(sframe_open_core(nullptr, nullptr, &error)));
  EXPECT_EQ(sframe_open_core(nullptr, nullptr, nullptr), nullptr);

  sframe_thread thread;
  sframe_frame frame{};
  char name[8];
  const auto callback = [](const sframe_frame*, void*) { return 0; };
  EXPECT_EQ(sframe_stop(nullptr, &error), SFRAME_INVALID);
  sframe_resume(nullptr);
  sframe_close(nullptr);
  EXPECT_EQ(sframe_abi(nullptr), nullptr);
  EXPECT_EQ(sframe_num_threads(nullptr), 0u);
  EXPECT_EQ(sframe_get_thread(nullptr, 0, &thread), SFRAME_INVALID);
  EXPECT_EQ(sframe_get_thread(process, 0, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_walk(nullptr, 0, callback, nullptr, nullptr, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_walk(process, 0, nullptr, nullptr, nullptr, &error), SFRAME_INVALID);
  EXPECT_EQ(sframe_walk_into(nullptr, 0, frames, 8, &count, nullptr, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_walk_into(process, 0, nullptr, 8, &count, nullptr, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_walk_into(process, 0, frames, 8, nullptr, nullptr, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_walk_into(process, 0, nullptr, 0, &count, nullptr, nullptr), SFRAME_OK);
  EXPECT_EQ(sframe_function_name(nullptr, &frame, name, 8, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_function_name(process, nullptr, name, 8, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_function_name(process, &frame, nullptr, 8, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_function_name(process, &frame, nullptr, 0, nullptr), SFRAME_NO_MEMORY);
  EXPECT_EQ(sframe_module_path(nullptr, &frame), nullptr);
  EXPECT_EQ(sframe_module_path(process, nullptr), nullptr);
  EXPECT_EQ(sframe_set_caching(nullptr, SFRAME_CACHE_NONE), SFRAME_INVALID);
  EXPECT_EQ(sframe_flush(nullptr, 0, 0), SFRAME_INVALID);
}

/// Wherever memory runs out, the answer is a status, and what was opened can still be used.
TEST_F(CWalk, OutOfMemoryIsAStatus) {
  sframe_error error{};
  const auto needed = [&](auto&& open) {
    return with_little_memory([&] {
      error = {};
      sframe_process* made = open();
      limit_allocations(std::nullopt);
      if (!made) {
        EXPECT_EQ(error.status, SFRAME_NO_MEMORY) << error.message;
      }
      sframe_close(made);
      return made != nullptr;
    });
  };
  EXPECT_GT(needed([&] { return sframe_open_callbacks("amd64", &callbacks, &target, &error); }), 0);
  for (const auto caching : {SFRAME_CACHE_NONE, SFRAME_CACHE_GLOBAL, SFRAME_CACHE_PER_THREAD}) {
    EXPECT_EQ(sframe_set_caching(process, caching), SFRAME_OK);
    const int calls = with_little_memory([&] {
      const auto status = sframe_walk_into(process, 0, frames, 8, &count, nullptr, nullptr);
      limit_allocations(std::nullopt);
      EXPECT_EQ(status, status == SFRAME_OK ? SFRAME_OK : SFRAME_NO_MEMORY);
      return status == SFRAME_OK;
    });
    EXPECT_GT(calls, 0);
    EXPECT_EQ(count, 4u);
  }
  with_little_memory([&] {
    char name[64];
    const auto status = sframe_function_name(process, &frames[0], name, sizeof name, nullptr);
    return status == SFRAME_OK;
  });
}

TEST_F(CWalk, Core) {
  const std::string core = small_cores() / "s390x.core.zst";
  const std::string program = small_cores() / "s390x.elf";
  const sframe_options options{.executable = program.c_str()};
  sframe_error error{};
  sframe_process* whole = sframe_open_core(core.c_str(), &options, &error);
  if (!whole) GTEST_SKIP() << error.message;
  sframe_close(whole);
  // Each time a little further, until all of it is done.
  std::size_t calls = 0;
  for (std::size_t step = 1;; step += 1 + step / 8) {
    calls += step;
    limit_allocations(calls);
    sframe_process* opened = sframe_open_core(core.c_str(), &options, nullptr);
    const auto status =
        opened ? sframe_walk_into(opened, 0, frames, 8, &count, nullptr, nullptr) : SFRAME_NO_MEMORY;
    limit_allocations(std::nullopt);
    if (opened && status != SFRAME_OK) {
      EXPECT_EQ(status, SFRAME_NO_MEMORY);
    }
    sframe_close(opened);
    if (status == SFRAME_OK && count == 8) break;
    ASSERT_LT(calls, 10'000'000u);
  }
}

} // namespace
