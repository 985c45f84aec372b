// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A big-endian target through callbacks, on a host of either byte order: a core's memory and registers, and
// a search table in the target's order, built here from the program's .eh_frame and placed at unused
// addresses.

#include "libunwind-s390x.h"

#include "cfi_assembler.h"
#include "small_cores.h"

#include "sframe/elf/file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <endian.h>

namespace libunwind_s390x_test {

using namespace sframe;
using namespace sframe::test;
using remote::RemoteStatus;

struct Target {
  std::unique_ptr<remote::CoreTarget> core;
  std::uint64_t table_at = 0;
  Bytes table{ByteOrder::big};
  unw_dyn_info_t info{};
};

/// Pairs of start and FDE, sorted, as in .eh_frame_hdr.
void make_table(Target& target, const elf::Image& program) {
  const elf::SectionHeader* section = program.find_section(".eh_frame");
  ASSERT_TRUE(section);
  const auto contents = program.contents(*section);
  ASSERT_TRUE(contents);
  target.table_at = section->address + 0x100000;
  const cfi::CfiSection frames(cfi::SectionKind::eh_frame, contents->bytes(), section->address,
                               *program.abi());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs;
  cfi::FdeCursor fdes = frames.fdes();
  for (auto fde = fdes.next(); fde && *fde; fde = fdes.next())
    pairs.emplace_back((*fde)->start, section->address + (*fde)->offset);
  std::ranges::sort(pairs);
  for (const auto& [start, fde] : pairs) target.table.u32(start - target.table_at).u32(fde - target.table_at);
  target.info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  target.info.u.rti = {
      .name_ptr = 0, .segbase = target.table_at, .table_len = pairs.size(), .table_data = target.table_at};
}

Target& of(void* arg) {
  return *static_cast<Target*>(arg);
}
int code_of(RemoteStatus status) {
  return -static_cast<int>(status);
}

int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t* info, int need, void* arg) {
  return UNW_OBJ(dwarf_search_unwind_table)(space, ip, &of(arg).info, info, need, arg);
}
void put_unwind_info(unw_addr_space_t, unw_proc_info_t*, void*) {}
int access_mem(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void* arg) {
  const auto& table = of(arg).table.get();
  const unw_word_t into = address - of(arg).table_at;
  if (into >= table.size()) return code_of(of(arg).core->access_memory(address, *value, write, nullptr));
  if (table.size() - into < 8) return -UNW_EINVAL;
  *value = 0; // the word as a number, in the host's order
  for (unw_word_t i = 0; i < 8; ++i) *value = *value << 8 | std::to_integer<unw_word_t>(table[into + i]);
  return 0;
}
int access_reg(unw_addr_space_t, unw_regnum_t reg, unw_word_t* value, int write, void* arg) {
  const auto number = reg == UNW_S390X_IP ? unwind::pc_register : static_cast<std::uint16_t>(reg);
  return code_of(of(arg).core->access_register(number, *value, write, nullptr));
}
int access_fpreg(unw_addr_space_t, unw_regnum_t reg, unw_fpreg_t* value, int, void*) {
  *value = reg; // the core has none
  return 0;
}

struct BigEndian : testing::Test {
  void SetUp() override {
    target.core = open_small_core("s390x");
    if (!target.core) GTEST_SKIP() << "zstd is not built in";
    const auto file = elf::File::open(small_cores() / "s390x.elf");
    ASSERT_TRUE(file);
    const auto image = elf::Image::parse(file->bytes());
    ASSERT_TRUE(image);
    make_table(target, *image);
    unw_accessors_t accessors = {find_proc_info, put_unwind_info, nullptr, access_mem,
                                 access_reg,     access_fpreg,    nullptr, nullptr};
    space = unw_create_addr_space(&accessors, __BIG_ENDIAN);
    ASSERT_TRUE(space);
    ASSERT_EQ(unw_init_remote(&cursor, space, &target), 0);
  }
  void TearDown() override { unw_destroy_addr_space(space); }

  std::string name_here() {
    unw_word_t ip = 0;
    unw_get_reg(&cursor, UNW_REG_IP, &ip);
    char name[64] = "";
    std::uint64_t offset = 0;
    target.core->find_name(ip, name, offset, nullptr);
    return name;
  }

  Target target;
  unw_addr_space_t space = nullptr;
  unw_cursor_t cursor;
};

TEST_F(BigEndian, WalksMatchSource) {
  std::vector<std::string> names;
  int step;
  do {
    names.push_back(unw_is_signal_frame(&cursor) > 0 ? "[signal]" : name_here());
  } while ((step = unw_step(&cursor)) > 0 && names.size() < 100);
  EXPECT_EQ(step, 0);
  EXPECT_EQ(names, small_core_calls());
}

TEST_F(BigEndian, FloatingPointRegistersHoldReturnAddresses) {
  EXPECT_TRUE(unw_is_fpreg(UNW_S390X_F2));
  EXPECT_FALSE(unw_is_fpreg(UNW_S390X_R14));
  EXPECT_STREQ(unw_regname(UNW_S390X_F2), "F2");
  unw_fpreg_t value = 0;
  EXPECT_EQ(unw_get_fpreg(&cursor, UNW_S390X_F2, &value), 0);
  EXPECT_EQ(value, UNW_S390X_F2) << "of the innermost frame, as the callback returned it";
  unw_word_t word = 0;
  EXPECT_EQ(unw_get_reg(&cursor, UNW_S390X_F2, &word), -UNW_EBADREG);
  while (name_here() != "leaf") ASSERT_EQ(unw_step(&cursor), 1);
  // `ldgr %f2, %r14`: what the signal frame has of f2 is the return address into the caller.
  ASSERT_EQ(unw_get_fpreg(&cursor, UNW_S390X_F2, &value), 0);
  std::memcpy(&word, &value, sizeof word);
  unw_word_t ip = 0;
  ASSERT_EQ(unw_step(&cursor), 1);
  ASSERT_EQ(unw_get_reg(&cursor, UNW_REG_IP, &ip), 0);
  EXPECT_EQ(word, ip);
  EXPECT_EQ(name_here(), "handler");
}

TEST_F(BigEndian, RefusesLittleEndian) {
  EXPECT_FALSE(unw_create_addr_space(unw_get_accessors(space), __LITTLE_ENDIAN));
  unw_addr_space_t usual = unw_create_addr_space(unw_get_accessors(space), 0);
  EXPECT_TRUE(usual);
  unw_destroy_addr_space(usual);
}

} // namespace libunwind_s390x_test
