// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface on the target of remote_target.h: which callbacks are called and how often, NULL
// arguments, and running out of memory. Whole walks of cores and processes are in the lit tests c-interface*.

#include "allocations.h"
#include "inputs.h"
#include "remote_target.h"

#include "sframe/c/walk.h"

#include <gtest/gtest.h>

#include <cstring>

#include <unistd.h>

namespace c_walk_test {

using namespace sframe::test;
using namespace sframe::test::target;
using sframe::test::target::rbx, sframe::test::target::rsp, sframe::test::target::start;

struct Target {
  TargetMemory memory{2};
  int tables = 0, words = 0;
};

Target& of(void* data) {
  return *static_cast<Target*>(data);
}

sframe_status find_table(uint64_t, sframe_table* table, void* data) {
  ++of(data).tables;
  *table = {sizeof *table, table_at, 24, table_at};
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
constexpr sframe_callbacks callbacks = {sizeof callbacks, find_table, read_word, read_register, find_name};

struct CWalk : testing::Test {
  CWalk() : process(sframe_open_callbacks("amd64", &callbacks, &target, nullptr)) {}
  ~CWalk() override { sframe_close(process); }

  Target target;
  sframe_process* process;
  sframe_frame frames[8]{{.size = sizeof(sframe_frame)}};
  std::size_t count = 0;
};

TEST_F(CWalk, OneTableLookupPerFrame) {
  sframe_end end{.size = sizeof end};
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

TEST_F(CWalk, RegistersAndMemory) {
  ASSERT_EQ(sframe_walk_into(process, 0, frames, 8, &count, nullptr, nullptr), SFRAME_OK);
  ASSERT_EQ(count, 4u);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(sframe_frame_register(&frames[i], rbx, &value), SFRAME_OK);
    EXPECT_EQ(value, 0xb00 + i) << "as remote_target.h has it";
    EXPECT_EQ(sframe_frame_register(&frames[i], rsp, &value), SFRAME_OK);
    EXPECT_EQ(value, stack_at + 16 * i);
    EXPECT_EQ(sframe_frame_register(&frames[i], SFRAME_PC, &value), SFRAME_OK);
    EXPECT_EQ(value, frames[i].pc);
    EXPECT_EQ(frames[i].lookup_pc, frames[i].pc - (i > 0));
    EXPECT_EQ(sframe_frame_register(&frames[i], 0, &value), SFRAME_BAD_REGISTER) << "rax is lost";
    EXPECT_EQ(sframe_frame_register(&frames[i], 99, &value), SFRAME_BAD_REGISTER);
  }
  std::uint64_t words[3] = {};
  EXPECT_EQ(sframe_read_memory(process, stack_at, words, sizeof words, &count), SFRAME_OK);
  EXPECT_EQ(count, sizeof words);
  EXPECT_EQ(words[0], 0xb01u);
  EXPECT_EQ(words[2], 0xb02u);
  EXPECT_EQ(sframe_read_memory(process, 8, words, sizeof words, &count), SFRAME_UNREADABLE);
  EXPECT_EQ(count, 0u);
}

TEST(CRegisters, Names) {
  std::uint16_t reg = 0;
  EXPECT_EQ(sframe_register_number("amd64", "rsp", &reg), SFRAME_OK);
  EXPECT_EQ(reg, 7);
  EXPECT_EQ(sframe_register_number("aarch64", "x30", &reg), SFRAME_OK);
  EXPECT_EQ(reg, 30);
  EXPECT_EQ(sframe_register_number("s390x", "r15", &reg), SFRAME_OK);
  EXPECT_EQ(reg, 15);
  EXPECT_EQ(sframe_register_number("s390x", "pc", &reg), SFRAME_OK);
  EXPECT_EQ(reg, SFRAME_PC);
  EXPECT_EQ(sframe_register_number("s390x", "rsp", &reg), SFRAME_BAD_REGISTER);
  EXPECT_EQ(sframe_register_number("vax", "r1", &reg), SFRAME_INVALID);
  EXPECT_STREQ(sframe_register_name("amd64", 6), "rbp");
  EXPECT_STREQ(sframe_register_name("amd64", SFRAME_PC), "pc");
  EXPECT_EQ(sframe_register_name("amd64", 200), nullptr);
  EXPECT_EQ(sframe_register_name("vax", 0), nullptr);
}

/// Frames without registers, as an older program has them, and with members that this library lacks.
TEST_F(CWalk, SizesOfOtherReleases) {
  struct Longer {
    sframe_frame known;
    std::uint64_t more;
  } longer[8] = {};
  longer[0].known.size = sizeof longer[0];
  longer[1].more = 5;
  ASSERT_EQ(sframe_walk_into(process, 0, &longer[0].known, 8, &count, nullptr, nullptr), SFRAME_OK);
  ASSERT_EQ(count, 4u);
  EXPECT_EQ(longer[1].known.size, sizeof longer[1]);
  EXPECT_EQ(longer[1].known.cfa, stack_at + 32);
  EXPECT_EQ(longer[1].more, 5u);
  EXPECT_EQ(sframe_function_name(process, &longer[1].known, nullptr, 0, nullptr), SFRAME_INVALID);

  constexpr std::size_t small = offsetof(sframe_frame, known_registers);
  std::vector<std::byte> room(small * 4 + 8, std::byte{0xaa});
  auto* const shorter = reinterpret_cast<sframe_frame*>(room.data());
  shorter->size = small;
  ASSERT_EQ(sframe_walk_into(process, 0, shorter, 4, &count, nullptr, nullptr), SFRAME_OK);
  ASSERT_EQ(count, 4u);
  const auto* const last = reinterpret_cast<const sframe_frame*>(room.data() + 3 * small);
  EXPECT_EQ(last->number, 3u);
  EXPECT_EQ(last->pc, start + 0x10);
  EXPECT_EQ(room.back(), std::byte{0xaa}) << "nothing after the array is written";
  char name[16];
  EXPECT_EQ(sframe_function_name(process, last, name, sizeof name, nullptr), SFRAME_OK);
  std::uint64_t value = 0;
  EXPECT_EQ(sframe_frame_register(last, rbx, &value), SFRAME_BAD_REGISTER);
  shorter->size = small - 8;
  EXPECT_EQ(sframe_walk_into(process, 0, shorter, 4, &count, nullptr, nullptr), SFRAME_INVALID);

  sframe_end end{};
  EXPECT_EQ(sframe_walk_into(process, 0, frames, 8, &count, &end, nullptr), SFRAME_INVALID) << "no size";
  sframe_options options{};
  sframe_error error{.size = sizeof error};
  EXPECT_EQ(sframe_open_core("/nowhere", &options, &error), nullptr);
  EXPECT_EQ(error.status, SFRAME_INVALID);
  EXPECT_NE(std::string(error.message).find("size"), std::string::npos);
}

TEST_F(CWalk, NullIsRefused) {
  sframe_error error{.size = sizeof error};
  const auto refused = [&](auto* made) {
    return made == nullptr && error.status == SFRAME_INVALID && *error.message;
  };
  EXPECT_TRUE(refused(sframe_open_callbacks(nullptr, &callbacks, &target, &error)));
  error = {.size = sizeof error};
  EXPECT_TRUE(refused(sframe_open_callbacks("amd64", nullptr, &target, &error)));
  error = {.size = sizeof error};
  EXPECT_TRUE(refused(sframe_open_core(nullptr, nullptr, &error)));
  EXPECT_EQ(sframe_open_core(nullptr, nullptr, nullptr), nullptr);

  sframe_thread thread{.size = sizeof thread};
  sframe_frame frame{.size = sizeof frame};
  sframe_module module{.size = sizeof module};
  sframe_process_info info{.size = sizeof info};
  std::uint64_t value = 0;
  std::uint16_t reg = 0;
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
  const auto line = [](const sframe_source_line*, void*) { return 0; };
  EXPECT_EQ(sframe_source_lines(nullptr, &frame, line, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_source_lines(process, nullptr, line, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_source_lines(process, &frame, nullptr, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_get_process_info(nullptr, &info), SFRAME_INVALID);
  EXPECT_EQ(sframe_get_process_info(process, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_frame_register(nullptr, 0, &value), SFRAME_INVALID);
  EXPECT_EQ(sframe_frame_register(&frame, 0, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_register_number(nullptr, "pc", &reg), SFRAME_INVALID);
  EXPECT_EQ(sframe_register_number("amd64", nullptr, &reg), SFRAME_INVALID);
  EXPECT_EQ(sframe_register_number("amd64", "pc", nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_register_name(nullptr, 0), nullptr);
  EXPECT_EQ(sframe_num_modules(nullptr), 0u);
  EXPECT_EQ(sframe_get_module(nullptr, 0, &module), SFRAME_INVALID);
  EXPECT_EQ(sframe_get_module(process, 0, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_find_module(nullptr, 0, &module), SFRAME_INVALID);
  EXPECT_EQ(sframe_find_module(process, 0, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_read_memory(nullptr, 0, name, 8, &count), SFRAME_INVALID);
  EXPECT_EQ(sframe_read_memory(process, 0, nullptr, 8, &count), SFRAME_INVALID);
  EXPECT_EQ(sframe_read_memory(process, 0, name, 8, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_set_caching(nullptr, SFRAME_CACHE_NONE), SFRAME_INVALID);
  EXPECT_EQ(sframe_flush(nullptr, 0, 0), SFRAME_INVALID);
}

/// Wherever memory runs out, the answer is a status, and what was opened can still be used.
// A return address is looked up one byte before it; so its call is found.
TEST(CFrameAt, OfAnAddress) {
  sframe_frame frame = {.size = sizeof frame};
  ASSERT_EQ(sframe_frame_at(0x1234, 1, &frame), SFRAME_OK);
  EXPECT_EQ(frame.pc, 0x1234u);
  EXPECT_EQ(frame.lookup_pc, 0x1233u);
  EXPECT_FALSE(frame.pc_exact);
  ASSERT_EQ(sframe_frame_at(0x1234, 0, &frame), SFRAME_OK);
  EXPECT_EQ(frame.lookup_pc, 0x1234u);
  EXPECT_TRUE(frame.pc_exact);
  EXPECT_EQ(sframe_frame_at(0x1234, 0, nullptr), SFRAME_INVALID);
  sframe_frame unsized{};
  EXPECT_EQ(sframe_frame_at(0x1234, 0, &unsized), SFRAME_INVALID);
}

// A function of this program, by its own address.
TEST(COwnProcess, ModulesAndNames) {
  sframe_error error = {.size = sizeof error};
  sframe_process* const own = sframe_open_own(nullptr, &error);
  ASSERT_NE(own, nullptr) << error.message;
  EXPECT_EQ(sframe_num_threads(own), 0u);
  EXPECT_EQ(sframe_stop(own, &error), SFRAME_OK) << error.message;
  const auto address = reinterpret_cast<std::uintptr_t>(&sframe_open_own);
  sframe_frame frame = {.size = sizeof frame};
  ASSERT_EQ(sframe_frame_at(address, 0, &frame), SFRAME_OK);
  char name[64] = "";
  std::uint64_t offset = 1;
  EXPECT_EQ(sframe_function_name(own, &frame, name, sizeof name, &offset), SFRAME_OK);
  EXPECT_STREQ(name, "sframe_open_own");
  EXPECT_EQ(offset, 0u);
  sframe_module module = {.size = sizeof module};
  ASSERT_EQ(sframe_find_module(own, address, &module), SFRAME_OK);
  EXPECT_TRUE(module.is_main);
  EXPECT_LE(module.start, address);
  EXPECT_LT(address, module.end);
  sframe_end end = {.size = sizeof end};
  sframe_frame frames[1] = {{.size = sizeof frames[0]}};
  std::size_t count = 0;
  EXPECT_EQ(sframe_walk_into(own, 0, frames, 1, &count, &end, &error), SFRAME_INVALID);
  sframe_close(own);
}

TEST_F(CWalk, OutOfMemoryIsAStatus) {
  sframe_error error{.size = sizeof error};
  const auto needed = [&](auto&& open) {
    return with_little_memory([&] {
      error = {.size = sizeof error};
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
  const sframe_options options{.size = sizeof options, .executable = program.c_str()};
  sframe_error error{.size = sizeof error};
  sframe_process* whole = sframe_open_core(core.c_str(), &options, &error);
  if (!whole) GTEST_SKIP() << error.message;
  // Modules and memory of the core: the program's code is what the file has.
  sframe_process_info info{.size = sizeof info};
  ASSERT_EQ(sframe_get_process_info(whole, &info), SFRAME_OK);
  EXPECT_GT(info.pid, 0u);
  EXPECT_GT(info.signal, 0);
  ASSERT_EQ(sframe_walk_into(whole, 0, frames, 8, &count, nullptr, &error), SFRAME_OK) << error.message;
  sframe_module module{.size = sizeof module}, found{.size = sizeof found};
  ASSERT_GT(sframe_num_modules(whole), 0u);
  ASSERT_EQ(sframe_find_module(whole, frames[0].lookup_pc, &module), SFRAME_OK);
  EXPECT_TRUE(module.is_main);
  EXPECT_LE(module.start, frames[0].pc);
  EXPECT_GT(module.end, frames[0].pc);
  std::size_t mains = 0;
  for (std::size_t i = 0; i < sframe_num_modules(whole); ++i) {
    ASSERT_EQ(sframe_get_module(whole, i, &found), SFRAME_OK);
    mains += found.start == module.start;
  }
  EXPECT_EQ(mains, 1u);
  EXPECT_EQ(sframe_get_module(whole, sframe_num_modules(whole), &found), SFRAME_INVALID);
  EXPECT_EQ(sframe_find_module(whole, 8, &found), SFRAME_NO_INFO);
  std::byte code[4];
  ASSERT_EQ(sframe_read_memory(whole, module.start, code, sizeof code, &count), SFRAME_OK);
  EXPECT_EQ(std::memcmp(code, "\177ELF", 4), 0);
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

} // namespace c_walk_test
