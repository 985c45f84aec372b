// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Randomly damaged objects and archives: converting them gives a file or a Problem, and converting a written
// file again gives the same bytes.

#include "inputs.h"

#include "sframe/edit/archive.h"
#include "sframe/edit/rewrite.h"
#include "sframe/elf/archive.h"
#include "sframe/elf/object.h"
#include "sframe/generate/from_cfi.h"

#include <gtest/gtest.h>

#include <random>

namespace sframe::generate {
namespace generate_object_test {

using Bytes = std::vector<std::byte>;

sframe::Result<Bytes> convert(std::span<const std::byte> file) {
  const auto image = elf::Image::parse(file);
  if (!image) return unexpected(image.error());
  const auto layout = elf::ObjectLayout::make(*image);
  if (!layout) return unexpected(layout.error());
  const auto input = CfiInput::from_image(layout->image());
  if (!input) return unexpected(input.error());
  const auto [builder, report] = from_cfi(*input, {});
  const auto section = builder.finish(layout->end());
  if (!section) return fail(message(section.error().reason));
  const auto edit = edit::add_section_to_object(*layout, *section);
  if (!edit) return unexpected(edit.error());
  return edit->apply(file);
}

void damage(Bytes& bytes, std::mt19937& random) {
  for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
    // Headers, symbols and relocations are at the end; half of the damage goes there.
    const std::size_t first = random() % 2 ? bytes.size() / 2 : 0;
    bytes[first + random() % (bytes.size() - first)] = std::byte(random());
  }
  if (random() % 16 == 0) bytes.resize(random() % bytes.size());
}

TEST(GenerateObject, SurvivesDamage) {
  std::mt19937 random(20);
  unsigned written = 0;
  for (const auto& path : test::inputs_ending(".o")) {
    const Bytes original = test::read_file(path);
    for (unsigned round = 0; round < 60; ++round) {
      Bytes damaged = original;
      damage(damaged, random);
      const auto result = convert(damaged);
      if (!result) continue;
      ++written;
      const auto again = convert(*result);
      EXPECT_TRUE(again) << path << ", round " << round << ": " << again.error().text();
      if (again) {
        EXPECT_TRUE(*again == *result) << path << ", round " << round;
      }
    }
  }
  EXPECT_GT(written, 100u) << "the damage is too much to test anything";
}

TEST(GenerateObject, SurvivesDamagedArchives) {
  std::mt19937 random(21);
  for (const auto& path : test::inputs_ending(".a")) {
    const Bytes original = test::read_file(path);
    for (unsigned round = 0; round < 500; ++round) {
      Bytes damaged = original;
      damage(damaged, random);
      const auto members = elf::archive_members(damaged);
      if (!members) continue;
      std::vector<std::optional<Bytes>> contents(members->size());
      for (std::size_t i = 0; i < contents.size(); i += 2)
        contents[i] = Bytes(random() % 300, std::byte(round));
      const auto result = edit::replace_members(damaged, contents);
      if (!result) continue;
      const auto again = elf::archive_members(*result);
      ASSERT_TRUE(again) << path << ", round " << round << ": " << again.error().text();
      ASSERT_EQ(again->size(), members->size());
      for (std::size_t i = 0; i < contents.size(); ++i) {
        EXPECT_EQ((*again)[i].name, (*members)[i].name);
        const auto expected = contents[i] ? std::span<const std::byte>(*contents[i]) : (*members)[i].bytes;
        EXPECT_TRUE(std::ranges::equal((*again)[i].bytes, expected)) << path << ", round " << round;
      }
    }
  }
}

} // namespace generate_object_test
} // namespace sframe::generate
