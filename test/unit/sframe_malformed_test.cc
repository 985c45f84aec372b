// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Malformed bytes: each malformed case of the kit for readers gives its error, and no damage makes the
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

TEST(Malformed, EachCaseGivesItsError) {
  using enum ErrorKind;
  // Cases that are not here can be read.
  const std::map<std::string, ErrorKind> expected = {
      {"abi-unknown", unknown_abi},
      {"auxiliary-header-past-end", truncated_header},
      {"bytes-random", bad_magic},
      {"flex-cfa-by-cfa", bad_rule},
      {"flex-cfa-padding", bad_rule},
      {"flex-fp-offset-missing", bad_dataword_count},
      {"flex-odd-words", bad_dataword_count},
      {"flex-one-word", bad_dataword_count},
      {"flex-words-too-many", bad_dataword_count},
      {"function-rows-at-end", truncated_row},
      {"function-rows-at-end-v3", function_rows_out_of_bounds}, // no room for the attributes
      {"function-rows-past-end", function_rows_out_of_bounds},
      {"function-rows-too-many", truncated_row},
      {"function-type-unknown", bad_fde_type},
      {"functions-product-wraps", index_out_of_bounds},
      {"functions-too-many", index_out_of_bounds},
      {"index-offset-past-end", index_out_of_bounds},
      {"index-overlaps-header", index_out_of_bounds},
      {"index-overlaps-rows", overlap},
      {"magic", bad_magic},
      {"magic-zero", bad_magic},
      {"mask-row-past-block", row_past_end},
      {"mask-zero", bad_rep_size},
      {"no-words-version-1", bad_dataword_count},
      {"row-past-function", row_past_end},
      {"row-type-unknown", bad_fre_type},
      {"rows-equal-offset", row_order},
      {"rows-length-past-end", rows_out_of_bounds},
      {"rows-length-short", truncated_row},
      {"rows-not-increasing", row_order},
      {"rows-offset-past-end", rows_out_of_bounds},
      {"truncated-header", truncated_header},
      {"truncated-index", index_out_of_bounds},
      {"truncated-last-row", rows_out_of_bounds},
      {"truncated-nothing", truncated_header},
      {"truncated-preamble", truncated_header},
      {"truncated-row-info", rows_out_of_bounds},
      {"truncated-row-words", rows_out_of_bounds},
      {"truncated-rows-none", rows_out_of_bounds},
      {"truncated-word-half", rows_out_of_bounds},
      {"version-unknown", unknown_version},
      {"word-size-3", bad_dataword_size},
      {"words-15", bad_dataword_count},
      {"words-too-many", bad_dataword_count},
  };
  std::set<std::string> seen;
  for (const auto& path : test::inputs_ending(".sframe")) {
    if (path.parent_path().filename() != "cases") continue;
    const std::string stem = path.stem().string();
    const std::string name = stem.substr(0, stem.rfind("-v")); // before "-v2-amd64"
    const auto fault = first_fault(test::read_file(path));
    const auto at = expected.find(name);
    ASSERT_EQ(fault.has_value(), at != expected.end()) << stem << (fault ? ": " + describe(*fault) : "");
    if (!fault) continue;
    EXPECT_EQ(fault->kind, at->second) << stem << ": " << describe(*fault);
    seen.insert(name);
  }
  EXPECT_EQ(seen.size(), expected.size());
}

TEST(Malformed, RowAtFunctionEndIsValid) {
  for (const auto& [name, is_fault] :
       {std::pair{"row-at-end-v3-amd64", false}, std::pair{"row-past-function-v3-amd64", true}}) {
    const auto bytes = test::case_section(name);
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
  const auto fault = first_fault(test::case_section("rows-not-increasing-v2-amd64"));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->function, 0u);
  EXPECT_EQ(fault->row, 2u);
  EXPECT_EQ(fault->offset, 28u + 20 + 3 + 3) << "the third row, after header, index and two rows of 3 bytes";
  EXPECT_EQ(describe(*fault), "row offsets do not increase, function 0, row 2");
}

} // namespace sframe_malformed_test
} // namespace sframe
