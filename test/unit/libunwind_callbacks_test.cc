// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The libunwind interface on the target of remote_target.h: return codes, registers, tables, registration.
// The lit test libunwind-remote compares whole walks with libunwind.

#include "libunwind-x86_64.h"

#include "allocations.h"
#include "remote_target.h"

#include <gtest/gtest.h>

#include <endian.h>
#include <vector>

namespace libunwind_callbacks_test {

using namespace sframe::test;
using namespace sframe::test::target;
using sframe::test::target::rbx, sframe::test::target::rsp, sframe::test::target::start;

struct Target {
  TargetMemory memory{2};
  std::map<int, unw_word_t> registers = {
      {UNW_X86_64_RSP, stack_at}, {UNW_X86_64_RBX, 0xb00}, {UNW_X86_64_RIP, leaf + 0x10}};
  unw_dyn_info_t table{};
  int finds = 0, puts = 0, puts_of_other = 0, resumed = 0;
  unw_word_t found_start = 0;
};

Target& of(void* arg) {
  return *static_cast<Target*>(arg);
}

int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t* info, int need, void* arg) {
  const int result = UNW_OBJ(dwarf_search_unwind_table)(space, ip, &of(arg).table, info, need, arg);
  if (result == 0 && need) ++of(arg).finds, of(arg).found_start = info->start_ip;
  return result;
}
void put_unwind_info(unw_addr_space_t, unw_proc_info_t* info, void* arg) {
  ++of(arg).puts;
  of(arg).puts_of_other += info->start_ip != of(arg).found_start;
}
int access_mem(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void* arg) {
  if (write) of(arg).memory.word(address, *value);
  return write || of(arg).memory.read(address, *value) ? 0 : -UNW_EINVAL;
}
int access_reg(unw_addr_space_t, unw_regnum_t reg, unw_word_t* value, int write, void* arg) {
  auto& registers = of(arg).registers;
  if (write)
    registers[reg] = *value;
  else if (!registers.contains(reg))
    return -UNW_EBADREG;
  else
    *value = registers[reg];
  return 0;
}
int resume(unw_addr_space_t, unw_cursor_t* cursor, void* arg) {
  unw_word_t ip = 0;
  ++of(arg).resumed;
  return unw_get_reg(cursor, UNW_REG_IP, &ip) == 0 && ip == middle + 0x10 ? 0 : -UNW_EUNSPEC;
}
int get_proc_name(unw_addr_space_t, unw_word_t ip, char* buffer, size_t size, unw_word_t* offset, void*) {
  *offset = ip % 0x100;
  return snprintf(buffer, size, "a_long_name") < static_cast<int>(size) ? 0 : -UNW_ENOMEM;
}

struct Libunwind : testing::Test {
  Libunwind() {
    target.table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    target.table.u.rti = {.name_ptr = 0, .segbase = table_at, .table_len = 3, .table_data = table_at};
    space = unw_create_addr_space(&accessors, 0);
  }
  ~Libunwind() override { unw_destroy_addr_space(space); }

  std::vector<unw_word_t> walk() {
    std::vector<unw_word_t> ips;
    if (unw_init_remote(&cursor, space, &target) != 0) return ips;
    do {
      ips.push_back(0);
      unw_get_reg(&cursor, UNW_REG_IP, &ips.back());
    } while (ips.size() < 100 && (end = unw_step(&cursor)) > 0);
    return ips;
  }

  Target target;
  unw_accessors_t accessors = {find_proc_info, put_unwind_info, nullptr, access_mem,
                               access_reg,     nullptr,         resume,  get_proc_name};
  unw_addr_space_t space;
  unw_cursor_t cursor;
  int end = 1;
};

const std::vector<unw_word_t> all = {leaf + 0x10, middle + 0x10, middle + 0x10, start + 0x10};

TEST_F(Libunwind, ByteOrders) {
  const auto possible = [&](int order) {
    unw_addr_space_t made = unw_create_addr_space(&accessors, order);
    unw_destroy_addr_space(made);
    return made != nullptr;
  };
  EXPECT_TRUE(possible(__LITTLE_ENDIAN));
  EXPECT_FALSE(possible(__BIG_ENDIAN));
  EXPECT_FALSE(possible(7));
}

TEST_F(Libunwind, ReleasesEachProcInfoOnce) {
  EXPECT_EQ(walk(), all);
  EXPECT_EQ(end, 0);
  EXPECT_EQ(target.finds, 4);
  EXPECT_EQ(target.puts, 4);
  EXPECT_EQ(target.puts_of_other, 0) << "put_unwind_info() sees what find_proc_info() gave";
}

TEST_F(Libunwind, CursorsCanBeCopied) {
  ASSERT_EQ(unw_init_remote(&cursor, space, &target), 0);
  const unw_cursor_t copy = cursor;
  EXPECT_EQ(unw_step(&cursor), 1);
  cursor = copy;
  unw_word_t ip = 0;
  EXPECT_EQ(unw_get_reg(&cursor, UNW_REG_IP, &ip), 0);
  EXPECT_EQ(ip, leaf + 0x10);
  EXPECT_EQ(unw_step(&cursor), 1);
}

TEST_F(Libunwind, Registers) {
  ASSERT_EQ(unw_init_remote(&cursor, space, &target), 0);
  ASSERT_EQ(unw_step(&cursor), 1);
  unw_word_t value = 0;
  EXPECT_EQ(unw_get_reg(&cursor, UNW_X86_64_RBX, &value), 0);
  EXPECT_EQ(value, 0xb01u);
  EXPECT_EQ(unw_get_reg(&cursor, UNW_X86_64_CFA, &value), 0);
  EXPECT_EQ(value, stack_at + 16) << "another name of the stack pointer";
  EXPECT_EQ(unw_get_reg(&cursor, UNW_X86_64_RAX, &value), -UNW_EBADREG);
  EXPECT_EQ(unw_get_reg(&cursor, 1000, &value), -UNW_EBADREG);
  EXPECT_EQ(unw_get_reg(&cursor, -1, &value), -UNW_EBADREG);
  unw_fpreg_t wide;
  EXPECT_EQ(unw_get_fpreg(&cursor, 0, &wide), -UNW_EBADREG);
  EXPECT_EQ(unw_set_reg(&cursor, UNW_REG_SP, 1), -UNW_EREADONLYREG);
  EXPECT_EQ(unw_set_reg(&cursor, UNW_X86_64_RBX, 5), 0);
  EXPECT_TRUE(target.memory.read(stack_at, value));
  EXPECT_EQ(value, 5u);
  unw_save_loc_t location;
  EXPECT_EQ(unw_get_save_loc(&cursor, UNW_REG_IP, &location), 0);
  EXPECT_EQ(location.type, UNW_SLT_MEMORY);
  EXPECT_EQ(location.u.addr, stack_at + 8);
  EXPECT_EQ(unw_get_save_loc(&cursor, UNW_REG_SP, &location), 0);
  EXPECT_EQ(location.type, UNW_SLT_NONE);
}

TEST_F(Libunwind, Resume) {
  ASSERT_EQ(unw_init_remote(&cursor, space, &target), 0);
  ASSERT_EQ(unw_step(&cursor), 1);
  EXPECT_EQ(unw_resume(&cursor), 0);
  EXPECT_EQ(target.resumed, 1);
  EXPECT_EQ(target.registers[UNW_X86_64_RIP], middle + 0x10);
  EXPECT_EQ(target.registers[UNW_X86_64_RSP], stack_at + 16);
}

TEST_F(Libunwind, ProceduresAndNames) {
  ASSERT_EQ(unw_init_remote(&cursor, space, &target), 0);
  ASSERT_EQ(unw_step(&cursor), 1);
  unw_proc_info_t info;
  EXPECT_EQ(unw_get_proc_info(&cursor, &info), 0);
  EXPECT_EQ(info.start_ip, middle);
  EXPECT_EQ(info.end_ip, middle + 0x100);
  EXPECT_EQ(info.unwind_info, nullptr);
  EXPECT_EQ(unw_get_proc_info_by_ip(space, start, &info, &target), 0);
  EXPECT_EQ(info.start_ip, start);
  EXPECT_EQ(unw_get_proc_info_by_ip(space, 0x99, &info, &target), -UNW_ENOINFO);
  EXPECT_EQ(target.puts, target.finds) << "nothing to put without unwind information";
  char name[7];
  unw_word_t offset = 0;
  EXPECT_EQ(unw_get_proc_name(&cursor, name, sizeof name, &offset), -UNW_ENOMEM);
  EXPECT_STREQ(name, "a_long");
  EXPECT_EQ(offset, 0x10u);
}

// As libunwind 1.6.2 on AMD64 (src/x86_64/Gstep.c, Gget_proc_info.c).
TEST_F(Libunwind, UnknownCode) {
  constexpr unw_word_t unknown = 0x30000;
  target.memory.word(unknown, 0);
  target.registers[UNW_X86_64_RIP] = unknown;
  ASSERT_EQ(unw_init_remote(&cursor, space, &target), 0);
  unw_proc_info_t info;
  EXPECT_EQ(unw_get_proc_info(&cursor, &info), 0);
  EXPECT_EQ(info.start_ip, unknown);
  EXPECT_EQ(info.end_ip, unknown + 1);
  EXPECT_EQ(unw_step(&cursor), 0);
}

TEST_F(Libunwind, TablesRelativeToTheStart) {
  target.table.format = UNW_INFO_FORMAT_IP_OFFSET;
  target.table.start_ip = leaf;
  target.memory.write(0x60000, Bytes().u32(0).u32(0x1000)); // starts count from leaf, FDEs from segbase
  target.table.u.rti = {.name_ptr = 0, .segbase = cfi_at - 0x1000, .table_len = 1, .table_data = 0x60000};
  unw_proc_info_t info;
  // The entry leads to the CIE, which is no procedure.
  EXPECT_EQ(unw_get_proc_info_by_ip(space, leaf, &info, &target), -UNW_EBADVERSION);
  unw_word_t cie_size = 0;
  ASSERT_TRUE(target.memory.read(cfi_at, cie_size));
  target.table.u.rti.segbase += (cie_size & 0xffffffff) + 4; // the first FDE is after it
  EXPECT_EQ(unw_get_proc_info_by_ip(space, leaf, &info, &target), 0);
  EXPECT_EQ(info.start_ip, leaf);
}

TEST_F(Libunwind, UnknownFormats) {
  unw_proc_info_t info;
  for (const int format : {int(UNW_INFO_FORMAT_DYNAMIC), int(UNW_INFO_FORMAT_ARM_EXIDX), 99, -1}) {
    target.table.format = format;
    EXPECT_EQ(unw_get_proc_info_by_ip(space, leaf, &info, &target), -UNW_EINVAL);
  }
  target.table.format = UNW_INFO_FORMAT_TABLE; // and a pointer that is not ours
  EXPECT_EQ(unw_get_proc_info_by_ip(space, leaf, &info, &target), -UNW_EINVAL);
  EXPECT_EQ(UNW_OBJ(dwarf_find_debug_frame)(0, &target.table, leaf, 0, "/no/such/file", leaf, start), 0);
}

TEST_F(Libunwind, NullCallbacks) {
  unw_accessors_t none{};
  unw_addr_space_t empty = unw_create_addr_space(&none, 0);
  EXPECT_EQ(unw_init_remote(&cursor, empty, nullptr), -UNW_EINVAL);
  unw_destroy_addr_space(empty);
  unw_get_accessors(space)->find_proc_info = nullptr;
  EXPECT_EQ(walk().size(), 1u);
  EXPECT_LE(end, 0);
}

TEST_F(Libunwind, Caching) {
  EXPECT_EQ(unw_set_caching_policy(space, UNW_CACHE_GLOBAL), 0);
  EXPECT_EQ(unw_set_caching_policy(space, static_cast<unw_caching_policy_t>(3)), -UNW_EINVAL);
  EXPECT_EQ(unw_set_cache_size(space, 2000, 0), 0);
  EXPECT_EQ(unw_set_cache_size(space, 16, 1), -UNW_EINVAL);
  walk(), walk();
  EXPECT_EQ(target.finds, 3);
  unw_flush_cache(space, 0, 0);
  walk();
  EXPECT_EQ(target.finds, 6);
}

TEST(LibunwindNames, RegistersAndErrors) {
  EXPECT_STREQ(unw_regname(UNW_X86_64_R15), "R15");
  EXPECT_STREQ(unw_regname(UNW_REG_IP), "RIP");
  EXPECT_STREQ(unw_regname(500), "???");
  EXPECT_FALSE(unw_is_fpreg(UNW_X86_64_RAX));
  EXPECT_STREQ(unw_strerror(-UNW_EBADFRAME), "bad frame");
  EXPECT_STREQ(unw_strerror(UNW_ENOINFO), "no unwind info found");
  EXPECT_STREQ(unw_strerror(-11), "invalid error code");
}

TEST(LibunwindDynamic, RegistersCodeInAList) {
  const auto listed = [] {
    std::vector<unw_dyn_info_t*> entries;
    for (unw_dyn_info_t* at = _U_dyn_info_list.first; at; at = at->next) entries.push_back(at);
    return entries;
  };
  unw_dyn_info_t a{}, b{}, c{};
  const auto generation = _U_dyn_info_list.generation;
  for (unw_dyn_info_t* info : {&a, &b, &c}) _U_dyn_register(info);
  EXPECT_EQ(listed(), (std::vector{&c, &b, &a}));
  EXPECT_EQ(b.prev, &c);
  _U_dyn_cancel(&b);
  EXPECT_EQ(listed(), (std::vector{&c, &a}));
  _U_dyn_cancel(&c);
  _U_dyn_cancel(&a);
  EXPECT_TRUE(listed().empty());
  EXPECT_EQ(_U_dyn_info_list.generation, generation + 6);
}

TEST_F(Libunwind, NullIsRefused) {
  unw_proc_info_t info;
  unw_word_t value = 0;
  unw_fpreg_t wide{};
  unw_save_loc_t location;
  char name[8];
  EXPECT_EQ(unw_create_addr_space(nullptr, 0), nullptr);
  unw_destroy_addr_space(nullptr);
  EXPECT_EQ(unw_get_accessors(nullptr), nullptr);
  EXPECT_EQ(unw_set_caching_policy(nullptr, UNW_CACHE_NONE), -UNW_EINVAL);
  EXPECT_EQ(unw_set_cache_size(nullptr, 16, 0), -UNW_EINVAL);
  unw_flush_cache(nullptr, 0, 0);
  EXPECT_EQ(unw_init_remote(nullptr, space, &target), -UNW_EINVAL);
  EXPECT_EQ(unw_init_remote(&cursor, nullptr, &target), -UNW_EINVAL);
  ASSERT_EQ(unw_init_remote(&cursor, space, &target), 0);
  EXPECT_EQ(unw_step(nullptr), -UNW_EINVAL);
  EXPECT_EQ(unw_resume(nullptr), -UNW_EINVAL);
  EXPECT_EQ(unw_is_signal_frame(nullptr), -UNW_EINVAL);
  EXPECT_EQ(unw_get_proc_info(nullptr, &info), -UNW_EINVAL);
  EXPECT_EQ(unw_get_proc_info(&cursor, nullptr), -UNW_EINVAL);
  EXPECT_EQ(unw_get_proc_info_by_ip(nullptr, leaf, &info, &target), -UNW_EINVAL);
  EXPECT_EQ(unw_get_proc_info_by_ip(space, leaf, nullptr, &target), -UNW_EINVAL);
  EXPECT_EQ(unw_get_proc_name(nullptr, name, 8, &value), -UNW_EINVAL);
  EXPECT_EQ(unw_get_proc_name(&cursor, nullptr, 8, &value), -UNW_EINVAL);
  EXPECT_EQ(unw_get_reg(nullptr, UNW_REG_IP, &value), -UNW_EINVAL);
  EXPECT_EQ(unw_get_reg(&cursor, UNW_REG_IP, nullptr), -UNW_EINVAL);
  EXPECT_EQ(unw_set_reg(nullptr, UNW_REG_IP, 0), -UNW_EINVAL);
  EXPECT_EQ(unw_get_fpreg(nullptr, 0, &wide), -UNW_EINVAL);
  EXPECT_EQ(unw_get_fpreg(&cursor, 0, nullptr), -UNW_EINVAL);
  EXPECT_EQ(unw_set_fpreg(nullptr, 0, wide), -UNW_EINVAL);
  EXPECT_EQ(unw_get_save_loc(nullptr, UNW_REG_IP, &location), -UNW_EINVAL);
  EXPECT_EQ(unw_get_save_loc(&cursor, UNW_REG_IP, nullptr), -UNW_EINVAL);
  EXPECT_EQ(UNW_OBJ(dwarf_search_unwind_table)(nullptr, leaf, &target.table, &info, 1, &target), -UNW_EINVAL);
  EXPECT_EQ(UNW_OBJ(dwarf_search_unwind_table)(space, leaf, nullptr, &info, 1, &target), -UNW_EINVAL);
  EXPECT_EQ(UNW_OBJ(dwarf_search_unwind_table)(space, leaf, &target.table, nullptr, 1, &target), -UNW_EINVAL);
  EXPECT_EQ(UNW_OBJ(dwarf_find_debug_frame)(5, nullptr, leaf, 0, "/bin/sh", 0, ~0ul), 5);
  _U_dyn_register(nullptr);
  _U_dyn_cancel(nullptr);
}

/// Wherever memory runs out: no exception gets out, each callback's answer is put back, and the space is as
/// good as before.
TEST_F(Libunwind, OutOfMemoryIsAStatus) {
  with_little_memory([&] {
    unw_addr_space_t made = unw_create_addr_space(&accessors, 0);
    limit_allocations(std::nullopt);
    unw_destroy_addr_space(made);
    return made != nullptr;
  });
  for (const auto policy : {UNW_CACHE_NONE, UNW_CACHE_GLOBAL, UNW_CACHE_PER_THREAD}) {
    ASSERT_EQ(unw_set_caching_policy(space, policy), 0);
    const int calls = with_little_memory([&] {
      int result = unw_init_remote(&cursor, space, &target);
      for (int i = 0; i < 100 && result >= 0; ++i)
        if ((result = unw_step(&cursor)) == 0) return true;
      limit_allocations(std::nullopt);
      EXPECT_EQ(result, -UNW_ENOMEM);
      return false;
    });
    EXPECT_GT(calls, 0);
    EXPECT_EQ(target.finds, target.puts);
    EXPECT_EQ(walk(), all);
  }
}

/// The target's code is registered in this process's own list, by this process's own functions.
TEST_F(Libunwind, WalksRegisteredCode) {
  constexpr unw_word_t code = 0x30000;
  char name[] = "registered here";
  alignas(8) std::byte room[_U_dyn_region_info_size(3)] = {};
  auto* region = reinterpret_cast<unw_dyn_region_info_t*>(room);
  region->insn_count = 0x100;
  region->op_count = 3;
  _U_dyn_op_add(&region->op[0], _U_QP_TRUE, 0, UNW_X86_64_RSP, static_cast<unw_word_t>(-8));
  _U_dyn_op_spill_sp_rel(&region->op[1], _U_QP_TRUE, 0, UNW_X86_64_RBX, 0);
  _U_dyn_op_stop(&region->op[2]);
  unw_dyn_info_t info{};
  info.start_ip = code;
  info.end_ip = code + 0x100;
  info.format = UNW_INFO_FORMAT_DYNAMIC;
  info.u.pi.name_ptr = reinterpret_cast<unw_word_t>(name);
  info.u.pi.regions = region;

  target.registers[UNW_X86_64_RIP] = code + 0x10;
  unw_destroy_addr_space(space);
  accessors.get_dyn_info_list_addr = [](unw_addr_space_t, unw_word_t* address, void*) {
    *address = reinterpret_cast<unw_word_t>(&_U_dyn_info_list);
    return 0;
  };
  // The target has the low addresses, this process the others.
  accessors.access_mem = [](unw_addr_space_t as, unw_word_t address, unw_word_t* value, int write,
                            void* arg) {
    if (address < 0x100000) return access_mem(as, address, value, write, arg);
    std::memcpy(value, reinterpret_cast<const void*>(address), sizeof *value);
    return 0;
  };
  space = unw_create_addr_space(&accessors, 0);
  target.memory.word(code + 0x10, 0);

  _U_dyn_register(&info);
  EXPECT_EQ(walk(), (std::vector<unw_word_t>{code + 0x10, middle + 0x10, middle + 0x10, start + 0x10}));
  ASSERT_EQ(unw_init_remote(&cursor, space, &target), 0);
  unw_proc_info_t procedure;
  EXPECT_EQ(unw_get_proc_info(&cursor, &procedure), 0);
  EXPECT_EQ(procedure.start_ip, code);
  _U_dyn_cancel(&info);
  EXPECT_EQ(walk().size(), 1u);
}

} // namespace libunwind_callbacks_test
