// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Malformed bytes: each recipe of test/inputs/malformed gives the error in its name, and no damage makes the
// reader access memory outside its bytes (checked by the sanitizer build).

#include "inputs.h"
#include "sframe/convert.h"
#include "sframe/index.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace sframe {
namespace sframe_malformed_test {

/// The first fault met by reading everything; nothing for a sound section.
std::optional<Error> first_fault(std::span<const std::byte> bytes) {
  auto section = Section::parse(bytes);
  if (!section) return section.error();
  for (std::uint32_t i = 0; i < section->num_fdes(); ++i) {
    auto fde = section->fde(i);
    if (!fde) return fde.error();
    RowCursor rows = section->rows(*fde);
    for (FrameRow row; rows.next(row);) {
    }
    if (rows.error()) return rows.error();
  }
  return std::nullopt;
}

TEST(Malformed, EachRecipeGivesItsError) {
  using enum ErrorKind;
  // Recipes that are not here are unusual but readable; the check below knows them by having no fault.
  const std::map<std::string, ErrorKind> expected = {
      {"auxhdr-past-end", truncated_header},
      {"bad-fde-type", bad_fde_type},
      {"bad-fre-type", bad_fre_type},
      {"bad-fre-type-3", bad_fre_type},
      {"bad-magic", bad_magic},
      {"zero-magic", bad_magic},
      {"bad-word-size", bad_dataword_size},
      {"empty", truncated_header},
      {"fde-off-huge", index_out_of_bounds},
      {"fde-past-end", index_out_of_bounds},
      {"flex-cfa-no-register", bad_rule},
      {"flex-odd-words", bad_dataword_count},
      {"flex-zero-words", bad_rule},
      {"fre-len-past-end", rows_out_of_bounds},
      {"fre-past-end", rows_out_of_bounds},
      {"func-num-fres-huge", truncated_row},
      {"num-fdes-huge", index_out_of_bounds},
      {"num-fdes-wraps", index_out_of_bounds},
      {"overlap", overlap},
      {"pcmask-rep-zero", bad_rep_size},
      {"pcmask-row-past-block", row_past_end},
      {"row-info-missing", truncated_row},
      {"row-truncated", truncated_row},
      {"rows-equal-address", row_order},
      {"rows-not-increasing", row_order},
      {"rows-offset-at-end", truncated_row},
      {"rows-offset-huge", function_rows_out_of_bounds},
      {"rows-offset-past-end", function_rows_out_of_bounds},
      {"rows-too-few", truncated_row},
      {"too-many-words", bad_dataword_count},
      {"truncated-header", truncated_header},
      {"truncated-preamble", truncated_header},
      {"unknown-abi", unknown_abi},
      {"unknown-version", unknown_version},
      {"version-zero", unknown_version},
  };
  const std::set<std::string> readable = {"bad-info-bits",
                                          "encoding-too-wide",
                                          "flex-bad-register",
                                          "fre-before-fde",
                                          "functions-equal",
                                          "functions-negative",
                                          "functions-overlap",
                                          "gap",
                                          "no-functions",
                                          "no-rows",
                                          "num-fres-differs",
                                          "num-fres-huge",
                                          "padding",
                                          "pcmask-rep-odd",
                                          "rep-size-without-pcmask",
                                          "row-past-function", // at its end: holds for no address
                                          "rows-equal-neighbours",
                                          "rows-first-not-zero",
                                          "size-wraps",
                                          "sorted-flag-unsorted",
                                          "start-minimum",
                                          "unknown-flags"};
  std::size_t seen = 0;
  for (const auto& path : test::inputs_ending(".sframe")) {
    if (path.parent_path().filename() != "malformed") continue;
    ++seen;
    const std::string stem = path.stem().string();
    const std::string name = stem.substr(3); // after "v2-"
    const auto fault = first_fault(test::read_file(path));
    if (readable.contains(name)) {
      EXPECT_FALSE(fault) << stem << ": " << describe(*fault);
    } else if (const auto at = expected.find(name); at == expected.end()) {
      ADD_FAILURE() << stem << " is not in the table";
    } else if (!fault) {
      ADD_FAILURE() << stem << " was read without a fault";
    } else if (stem == "v3-rows-offset-at-end") {
      EXPECT_EQ(fault->kind, function_rows_out_of_bounds) << "no room for the attributes";
    } else {
      EXPECT_EQ(fault->kind, at->second) << stem << ": " << describe(*fault);
    }
  }
  EXPECT_GT(seen, 100u);
}

TEST(Malformed, RowAtFunctionEndIsValid) {
  const auto at_16 = [](const char* offset) {
    return test::hex(std::string(R"(
      e2de 03 01  03 00 f8 00  01000000 02000000 0b000000 00000000 10000000
      0010000000000000 10000000 00000000   0200 00 00 00   00 03 08   )") +
                     offset + " 03 10");
  };
  for (const auto& [offset, is_fault] : {std::pair{"10", false}, std::pair{"11", true}}) {
    const auto bytes = at_16(offset);
    const auto section = Section::parse(bytes);
    ASSERT_TRUE(section);
    RowCursor rows = section->rows(*section->fde(0));
    FrameRow row;
    ASSERT_TRUE(rows.next(row));
    EXPECT_FALSE(rows.at_function_end());
    EXPECT_EQ(rows.next(row), !is_fault);
    EXPECT_EQ(rows.at_function_end(), !is_fault);
    EXPECT_EQ(rows.error().has_value(), is_fault);
    if (is_fault) {
      EXPECT_EQ(rows.error()->kind, ErrorKind::row_past_end);
    }
    // No address has that row.
    const auto last = section->find(0x100f);
    ASSERT_TRUE(last && *last);
    EXPECT_EQ((*last)->row.offset, 0u);
  }
}

TEST(Malformed, ReadsIntactParts) {
  const std::string header = "e2de 03 01  03 00 f8 00 ";
  const std::string entry = "0010000000000000 10000000 00000000 ", row = "0100 00 00 00 00 03 08";
  std::optional<Error> fault;
  // Three index entries, of which one is there.
  const auto index = test::hex(header + "03000000 01000000 08000000 08000000 00000000" + row + entry);
  EXPECT_EQ(Section::parse(index).error().kind, ErrorKind::index_out_of_bounds);
  auto section = Section::parse_damaged(index, 0, fault);
  ASSERT_TRUE(section);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, ErrorKind::index_out_of_bounds);
  EXPECT_EQ(section->header().num_fdes, 3u);
  EXPECT_EQ(section->num_fdes(), 1u);
  EXPECT_EQ(section->bytes().size(), index.size());
  const auto match = section->find(0x1004);
  ASSERT_TRUE(match && *match);
  EXPECT_EQ((*match)->fde.start, 0x1000u);
  // Rows that should go on past the end; a function's own rows are there.
  const auto rows = test::hex(header + "01000000 01000000 ffff0000 00000000 10000000" + entry + row);
  section = Section::parse_damaged(rows, 0, fault);
  ASSERT_TRUE(section);
  EXPECT_EQ(fault->kind, ErrorKind::rows_out_of_bounds);
  EXPECT_TRUE(section->find(0x1004)->has_value());
  // Sub-sections that start past the end.
  const auto far = test::hex(header + "01000000 01000000 08000000 ffffffff ffffffff" + entry + row);
  section = Section::parse_damaged(far, 0, fault);
  ASSERT_TRUE(section);
  EXPECT_EQ(section->num_fdes(), 0u);
  // What is sound has no fault.
  const auto sound = test::hex(header + "01000000 01000000 08000000 00000000 10000000" + entry + row);
  ASSERT_TRUE(Section::parse_damaged(sound, 0, fault));
  EXPECT_FALSE(fault);
}

/// Runs everything that reads over `bytes`. What it gives does not matter here.
void read_everything(std::span<const std::byte> bytes) {
  (void)first_fault(bytes);
  (void)flip_byte_order(bytes);
  std::optional<Error> fault;
  if (const auto damaged = Section::parse_damaged(bytes, 0, fault); damaged && fault) {
    for (std::uint32_t i = 0; i < std::min(damaged->num_fdes(), 1000u); ++i) {
      const auto fde = damaged->fde(i);
      if (!fde) continue;
      RowCursor rows = damaged->rows(*fde);
      for (FrameRow row; rows.next(row);) {
      }
    }
    (void)damaged->find(0x1000);
  }
  auto section = Section::parse(bytes);
  if (!section) return;
  for (std::uint64_t pc : {std::uint64_t{0}, std::uint64_t{0x1000}, ~std::uint64_t{0}})
    (void)section->find(pc);
  if (auto index = Index::build({&*section, 1})) (void)index->find(0x1000);
  BuildOptions options;
  options.abi = section->abi().id;
  (void)convert({&*section, 1}, options, 0);
}

TEST(Malformed, SurvivesTruncationAndFlippedBytes) {
  std::mt19937 random(1);
  for (const auto& path : test::inputs_ending(".sframe")) {
    const auto sound = test::read_file(path);
    for (std::size_t size = 0; size <= sound.size(); size += size < 128 ? 1 : 17) {
      // A copy of just that size, so that a read past it is detected.
      const std::vector<std::byte> cut(sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(size));
      read_everything(cut);
    }
    for (int i = 0; i < 50 && !sound.empty(); ++i) {
      auto bytes = sound;
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
      read_everything(bytes);
    }
  }
}

TEST(Malformed, ErrorsHaveLocations) {
  const auto fault =
      first_fault(test::read_file(test::inputs() / "malformed" / "v2-rows-not-increasing.sframe"));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->function, 0u);
  EXPECT_EQ(fault->row, 2u);
  EXPECT_EQ(fault->offset, 28u + 20 + 3 + 3) << "the third row, after header, index and two rows of 3 bytes";
  EXPECT_EQ(describe(*fault), "row offsets do not increase, function 0, row 2");
}

} // namespace sframe_malformed_test
} // namespace sframe
