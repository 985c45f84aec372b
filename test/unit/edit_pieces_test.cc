// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An edited file: what is kept of the old one, and what is overwritten.

#include "elf_builder.h"

#include "sframe/edit/edit.h"

#include <gtest/gtest.h>

namespace sframe::edit {

using namespace elf;
namespace edit_pieces_test {

std::vector<std::byte> text(std::string_view value) {
  return test::Writer().text(value).bytes;
}

TEST(ElfEdit, KeepsAndReplaces) {
  const auto old = text("0123456789");
  EXPECT_EQ(Edit::replace_all(text("abc")).apply(old), text("abc"));
  EXPECT_EQ(Edit::replace_all({}).apply(old), text(""));
  EXPECT_EQ(Edit::keep_start(4).apply(old), text("0123"));
  EXPECT_TRUE(Edit::keep_start(0).kept.empty());
  EXPECT_EQ(Edit::keep_start(0).size, 0u);

  Edit edit = Edit::keep_start(4);
  edit.keep({.offset = 6, .source = 2, .size = 3});
  EXPECT_EQ(edit.size, 9u);
  EXPECT_EQ(edit.apply(old), text(std::string_view("0123\0\0"
                                                   "234",
                                                   9)))
      << "zeros between";
  edit.keep({.offset = 20, .source = 0, .size = 0});
  EXPECT_EQ(edit.size, 9u) << "nothing is kept: nothing grows";
  edit.add(1, text("ab"));
  EXPECT_EQ(edit.size, 9u);
  edit.add(8, text("xyz"));
  EXPECT_EQ(edit.size, 11u);
  EXPECT_EQ(edit.apply(old), text(std::string_view("0ab3\0\0"
                                                   "23xyz",
                                                   11)))
      << "over what is kept";
}

TEST(ElfEdit, KnowsWhatItGives) {
  const auto old = text("0123456789");
  Edit edit = Edit::keep_start(4);
  edit.keep({.offset = 6, .source = 2, .size = 6});
  edit.add(1, text("ab"));
  edit.add(5, text("cd"));
  edit.add(14, text("x"));
  const auto made = edit.apply(old);
  EXPECT_TRUE(edit.gives(old, made));
  for (std::size_t i = 0; i < made.size(); ++i) {
    auto other = made;
    other[i] ^= std::byte(1);
    EXPECT_FALSE(edit.gives(old, other)) << i;
  }
  auto shorter = made, longer = made;
  shorter.pop_back();
  longer.push_back({});
  EXPECT_FALSE(edit.gives(old, shorter));
  EXPECT_FALSE(edit.gives(old, longer));
  EXPECT_TRUE(Edit::replace_all({}).gives(old, {}));
  EXPECT_FALSE(Edit::replace_all({}).gives(old, old));
  EXPECT_TRUE(Edit::keep_start(10).gives(old, old));
}

} // namespace edit_pieces_test
} // namespace sframe::edit
