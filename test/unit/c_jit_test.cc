// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface of generated code: what it passes on, and what it refuses. Addresses are only numbers.

#include "allocations.h"
#include "cfi_assembler.h"

#include "sframe/c/jit.h"

#include "sframe/jit/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace c_jit_test {

sframe_error error = {.size = sizeof(sframe_error)};

sframe_jit_rows* make_rows(std::uint32_t length, std::int32_t cfa = 16) {
  const sframe::AbiTraits& abi = sframe::traits(sframe::jit::host_abi());
  const sframe_function function = {.size = sizeof function, .length = length};
  const sframe_row row = {.size = sizeof row,
                          .cfa = {.kind = SFRAME_RULE_VALUE, .base = abi.sp, .offset = cfa},
                          .ra = {.kind = SFRAME_RULE_STORED, .base = SFRAME_BASE_CFA, .offset = -8}};
  const sframe_jit_saved saved = {.size = sizeof saved, .from = 0, .to = 1, .reg = 3, .cfa_offset = -16};
  return sframe_jit_rows_make(&function, &row, 1, &saved, 1, &error);
}

const void* at(std::uintptr_t address) {
  return reinterpret_cast<const void*>(address);
}

std::int32_t cfa_at(std::uint64_t pc) {
  sframe::SourcedRow found;
  return sframe::jit::Registry::find(pc, found) ? found.row.cfa.offset : 0;
}

TEST(CJit, CodeComesAndGoes) {
  sframe_jit* const jit = sframe_jit_make(0, &error);
  ASSERT_TRUE(jit) << error.message;
  sframe_jit_rows* const rows = make_rows(0x100);
  sframe_jit_rows* const others = make_rows(0x100, 48);
  ASSERT_TRUE(rows && others) << error.message;
  sframe_jit_region region = {};
  ASSERT_EQ(SFRAME_OK, sframe_jit_add(jit, at(0x1000), "f", rows, &region, &error));
  EXPECT_EQ(0x1000u, region.start);
  EXPECT_EQ(16, cfa_at(0x1010));
  sframe_jit_region second = {};
  EXPECT_EQ(SFRAME_INVALID, sframe_jit_add(jit, at(0x1080), nullptr, rows, &second, &error));
  EXPECT_STREQ("there is other code at some of the addresses", error.message);
  EXPECT_EQ(SFRAME_OK, sframe_jit_patch(jit, &region, others, &error));
  EXPECT_EQ(48, cfa_at(0x1010));
  EXPECT_EQ(SFRAME_OK, sframe_jit_move(jit, &region, at(0x2000), &error));
  EXPECT_EQ(0x2000u, region.start);
  EXPECT_EQ(1u, sframe_jit_collect(jit));
  EXPECT_EQ(0, cfa_at(0x1010));
  EXPECT_EQ(SFRAME_OK, sframe_jit_remove(jit, &region, &error));
  EXPECT_EQ(SFRAME_INVALID, sframe_jit_remove(jit, &region, &error));
  sframe_jit_rows_free(rows);
  sframe_jit_rows_free(others);
  EXPECT_EQ(48, cfa_at(0x2010)); // the code has them still
  sframe_jit_free(jit);
  EXPECT_EQ(0, cfa_at(0x2010));
}

TEST(CJit, WhatIsRefused) {
  EXPECT_FALSE(sframe_jit_make(4, &error));
  EXPECT_EQ(SFRAME_INVALID, error.status);
  EXPECT_FALSE(make_rows(0));
  const sframe_function function = {.size = sizeof function, .length = 8};
  const sframe_row past = {
      .size = sizeof past, .offset = 8, .cfa = {.kind = SFRAME_RULE_VALUE, .base = 7, .offset = 8}};
  EXPECT_FALSE(sframe_jit_rows_make(&function, &past, 1, nullptr, 0, &error));
  EXPECT_EQ(SFRAME_REFUSED, error.status);
  EXPECT_FALSE(sframe_jit_rows_make(nullptr, nullptr, 0, nullptr, 0, &error));
  EXPECT_EQ(SFRAME_INVALID, sframe_jit_write_perf_map(nullptr, "/tmp/map", &error));
  EXPECT_EQ(SFRAME_INVALID, sframe_jit_add(nullptr, nullptr, nullptr, nullptr, nullptr, &error));
  sframe_jit_free(nullptr);
  sframe_jit_rows_free(nullptr);
}

TEST(CJit, FilesForPerf) {
  sframe_jit* const jit = sframe_jit_make(SFRAME_JIT_FRAMES | SFRAME_JIT_GDB, &error);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("c-jit-test-" + std::to_string(getpid()))).string();
  EXPECT_EQ(SFRAME_OK, sframe_jit_write_perf_map(jit, path.c_str(), &error));
  EXPECT_EQ(SFRAME_INVALID, sframe_jit_write_perf_map(jit, path.c_str(), &error)); // one is enough
  EXPECT_EQ(SFRAME_UNREADABLE, sframe_jit_write_dump(jit, "/nonexistent/dump", 0, &error));
  sframe_jit_rows* const rows = make_rows(0x10);
  sframe_jit_region region = {};
  EXPECT_EQ(SFRAME_OK, sframe_jit_add(jit, at(0x1000), "f", rows, &region, &error));
  sframe_jit_rows_free(rows);
  sframe_jit_free(jit);
  EXPECT_EQ(10u, std::filesystem::file_size(path)); // "1000 10 f"
  std::filesystem::remove(path);
}

TEST(CJit, FilesForPerfAreMadeOnce) {
  sframe_jit* const jit = sframe_jit_make(0, &error);
  const std::string path =
      (std::filesystem::temp_directory_path() / ("c-jit-once-test-" + std::to_string(getpid()))).string();
  // What failed may be tried again.
  EXPECT_GT(sframe::test::with_little_memory(
                [&] {
                  const sframe_status status = sframe_jit_write_perf_map(jit, path.c_str(), nullptr);
                  sframe::test::limit_allocations(std::nullopt);
                  EXPECT_TRUE(status == SFRAME_OK || status == SFRAME_NO_MEMORY) << status;
                  return status == SFRAME_OK;
                },
                100),
            1);
  std::array<sframe_status, 4> results = {};
  std::array<std::thread, results.size()> threads;
  for (std::size_t i = 0; i < threads.size(); ++i)
    threads[i] = std::thread([&, i] { results[i] = sframe_jit_write_dump(jit, path.c_str(), 0, nullptr); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(1, std::ranges::count(results, SFRAME_OK));
  EXPECT_EQ(3, std::ranges::count(results, SFRAME_INVALID));
  sframe_jit_free(jit);
  std::filesystem::remove(path);
}

struct Seen {
  sframe_jit* jit = nullptr;
  int count = 0, limit = 100;
  std::uint64_t starts[2] = {};
  std::string problem;
  sframe_jit_region region = {};
};

int see(const sframe_jit_function* function, void* data) {
  auto& seen = *static_cast<Seen*>(data);
  EXPECT_EQ(sizeof *function, function->size);
  if (seen.count < 2) seen.starts[seen.count] = function->start;
  ++seen.count;
  if (function->problem) seen.problem = function->problem;
  EXPECT_EQ(function->problem == nullptr, function->rows != nullptr);
  if (seen.jit && function->rows) {
    EXPECT_EQ(SFRAME_OK,
              sframe_jit_add(seen.jit, at(function->start), "f", function->rows, &seen.region, &error));
  }
  return seen.count == seen.limit;
}

/// With absolute addresses.
std::vector<std::byte> eh_frame_of(std::initializer_list<int> instructions) {
  const sframe::AbiTraits& abi = sframe::traits(sframe::jit::host_abi());
  sframe::test::CfiAssembler made(sframe::cfi::SectionKind::eh_frame, abi.byte_order);
  const std::size_t cie =
      made.cie(made.body().u8(1).text("zR").uleb(1).sleb(-8).uleb(abi.ra).uleb(1).u8(0).raw(
          {0x0c, abi.sp, 16, 0x80 | abi.ra, 1})); // CFA = SP+16, RA at CFA-8
  for (const std::uint64_t start : {0x1000, 0x2000})
    made.fde(cie, made.body().u64(start).u64(16).uleb(0).raw(instructions));
  return made.bytes().get();
}

TEST(CJit, RowsOfCallFrameInformation) {
  const auto bytes = eh_frame_of({});
  Seen seen = {.jit = sframe_jit_make(0, &error)};
  ASSERT_EQ(SFRAME_OK, sframe_jit_read_eh_frame(bytes.data(), bytes.size(), 0, see, &seen, &error));
  EXPECT_EQ(2, seen.count);
  EXPECT_EQ(0x1000u, seen.starts[0]);
  EXPECT_EQ(0x2000u, seen.starts[1]);
  EXPECT_EQ(16, cfa_at(0x100f));
  EXPECT_EQ(16, cfa_at(0x2000));
  EXPECT_EQ(SFRAME_OK, sframe_jit_drop(seen.jit, &seen.region, &error));
  EXPECT_EQ(SFRAME_INVALID, sframe_jit_drop(seen.jit, &seen.region, &error));
  EXPECT_EQ(SFRAME_INVALID, sframe_jit_drop(seen.jit, nullptr, &error));
  EXPECT_EQ(0, cfa_at(0x2000));
  EXPECT_EQ(16, cfa_at(0x1000));
  sframe_jit_free(seen.jit);
  Seen first = {.limit = 1};
  EXPECT_EQ(SFRAME_STOP, sframe_jit_read_eh_frame(bytes.data(), bytes.size(), 0, see, &first, &error));
  EXPECT_EQ(1, first.count);
}

TEST(CJit, CallFrameInformationWithoutRows) {
  Seen seen;
  const auto strange = eh_frame_of({0x0f, 1, 0x30}); // the CFA is 0
  EXPECT_EQ(SFRAME_OK, sframe_jit_read_eh_frame(strange.data(), strange.size(), 0, see, &seen, &error));
  EXPECT_EQ(2, seen.count);
  EXPECT_NE("", seen.problem);
  Seen nothing;
  const auto bad = eh_frame_of({0x3f});
  EXPECT_EQ(SFRAME_BAD_TABLE, sframe_jit_read_eh_frame(bad.data(), bad.size(), 0, see, &nothing, &error));
  EXPECT_EQ(0, nothing.count);
  EXPECT_GT(error.offset, 0u);
  EXPECT_STRNE("", error.message);
  EXPECT_EQ(SFRAME_INVALID, sframe_jit_read_eh_frame(nullptr, 8, 0, see, &nothing, &error));
  EXPECT_EQ(SFRAME_INVALID, sframe_jit_read_eh_frame(bad.data(), bad.size(), 0, nullptr, nullptr, &error));
  EXPECT_EQ(SFRAME_OK, sframe_jit_read_eh_frame(nullptr, 0, 0, see, &nothing, &error));
}

// sub $8,%rsp; call *%rcx; add $8,%rsp; ret
const std::array<std::uint8_t, 11> trampoline = {0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3};

sframe_row row_at(std::uint32_t offset, std::uint16_t base, std::int32_t cfa) {
  return {.size = sizeof(sframe_row),
          .offset = offset,
          .cfa = {.kind = SFRAME_RULE_VALUE, .base = base, .offset = cfa},
          .ra = {.kind = SFRAME_RULE_FIXED}};
}

sframe_jit_rows* rows_of_trampoline(std::initializer_list<sframe_row> rows) {
  const sframe_function function = {.size = sizeof function, .length = trampoline.size()};
  return sframe_jit_rows_make(&function, rows.begin(), rows.size(), nullptr, 0, &error);
}

struct Found {
  int limit = 100;
  std::vector<std::uint64_t> offsets;
  std::int32_t claimed = 0, right = 0; ///< of the last one
};

int find(const sframe_jit_contradiction* contradiction, void* data) {
  auto& found = *static_cast<Found*>(data);
  EXPECT_EQ(sizeof *contradiction, contradiction->size);
  EXPECT_EQ(sizeof(sframe_row), contradiction->row->size);
  found.offsets.push_back(contradiction->offset);
  found.claimed = contradiction->row->cfa.offset;
  if (contradiction->right) found.right = contradiction->right->cfa.offset;
  return static_cast<int>(found.offsets.size()) == found.limit;
}

TEST(CJit, CheckOfRows) {
  if (sframe::jit::host_abi() != sframe::Abi::amd64) GTEST_SKIP() << "the code is for AMD64";
  constexpr std::uint16_t sp = 7;
  const void* const code = trampoline.data();
  const auto check = [&](std::initializer_list<sframe_row> rows, Found* found, const sframe_row* entry) {
    sframe_jit_rows* const made = rows_of_trampoline(rows);
    const sframe_status status = sframe_jit_check(code, made, entry, found ? find : nullptr, found, &error);
    sframe_jit_rows_free(made);
    return status;
  };
  EXPECT_EQ(SFRAME_OK, check({row_at(0, sp, 8), row_at(4, sp, 16), row_at(10, sp, 8)}, nullptr, nullptr));
  Found found;
  EXPECT_EQ(SFRAME_BAD_TABLE,
            check({row_at(0, sp, 8), row_at(4, sp, 24), row_at(10, sp, 16)}, &found, nullptr));
  EXPECT_EQ((std::vector<std::uint64_t>{4, 10}), found.offsets);
  EXPECT_EQ(16, found.claimed);
  EXPECT_EQ(8, found.right);
  EXPECT_EQ(4u, error.offset);
  EXPECT_STRNE("", error.message);
  Found first = {.limit = 1};
  EXPECT_EQ(SFRAME_STOP, check({row_at(0, sp, 16)}, &first, nullptr));
  EXPECT_EQ(1u, first.offsets.size());
  // Entered with 8 bytes more on the stack.
  const sframe_row entry = row_at(0, sp, 16);
  EXPECT_EQ(SFRAME_OK, check({row_at(0, sp, 16), row_at(4, sp, 24), row_at(10, sp, 16)}, nullptr, &entry));
  EXPECT_EQ(SFRAME_NO_INFO, check({}, nullptr, nullptr)); // outermost
}

TEST(CJit, WhatCheckRefuses) {
  sframe_jit_rows* const rows = make_rows(11);
  EXPECT_EQ(SFRAME_INVALID, sframe_jit_check(nullptr, rows, nullptr, nullptr, nullptr, &error));
  EXPECT_EQ(SFRAME_INVALID, sframe_jit_check(trampoline.data(), nullptr, nullptr, nullptr, nullptr, &error));
  const sframe_row unsized = {};
  EXPECT_EQ(SFRAME_INVALID, sframe_jit_check(trampoline.data(), rows, &unsized, nullptr, nullptr, &error));
  const sframe_row strange = {.size = sizeof strange, .cfa = {.kind = 9}};
  EXPECT_EQ(SFRAME_INVALID, sframe_jit_check(trampoline.data(), rows, &strange, nullptr, nullptr, &error));
  sframe_jit_rows_free(rows);
}

} // namespace c_jit_test
