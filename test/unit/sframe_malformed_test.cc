// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bad bytes: each recipe of test/inputs/malformed gives the error that it is named for, and no damage at all
// makes the reader leave its bytes (the sanitizer build watches).

#include "inputs.h"
#include "sframe/convert.h"
#include "sframe/index.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace sframe {
namespace {

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
      {"row-past-function", row_past_end},
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
    const std::string name = stem.substr(3); // behind "v2-"
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

/// Runs everything that reads over `bytes`. What it gives does not matter here.
void read_everything(std::span<const std::byte> bytes) {
  (void)first_fault(bytes);
  (void)flip_byte_order(bytes);
  auto section = Section::parse(bytes);
  if (!section) return;
  for (std::uint64_t pc : {std::uint64_t{0}, std::uint64_t{0x1000}, ~std::uint64_t{0}})
    (void)section->find(pc);
  if (auto index = Index::build({&*section, 1})) (void)index->find(0x1000);
  BuildOptions options;
  options.abi = section->abi().id;
  (void)convert({&*section, 1}, options, 0);
}

TEST(Malformed, AnyTruncationAndAnyFlippedByteIsSurvived) {
  std::mt19937 random(1);
  for (const auto& path : test::inputs_ending(".sframe")) {
    const auto sound = test::read_file(path);
    for (std::size_t size = 0; size <= sound.size(); size += size < 128 ? 1 : 17) {
      // A copy of just that size, so that a read behind it is seen.
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

TEST(Malformed, ErrorsHaveTheirPlace) {
  const auto fault =
      first_fault(test::read_file(test::inputs() / "malformed" / "v2-rows-not-increasing.sframe"));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->function, 0u);
  EXPECT_EQ(fault->row, 2u);
  EXPECT_EQ(fault->offset, 28u + 20 + 3 + 3) << "the third row, behind header, index and two rows of 3 bytes";
  EXPECT_EQ(describe(*fault), "row offsets do not increase, function 0, row 2");
}

} // namespace
} // namespace sframe
