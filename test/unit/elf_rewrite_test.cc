// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing a section into linked files of all ABIs. The section here is any bytes: what counts is where they
// stand and that nothing else moves.

#include "elf_builder.h"
#include "inputs.h"

#include "sframe/elf/rewrite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <ranges>

namespace sframe::elf {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t large = 70000; ///< more than any section of the inputs

/// Bytes that say for which address they were made.
class Maker {
public:
  explicit Maker(std::size_t size) : bytes_(size, std::byte(0x5f)) {}

  Result<std::span<const std::byte>> operator()(std::uint64_t address) {
    for (unsigned i = 0; i < 8 && i < bytes_.size(); ++i) bytes_[i] = std::byte(address >> 8 * i);
    return bytes_;
  }

private:
  Bytes bytes_;
};

Result<Bytes> add(const Bytes& file, std::size_t size) {
  const auto image = Image::parse(file);
  if (!image) return std::unexpected(image.error());
  const auto edit = add_section(*image, Maker(size));
  if (!edit) return std::unexpected(edit.error());
  return edit->apply(file);
}

struct Linked {
  std::string name;
  Bytes bytes;
};

const std::vector<Linked>& linked_inputs() {
  static const std::vector<Linked> files = [] {
    std::vector<Linked> result;
    for (const char* suffix : {".so", "-pie", "-static"})
      for (const auto& path : test::inputs_ending(suffix)) {
        Bytes bytes = test::read_file(path);
        const auto image = Image::parse(bytes);
        if (image && !image->relocatable() && image->find_segment(pt_load))
          result.push_back({path.string(), std::move(bytes)});
      }
    return result;
  }();
  return files;
}

/// All that is loaded is at its address, byte for byte, except the headers themselves and an .sframe section
/// that was there.
void expect_same_memory(const Image& before, const Image& after) {
  const std::size_t headers = 64 + 56 * (before.segments().size() + 2);
  const Section* replaced = before.find_section(".sframe");
  for (const Segment& segment : before.segments()) {
    if (segment.type != pt_load) continue;
    const auto old = before.read(segment.address, segment.file_size);
    const auto now = after.read(segment.address, segment.file_size);
    ASSERT_TRUE(old && now);
    for (std::size_t i = 0; i < old->size(); ++i) {
      const std::uint64_t offset = segment.offset + i;
      if (offset < headers || (replaced && offset - replaced->offset < replaced->size)) continue;
      ASSERT_EQ((*old)[i], (*now)[i]) << "at offset " << offset;
    }
  }
  EXPECT_EQ(before.entry(), after.entry());
  EXPECT_EQ(before.type(), after.type());
  EXPECT_TRUE(std::ranges::equal(before.build_id(), after.build_id()));
}

/// What loaders demand.
void expect_loadable(const Image& image) {
  std::uint64_t end = 0;
  for (const Segment& segment : image.segments()) {
    if (segment.type != pt_load) continue;
    EXPECT_GE(segment.address, end);
    end = segment.address + segment.memory_size;
    EXPECT_LE(segment.offset + segment.file_size, image.bytes().size());
    if (segment.align > 1) {
      EXPECT_EQ(segment.address % segment.align, segment.offset % segment.align);
    }
  }
}

/// The section of `size` bytes stands at one place by section, by segment, and in one PT_LOAD.
void expect_section(const Image& image, std::size_t size) {
  const Segment* segment = image.find_segment(pt_gnu_sframe);
  ASSERT_TRUE(segment);
  EXPECT_EQ(segment->file_size, size);
  EXPECT_EQ(segment->memory_size, size);
  EXPECT_EQ(segment->flags, pf_r);
  EXPECT_EQ(segment->address % 8, 0u);
  const auto loads = std::ranges::count_if(image.segments(), [&](const Segment& load) {
    return load.type == pt_load && load.address <= segment->address &&
           segment->address + size <= load.address + load.file_size &&
           segment->address - load.address == segment->offset - load.offset;
  });
  EXPECT_EQ(loads, 1);
  Maker make(size);
  EXPECT_TRUE(std::ranges::equal(*image.read(segment->address, size), *make(segment->address)));
  if (image.sections().empty()) return;
  const Section* section = image.find_section(".sframe");
  ASSERT_TRUE(section);
  EXPECT_EQ(section->type, sht_gnu_sframe);
  EXPECT_EQ(section->flags, shf_alloc);
  EXPECT_EQ(section->align, 8u);
  EXPECT_EQ(section->address, segment->address);
  EXPECT_EQ(section->offset, segment->offset);
  EXPECT_EQ(section->size, size);
}

/// Sections keep their numbers, names and places.
void expect_same_sections(const Image& before, const Image& after) {
  ASSERT_GE(after.sections().size(), before.sections().size());
  for (const Section& old : before.sections()) {
    if (old.name == ".sframe" || old.name == ".shstrtab") continue;
    const Section& now = after.sections()[old.index];
    EXPECT_EQ(now.name, old.name);
    EXPECT_EQ(now.address, old.address);
    EXPECT_EQ(now.offset, old.offset);
    EXPECT_EQ(now.size, old.size);
    EXPECT_EQ(now.link, old.link);
  }
}

bool equal(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::ranges::equal(a, b);
}

TEST(ElfRewrite, KeepsEverythingElse) {
  ASSERT_GT(linked_inputs().size(), 20u);
  for (const Linked& file : linked_inputs())
    for (const std::size_t size : {std::size_t(28), large}) {
      SCOPED_TRACE(file.name + ", " + std::to_string(size) + " bytes");
      const auto out = add(file.bytes, size);
      ASSERT_TRUE(out) << out.error().text();
      const auto before = Image::parse(file.bytes), after = Image::parse(*out);
      ASSERT_TRUE(after);
      EXPECT_TRUE(after->problems().empty());
      expect_same_memory(*before, *after);
      expect_loadable(*after);
      expect_section(*after, size);
      expect_same_sections(*before, *after);
    }
}

TEST(ElfRewrite, TwiceIsOnce) {
  for (const Linked& file : linked_inputs()) {
    SCOPED_TRACE(file.name);
    const auto once = add(file.bytes, large);
    ASSERT_TRUE(once);
    const auto twice = add(*once, large);
    ASSERT_TRUE(twice) << twice.error().text();
    EXPECT_TRUE(equal(*once, *twice));
  }
}

// A section of its own segment leaves no trace when another one takes its place.
TEST(ElfRewrite, OwnSegmentIsRebuilt) {
  for (const Linked& file : linked_inputs()) {
    SCOPED_TRACE(file.name);
    const auto first = add(file.bytes, large);
    ASSERT_TRUE(first);
    const auto larger = add(*first, 2 * large);
    ASSERT_TRUE(larger);
    EXPECT_TRUE(equal(*larger, *add(file.bytes, 2 * large)));
    EXPECT_TRUE(equal(*add(*larger, large), *first));
  }
}

// GNU ld puts .sframe among the read-only data: a smaller one takes its place, the rest is zeros.
TEST(ElfRewrite, SmallerSectionTakesThePlace) {
  const Bytes file = test::read_file(test::inputs() / "amd64/v3-gas247.so");
  const auto before = Image::parse(file);
  const Section* old = before->find_section(".sframe");
  ASSERT_TRUE(old);
  const std::size_t size = old->size - 9;
  const auto out = add(file, size);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->size(), file.size());
  const auto after = Image::parse(*out);
  expect_section(*after, size);
  EXPECT_EQ(after->find_section(".sframe")->address, old->address);
  EXPECT_TRUE(std::ranges::all_of(std::span(*out).subspan(old->offset + size, 9),
                                  [](std::byte byte) { return byte == std::byte(0); }));
}

// The table of program headers is where old kernels compute it: as far from its offset as the first segment.
TEST(ElfRewrite, MovedTableIsFoundByOldKernels) {
  for (const Linked& file : linked_inputs()) {
    const auto out = add(file.bytes, large);
    const auto image = Image::parse(*out);
    std::uint64_t table = 0;
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned shift = image->byte_order() == ByteOrder::little ? i : 7 - i;
      table |= std::to_integer<std::uint64_t>((*out)[32 + i]) << 8 * shift;
    }
    const Segment& first = *image->find_segment(pt_load);
    const auto loaded = image->read(first.address - first.offset + table, 56 * image->segments().size());
    ASSERT_TRUE(loaded) << file.name;
    EXPECT_EQ(loaded->data(), out->data() + table) << file.name;
  }
}

// GNU's tools drop segments without sections: where the table moved, a section stands behind it that is not
// .sframe.
TEST(ElfRewrite, MovedTableHasASection) {
  bool any = false;
  for (const Linked& file : linked_inputs()) {
    SCOPED_TRACE(file.name);
    const auto out = add(file.bytes, large);
    const auto image = Image::parse(*out);
    const Segment& load = *std::ranges::find(std::views::reverse(image->segments()), pt_load, &Segment::type);
    const Section* anchor = image->find_section(".moved_phdrs");
    const std::uint64_t headers = 56 * image->segments().size();
    ASSERT_EQ(anchor != nullptr, load.file_size > large);
    if (!anchor) continue;
    any = true;
    EXPECT_EQ(anchor->offset, load.offset + headers);
    EXPECT_EQ(anchor->address, load.address + headers);
    EXPECT_EQ(anchor->flags, shf_alloc);
    EXPECT_EQ(anchor->offset + anchor->size, image->find_section(".sframe")->offset);
  }
  EXPECT_TRUE(any);
}

/// An executable with one segment, without sections.
test::TestElf plain() {
  test::TestElf elf;
  elf.type = et_exec;
  elf.segments.push_back({pt_load, pf_r | pf_x, 0x10000, Bytes(100, std::byte(0x90)), 0x5000});
  return elf;
}

TEST(ElfRewrite, WithoutSectionHeaders) {
  const Bytes file = plain().build();
  const auto out = add(file, 100);
  ASSERT_TRUE(out) << out.error().text();
  const auto before = Image::parse(file), after = Image::parse(*out);
  ASSERT_EQ(after->segments().size(), 3u);
  EXPECT_TRUE(after->sections().empty());
  EXPECT_GE(after->segments()[1].address, 0x15000u); // behind the memory, not only the bytes
  expect_same_memory(*before, *after);
  expect_loadable(*after);
  expect_section(*after, 100);
  EXPECT_TRUE(equal(*out, *add(*out, 100)));
}

void expect_refused(const Bytes& file, std::string_view why) {
  const auto out = add(file, 100);
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().text().find(why), std::string::npos) << out.error().text();
}

TEST(ElfRewrite, Refuses) {
  Bytes appended = test::read_file(test::inputs() / "amd64/v3-gas247-pie");
  appended.push_back(std::byte('P'));
  const auto grown = add(appended, large);
  ASSERT_FALSE(grown);
  EXPECT_EQ(grown.error().offset, appended.size() - 1);

  test::TestElf object;
  object.sections.push_back({".text", sht_progbits, shf_alloc, 0, Bytes(4), 0, 0, 0});
  expect_refused(object.build(), "neither an executable nor a shared object");

  test::TestElf none = plain();
  none.segments.clear();
  expect_refused(none.build(), "no program headers");
  none.segments.push_back({pt_note, pf_r, 0, Bytes(8), 0});
  expect_refused(none.build(), "no segment is loaded");

  test::TestElf order = plain();
  order.segments.push_back({pt_load, pf_r, 0x1000, Bytes(8), 8});
  expect_refused(order.build(), "order of their addresses");

  test::TestElf high = plain();
  high.segments.front().address = 0xfffffffffffff000;
  expect_refused(high.build(), "a kernel's addresses");

  // A kernel at low addresses, as s390x's is. Programs have .init.
  test::TestElf kernel = plain();
  kernel.sections.push_back({".init.text", sht_progbits, shf_alloc, 0x20000, Bytes(4), 0, 0, 0});
  expect_refused(kernel.build(), "this is a kernel");
  kernel.sections.back().name = ".init";
  EXPECT_TRUE(add(kernel.build(), large));

  test::TestElf two = plain();
  two.sections.push_back({".sframe", sht_progbits, shf_alloc, 0x20000, Bytes(4), 0, 0, 0});
  two.sections.push_back({".sframe", sht_progbits, shf_alloc, 0x20008, Bytes(4), 0, 0, 0});
  expect_refused(two.build(), "several .sframe sections");

  test::TestElf strings = plain();
  strings.sections.push_back({".sframe", sht_strtab, 0, 0, Bytes(4), 0, 0, 0});
  expect_refused(strings.build(), "of another type");

  // A name behind the table: what is added to the table would become that name.
  Bytes nameless = test::read_file(test::inputs() / "amd64/v3-gas247-pie");
  std::uint64_t headers = 0;
  std::memcpy(&headers, nameless.data() + 40, sizeof headers); // e_shoff
  nameless[headers + 64 + 2] = std::byte(1);                   // sh_name of section 1: 64 KiB further
  expect_refused(nameless, "name is not among the names");

  Bytes overlap = plain().build();
  overlap[32] = std::byte(8); // e_phoff
  expect_refused(overlap, "program headers overlap the ELF header");

  // Cut in the second segment.
  test::TestElf cut = plain();
  cut.segments.push_back({pt_load, pf_r, 0x20000, Bytes(100), 0});
  Bytes file = cut.build();
  file.resize(file.size() - 50);
  expect_refused(file, "a segment runs past the end of the file");
}

TEST(ElfRewrite, PassesOnTheMakersProblem) {
  const Bytes file = plain().build();
  const auto out = add_section(*Image::parse(file), [](std::uint64_t) { return fail("out of paper"); });
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().what, "out of paper");
}

// Any bytes in the headers: a Problem, or a file that parses; never more than input, padding and section.
TEST(ElfRewrite, DamagedHeaders) {
  std::mt19937_64 random(3);
  std::size_t written = 0;
  for (const char* name : {"amd64/v3-gas247-pie", "s390x/v3-gas247.so", "amd64/v3-gas247-static"}) {
    const Bytes original = test::read_file(test::inputs() / name);
    const Bytes converted = *add(original, large);
    for (const Bytes* file : {&original, &converted})
      for (unsigned round = 0; round < 500; ++round) {
        Bytes damaged = *file;
        const auto section_table = damaged.size() - std::min<std::size_t>(damaged.size(), 1500);
        for (unsigned changes = 1 + random() % 3; changes != 0; --changes) {
          const std::size_t at = random() % 2 ? 16 + random() % 700 : section_table + random() % 1500;
          if (at < damaged.size()) damaged[at] = std::byte(random() % 3 ? random() : 0xff);
        }
        const auto out = add(damaged, 5000);
        if (!out) continue;
        ++written;
        EXPECT_TRUE(Image::parse(*out));
        EXPECT_LT(out->size(), damaged.size() + (std::size_t(64) << 20));
      }
  }
  EXPECT_GT(written, 100u);
}

} // namespace
} // namespace sframe::elf
