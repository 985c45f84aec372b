// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decompression of files. The compressed bytes were made by gzip 1.12, xz 5.4, zstd 1.5 and lz4 1.9.

#include "elf_builder.h"
#include "inputs.h"
#include "unpack_formats.h"

#include "sframe/core/core_file.h"
#include "sframe/elf/unpack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace sframe::elf {
namespace elf_unpack_test {

using Bytes = std::vector<std::byte>;

/// "sframe" thirty times.
const std::pair<const char*, const char*> formats[] = {
    {"gzip", "1f 8b 08 00 00 00 00 00 02 03 2b 4e 2b 4a cc 4d 2d 1e 52 24 00 14 22 c7 21 b4 00 00 00"},
    {"xz", "fd 37 7a 58 5a 00 00 01 69 22 de 36 02 00 21 01 1c 00 00 00 10 cf 58 cc e0 00 b3 00 0c 5d 00 39"
           "99 8a aa 9a 1e 5f e3 4e 6c 08 00 00 14 22 c7 21 00 01 24 b4 01 00 00 00 4c 5a 93 02 3e 30 0d 8b"
           "02 00 00 00 00 01 59 5a"},
    {"zstd", "28 b5 2f fd 24 b4 6d 00 00 30 73 66 72 61 6d 65 01 00 ab 50 a5 08 c3 85 a9 b6"},
    {"lz4", "04 22 4d 18 64 40 a7 10 00 00 00 6f 73 66 72 61 6d 65 06 00 96 50 66 72 61 6d 65 00 00 00 00 79"
            "c7 c7 2b"},
};

std::string plain() {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "sframe";
  return text;
}

std::string text_of(const Unpacked& unpacked) {
  return {reinterpret_cast<const char*>(unpacked.bytes().data()), unpacked.bytes().size()};
}

TEST(ElfUnpack, EveryFormat) {
  for (const auto& [name, digits] : formats) {
    SCOPED_TRACE(name);
    const Bytes packed = test::hex(digits);
    EXPECT_TRUE(is_packed(packed));
    auto whole = unpack(packed);
    if (!test::is_built_with(name)) {
      ASSERT_FALSE(whole);
      EXPECT_EQ(whole.error().what, "this build does not support " + std::string(name) + " compression");
      continue;
    }
    ASSERT_TRUE(whole) << whole.error().text();
    EXPECT_EQ(text_of(*whole), plain());
    EXPECT_FALSE(whole->damaged());
    const Unpacked moved = std::move(*whole);
    EXPECT_EQ(text_of(moved), plain());
    // Two frames are one text; what follows and is no frame is ignored.
    Bytes twice = packed;
    twice.insert(twice.end(), packed.begin(), packed.end());
    const auto both = unpack(twice);
    ASSERT_TRUE(both);
    EXPECT_EQ(text_of(*both), plain() + plain());
    Bytes more = packed;
    more.resize(more.size() + 3);
    const auto padded = unpack(more);
    ASSERT_TRUE(padded);
    EXPECT_EQ(text_of(*padded), plain());
    EXPECT_FALSE(padded->damaged());
  }
}

TEST(ElfUnpack, DamagedBytes) {
  for (const auto& [name, digits] : formats) {
    const Bytes packed = test::hex(digits);
    if (!test::is_built_with(name)) continue;
    // Cut anywhere, it ends early: what is there is part of the text.
    for (std::size_t size = 6; size < packed.size(); ++size) {
      SCOPED_TRACE(std::string(name) + ", " + std::to_string(size));
      const auto cut = unpack(std::span(packed).first(size));
      ASSERT_TRUE(cut) << cut.error().text();
      EXPECT_TRUE(cut->damaged());
      EXPECT_EQ(plain().find(text_of(*cut)), 0u);
    }
    // The checksum of the text is wrong.
    Bytes changed = packed;
    changed[name == std::string_view("gzip") ? changed.size() - 8
            : name == std::string_view("xz") ? changed.size() - 28
                                             : changed.size() - 1] ^= std::byte{1};
    const auto wrong = unpack(changed);
    ASSERT_TRUE(wrong) << name;
    EXPECT_TRUE(wrong->damaged()) << name;
  }
}

TEST(ElfUnpack, Limits) {
  for (const auto& [name, digits] : formats) {
    SCOPED_TRACE(name);
    const Bytes packed = test::hex(digits);
    if (!test::is_built_with(name)) continue;
    EXPECT_TRUE(unpack(packed, {.size = 180}));
    const auto large = unpack(packed, {.size = 179});
    ASSERT_FALSE(large);
    EXPECT_EQ(large.error().what, "decompressed data would be too large");
    // One page that is not all zeros: its 4096 bytes count, or so many times the compressed size.
    EXPECT_TRUE(unpack(packed, {.memory = 4096, .expansion = 0}));
    EXPECT_FALSE(unpack(packed, {.memory = 4095, .expansion = 0}));
    const std::uint64_t part = packed.size() * 2;
    EXPECT_TRUE(unpack(packed, {.memory = 4096 - part, .expansion = 2}));
    EXPECT_FALSE(unpack(packed, {.memory = 4095 - part, .expansion = 2}));
  }
}

TEST(ElfUnpack, WhatIsNotPacked) {
  for (const Bytes& bytes :
       {Bytes{}, test::hex("1f 8b"), test::hex("1f 8b 09 00"), test::hex("7f 45 4c 46")}) {
    EXPECT_FALSE(is_packed(bytes));
    const auto result = unpack(bytes);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().what, "unknown compression format");
  }
}

// A core of 100120 bytes, nearly all zeros, in 201 bytes: a segment at 0x1000 with one word.
TEST(ElfUnpack, CoresCostWhatTheirFileCosts) {
  const Bytes packed = test::hex(
      "1f 8b 08 00 00 00 00 00 02 03 ed cc 31 0e 82 40 10 05 d0 59 63 ac f5 0a 5e c1 c6 ca 6c 01 54 b4 "
      "5e 81 2b 40 47 67 3c 86 47 05 8a d5 80 17 a0 78 2f 99 fc 4c e6 67 c6 ba 6d 0e 29 45 71 8c 47 fc "
      "b6 88 1c ff 72 dc bf 9d 25 4f f3 0c e5 78 5e 77 3f af b4 ca b4 f9 f5 ee bb 67 75 bb 5e 02 00 00 "
      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
      "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 d8 8d "
      "09 27 39 e1 ae 18 87 01 00 ");
  if (!test::is_built_with("gzip")) GTEST_SKIP() << "built without zlib";
  ASSERT_EQ(packed.size(), 201u);
  const auto file = core::CoreFile::view(packed, Limits::standard);
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_FALSE(file->damaged());
  EXPECT_EQ(file->core().read_word(0x1008), 0x1122334455667788u);
  EXPECT_EQ(file->core().read_word(0x1010), 0u);
  EXPECT_EQ(file->cost_size(), 64 * packed.size());
  for (const Limits limits : {Limits::strict, Limits::off}) {
    const auto other = core::CoreFile::view(packed, limits);
    ASSERT_TRUE(other);
    EXPECT_EQ(other->cost_size(), 64 * packed.size());
  }
  // As often as it takes more room than the first 16 MiB.
  constexpr std::size_t times = 200, whole = 100120;
  Bytes many;
  for (std::size_t i = 0; i < times; ++i) many.insert(many.end(), packed.begin(), packed.end());
  const auto unpacked = unpack(many);
  ASSERT_TRUE(unpacked);
  ASSERT_EQ(unpacked->bytes().size(), times * whole);
  const auto first = unpacked->bytes().first(whole);
  for (std::size_t i = 1; i < times; ++i)
    EXPECT_TRUE(std::ranges::equal(unpacked->bytes().subspan(i * whole, whole), first)) << i;
  // Not compressed, it costs its bytes.
  const auto plain_file =
      test::TestElf{.type = et_core, .segments = {{pt_load, pf_r, 0x1000, Bytes(16)}}}.build();
  const auto uncompressed = core::CoreFile::view(plain_file, Limits::standard);
  ASSERT_TRUE(uncompressed);
  EXPECT_EQ(uncompressed->cost_size(), plain_file.size());
}

TEST(ElfUnpack, CoresThatAreNotThere) {
  const auto core = core::CoreFile::open("no-such.core", Limits::standard);
  ASSERT_FALSE(core);
  const auto file = File::open("no-such.core");
  ASSERT_FALSE(file);
  EXPECT_EQ(core.error().text(), file.error().text());
}

} // namespace elf_unpack_test
} // namespace sframe::elf
