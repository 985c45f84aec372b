// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of lib/jit as a debugger reads it: bytes written here by the layouts of sframe/jit/list.h, in
// either byte order, valid and damaged.

#include "made_up_process.h"

#include "sframe/builder.h"
#include "sframe/modules/dynamic_code.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace modules_sframe_list_test {

using namespace sframe;
using namespace sframe::modules;
using test::Bytes;

constexpr std::uint64_t library = 0x10000, list_at = 0x20000, registry = 0x21000, table = 0x22000,
                        first_run = 0x23000, second_run = 0x24000, name_at = 0x25000, rows_at = 0x26000,
                        code_at = 0x50000;

class Process final : public test::MadeUpProcess {
public:
  explicit Process(Abi abi) : MadeUpProcess(abi), code_(*this, files_, *this, modules_) {
    add_library("library", {{"sframe_jit_list", list_at}}, library);
    add_list(1, 32, registry);
    words(registry, {0, table});
    words(table, {2, first_run, 2, second_run, 1});
    put(name_at, bytes().text("compiled").u8(0));
    add_rows(rows_at, 48);
    words(first_run, {code_at, rows_at, name_at, 64, code_at + 64, 0, name_at, 64}); // the second was removed
    words(second_run, {code_at + 256, rows_at, 0, 64});
  }

  bool is_code(std::uint64_t address) override { return address - code_at < 0x1000; }
  Module* module_at(std::uint64_t address) override {
    if (Module* module = MadeUpProcess::module_at(address)) return module;
    return code_.module_at(address);
  }

  void add_list(std::uint32_t version, std::uint32_t entry_size, std::uint64_t first) {
    put(list_at, bytes().u32(version).u32(entry_size).u64(first));
  }
  /// A function of 64 bytes at the section's address.
  void add_rows(std::uint64_t at, std::int32_t cfa) {
    Builder builder({.abi = abi().id});
    const FrameRow row = {
        0, Rule::value(abi().sp, cfa + abi().entry_cfa_offset), Rule::at_cfa(-8), {}, false};
    EXPECT_TRUE(builder.add({.start = 0, .size = 64}, std::span(&row, 1)));
    const auto section = *builder.finish(0);
    words(at, {section.size()});
    put(at + 8, section);
  }

  /// The offset of the CFA, above that at entry; -1 if there is no row.
  std::int32_t cfa_at(std::uint64_t address) {
    Module* const module = module_at(address);
    const auto found = module ? module->tables().find_sframe(module->link(address)) : std::nullopt;
    return found ? found->row.cfa.offset - abi().entry_cfa_offset : -1;
  }
  std::string name_of(std::uint64_t address) {
    const auto found = module_at(address)->symbols().find(LinkAddress(address));
    return found ? std::string(found->symbol->name) : "";
  }
  bool reports(std::string_view what) {
    return std::ranges::any_of(code_.problems(), [&](const std::string& one) { return one.contains(what); });
  }
  DynamicCode& code() { return code_; }

private:
  DynamicCode code_;
};

class SframeList : public testing::TestWithParam<Abi> {
protected:
  Process process{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(DynamicCode, SframeList,
                         testing::Values(Abi::amd64, Abi::aarch64_little, Abi::aarch64_big, Abi::s390x),
                         [](const auto& one) { return std::string(traits(one.param).name); });

TEST_P(SframeList, RowsAndNames) {
  EXPECT_EQ(process.cfa_at(code_at), 48);
  EXPECT_EQ(process.cfa_at(code_at + 63), 48);
  EXPECT_EQ(process.cfa_at(code_at + 64), -1);
  EXPECT_EQ(process.cfa_at(code_at + 256), 48); // the same rows elsewhere
  EXPECT_EQ(process.name_of(code_at + 4), "compiled");
  EXPECT_EQ(process.name_of(code_at + 260), "");
  EXPECT_TRUE(process.code().problems().empty());
}

TEST_P(SframeList, ChangesAreSeen) {
  EXPECT_EQ(process.cfa_at(code_at), 48);
  EXPECT_FALSE(process.code().refresh());
  process.add_rows(rows_at + 0x100, 96);
  process.words(first_run, {code_at, rows_at + 0x100, name_at, 64, code_at + 64, rows_at, name_at, 64});
  EXPECT_TRUE(process.code().refresh());
  EXPECT_EQ(process.cfa_at(code_at), 96);
  EXPECT_EQ(process.cfa_at(code_at + 64), 48);
  process.words(registry, {0, 0});
  EXPECT_TRUE(process.code().refresh());
  EXPECT_EQ(process.cfa_at(code_at), -1);
  EXPECT_TRUE(process.code().problems().empty());
}

class DamagedSframeList : public testing::Test {
protected:
  Process process{Abi::amd64};
  void expect(std::string_view problem, std::int32_t cfa = -1) {
    EXPECT_EQ(process.cfa_at(code_at), cfa);
    EXPECT_TRUE(process.reports(problem)) << problem;
  }
};

TEST_F(DamagedSframeList, OtherVersions) {
  process.add_list(2, 32, registry);
  expect("has an unsupported version at 0x20000");
}

TEST_F(DamagedSframeList, ImpossibleEntrySizes) {
  process.add_list(1, 24, registry);
  expect("has an unsupported version");
  process.add_list(1, 0xffffffff, registry);
  process.code().refresh();
  expect("has an unsupported version");
}

TEST_F(DamagedSframeList, Cycles) {
  process.words(registry, {registry, table});
  expect("has a cycle at 0x21000", 48);
}

TEST_F(DamagedSframeList, PointersToNowhere) {
  process.add_list(1, 32, 0x123456789abcdef0);
  expect("cannot be read at 0x123456789abcdef0");
  process.add_list(1, 32, registry);
  process.words(registry, {0, 0x7000000});
  process.code().refresh();
  expect("cannot be read at 0x7000000");
}

TEST_F(DamagedSframeList, TooManyRunsAndEntries) {
  process.words(table, {65, first_run, 2, second_run, 1});
  expect("has too many runs at 0x22000");
  process.words(table, {1, first_run, ~std::uint64_t{0} / 16});
  process.code().refresh();
  expect("has too many entries at 0x23000");
}

/// Entries without rows are of removed code. Many tables may have the same ones.
TEST_F(DamagedSframeList, TooManyRemovedEntries) {
  constexpr std::uint64_t zeros = 0x4000000, count = 60'000;
  process.put(zeros, std::vector<std::byte>(count * 32));
  process.words(table, {5, first_run, 1, zeros, count, zeros, count, zeros, count, zeros, count});
  expect("has too many entries at 0x4000000", 48);
}

TEST_F(DamagedSframeList, RangesThatWrap) {
  process.words(second_run, {~std::uint64_t{0} - 3, rows_at, 0, 64});
  expect("has an entry with an impossible range at 0x24000", 48);
}

TEST_F(DamagedSframeList, RowsThatAreNone) {
  process.words(rows_at, {~std::uint64_t{0}});
  expect("too large: limit on copied code reached");
  process.words(rows_at, {1 << 20});
  process.code().refresh();
  expect("rows cannot be read");
}

TEST_F(DamagedSframeList, SectionsThatAreNone) {
  process.put(rows_at + 8, std::vector<std::byte>(128));
  EXPECT_EQ(process.cfa_at(code_at), -1);
}

} // namespace modules_sframe_list_test
