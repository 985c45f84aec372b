// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts of rows: found again for equal words only.

#include <sframe/listing/row_texts.h>

#include <array>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace sframe::listing {
namespace {

/// A row of `count` words, each of 1 << `size_code` bytes.
EncodedRow row_of(std::span<const std::byte> words, std::uint32_t count, std::uint32_t size_code, bool sp) {
  return {.info = static_cast<std::uint8_t>(size_code << 5 | count << 1 | static_cast<std::uint32_t>(sp)),
          .words = words.data()};
}

TEST(RowTexts, KeepsPieces) {
  RowTexts texts;
  const std::array words{std::byte{16}, std::byte{0xf0}};
  const EncodedRow row = row_of(words, 2, 0, true);
  EXPECT_EQ(texts.find(row, false), nullptr);
  texts.add({"sp+16", "", "cfa-16"});
  const RowTexts::Text* const text = texts.find(row, false);
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(text->piece(0), "sp+16");
  EXPECT_EQ(text->piece(1), "");
  EXPECT_EQ(text->piece(2), "cfa-16");
  EXPECT_EQ(text->all(), "sp+16cfa-16");
}

TEST(RowTexts, ForgetsWhatIsTooLong) {
  RowTexts texts;
  const std::array<std::byte, 24> words{};
  const EncodedRow row = row_of(words, 1, 0, true);
  EXPECT_EQ(texts.find(row, false), nullptr);
  texts.add({std::string(142, 'x')});
  EXPECT_EQ(texts.find(row, false), nullptr);
  texts.add({std::string(100, 'x'), std::string(41, 'y')});
  ASSERT_NE(texts.find(row, false), nullptr);
  EXPECT_EQ(texts.find(row, false)->piece(1).size(), 41u);
  // Nine bytes of words and more.
  for (const auto& [count, size_code] : {std::pair{9u, 0u}, {5u, 1u}, {3u, 2u}, {6u, 2u}}) {
    const EncodedRow wide = row_of(words, count, size_code, true);
    EXPECT_EQ(texts.find(wide, true), nullptr);
    texts.add({"text"});
    EXPECT_EQ(texts.find(wide, true), nullptr);
  }
}

// All shapes of rows, with words that differ in few bits.
TEST(RowTexts, FindsEqualWordsOnly) {
  using Key = std::tuple<std::vector<std::byte>, std::uint8_t, bool>;
  RowTexts texts;
  std::map<Key, std::string> made;
  std::mt19937 random(7);
  std::size_t found = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto size_code = static_cast<std::uint32_t>(random() % 3);
    const auto count = static_cast<std::uint32_t>(random() % ((8 >> size_code) + 1));
    std::vector<std::byte> words(std::size_t{count} << size_code); // exactly: sanitizers see what is read
    for (std::byte& byte : words) byte = static_cast<std::byte>(random() % 8 == 0);
    const EncodedRow row = row_of(words, count, size_code, random() % 2);
    const bool flex = random() % 2;
    const auto [at, is_new] = made.try_emplace({words, row.info, flex}, std::to_string(made.size()));
    if (const RowTexts::Text* const text = texts.find(row, flex)) {
      EXPECT_FALSE(is_new);
      EXPECT_EQ(text->all(), at->second);
      ++found;
    } else {
      texts.add({at->second});
    }
  }
  EXPECT_GT(found, 500u);
}

} // namespace
} // namespace sframe::listing
