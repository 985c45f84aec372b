// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adding a section to linked files of all ABIs. Its contents are arbitrary: the tests check its position, and
// that nothing else moves.

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

/// Bytes that have the address for which they were made.
Bytes section_at(std::uint64_t address, std::size_t size) {
  Bytes bytes(size, std::byte(0x5f));
  for (unsigned i = 0; i < 8 && i < size; ++i) bytes[i] = std::byte(address >> 8 * i);
  return bytes;
}

Result<RewrittenFile> add_section(const Image& image, std::size_t size) {
  auto insertion = Insertion::plan(image);
  if (!insertion) return unexpected(insertion.error());
  const AddressBounds bounds = insertion->bounds();
  EXPECT_LE(bounds.lowest, bounds.highest);
  const auto address = insertion->choose_address(size);
  if (!address) return unexpected(address.error());
  EXPECT_TRUE(bounds.lowest <= *address && *address <= bounds.highest);
  return insertion->write(section_at(*address, size));
}

Result<Bytes> add(const Bytes& file, std::size_t size) {
  const auto image = Image::parse(file);
  if (!image) return unexpected(image.error());
  const auto linked = add_section(*image, size);
  if (!linked) return unexpected(linked.error());
  return linked->edit.apply(file);
}

struct LinkedFile {
  std::string name;
  Bytes bytes;
};

const std::vector<LinkedFile>& linked_inputs() {
  static const std::vector<LinkedFile> files = [] {
    std::vector<LinkedFile> result;
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

std::span<const std::byte> bytes_of(const Image& image, const SectionHeader& section) {
  return image.bytes().subspan(section.offset, section.size);
}

std::uint64_t number_at(const Image& image, std::span<const std::byte> bytes, std::uint64_t offset,
                        unsigned size) {
  std::uint64_t value = 0;
  for (unsigned i = 0; i < size; ++i) {
    const unsigned shift = image.byte_order() == ByteOrder::little ? i : size - 1 - i;
    value |= std::to_integer<std::uint64_t>(bytes[offset + i]) << 8 * shift;
  }
  return value;
}

std::uint64_t program_headers(const Image& image) {
  return number_at(image, image.bytes(), 32, 8);
}

bool is_symbols(const SectionHeader& section) {
  return section.type == sht_symtab || section.type == sht_dynsym;
}

/// Each symbol is in the section of the same name, as far from its start; all else is equal.
void expect_same_symbols(const Image& before, const SectionHeader& old, const Image& after,
                         const SectionHeader& now) {
  constexpr std::uint64_t entry = 24;
  ASSERT_EQ(now.size, old.size);
  for (std::uint64_t at = 0; at + entry <= old.size; at += entry) {
    const auto a = bytes_of(before, old).subspan(at, entry), b = bytes_of(after, now).subspan(at, entry);
    EXPECT_EQ(number_at(before, a, 0, 6), number_at(after, b, 0, 6));
    EXPECT_EQ(number_at(before, a, 16, 8), number_at(after, b, 16, 8));
    const std::uint64_t section = number_at(before, a, 6, 2), moved = number_at(after, b, 6, 2);
    if (section == 0 || section >= before.sections().size()) {
      EXPECT_EQ(section, moved);
      EXPECT_EQ(number_at(before, a, 8, 8), number_at(after, b, 8, 8));
      continue;
    }
    const SectionHeader &from = before.sections()[section], &to = after.sections()[moved];
    EXPECT_EQ(from.name, to.name);
    const std::uint64_t value = number_at(before, a, 8, 8);
    const bool is_inside =
        value - from.address < std::max<std::uint64_t>(from.size, 1); // linkers are generous
    EXPECT_EQ(number_at(after, b, 8, 8), is_inside ? value - from.address + to.address : value) << from.name;
  }
}

/// The entries of .dynamic are equal, but for addresses of sections that moved: those are the sections' own.
void expect_same_dynamic(const Image& before, const SectionHeader& old, const Image& after,
                         const SectionHeader& now) {
  for (std::uint64_t at = 0; at + 16 <= old.size; at += 16) {
    const std::uint64_t was = number_at(before, bytes_of(before, old), at + 8, 8);
    const std::uint64_t is = number_at(after, bytes_of(after, now), at + 8, 8);
    if (was == is) continue;
    const auto from = std::ranges::find(before.sections(), was, &SectionHeader::address);
    ASSERT_NE(from, before.sections().end());
    EXPECT_EQ(after.find_section(from->name)->address, is);
  }
}

/// All that is loaded is at its address, byte for byte, except the headers themselves, an .sframe section
/// that was there, and what made room; and that has its bytes where its headers locate them.
void expect_same_memory(const Image& before, const Image& after) {
  std::uint64_t changed = 64 + 56 * (before.segments().size() + 2);
  const SectionHeader* replaced = before.find_section(".sframe");
  std::vector<const SectionHeader*> special{replaced};
  for (const SectionHeader& old : before.sections()) {
    if (!old.allocated() || old.type == sht_nobits || &old == replaced) continue;
    const SectionHeader* now = after.find_section(old.name);
    ASSERT_TRUE(now) << old.name;
    if (old.address != now->address && now->address > old.address)
      changed = std::max(changed, old.offset + old.size);
    if (is_symbols(old) || old.name == ".dynamic") {
      special.push_back(&old);
      if (is_symbols(old))
        expect_same_symbols(before, old, after, *now);
      else
        expect_same_dynamic(before, old, after, *now);
    } else {
      EXPECT_TRUE(std::ranges::equal(bytes_of(before, old), *after.read(now->address, now->size)))
          << old.name;
      EXPECT_TRUE(std::ranges::equal(bytes_of(before, old), bytes_of(after, *now))) << old.name;
    }
  }
  for (const Segment& segment : before.segments()) {
    if (segment.type != pt_load) continue;
    const auto old = before.read(segment.address, segment.file_size);
    const auto now = after.read(segment.address, segment.file_size);
    ASSERT_TRUE(old && now);
    for (std::size_t i = 0; i < old->size(); ++i) {
      const std::uint64_t offset = segment.offset + i;
      if (offset < changed || std::ranges::any_of(special, [&](const SectionHeader* section) {
            return section && offset - section->offset < section->size;
          }))
        continue;
      ASSERT_EQ((*old)[i], (*now)[i]) << "at offset " << offset;
    }
  }
  EXPECT_EQ(before.entry(), after.entry());
  EXPECT_EQ(before.type(), after.type());
  EXPECT_TRUE(std::ranges::equal(before.build_id(), after.build_id()));
}

/// Segments that describe other things than memory have the same bytes, in the same order.
void expect_same_segments(const Image& before, const Image& after) {
  auto now = after.segments().begin();
  for (const Segment& old : before.segments()) {
    if (old.type == pt_load || old.type == pt_gnu_sframe) continue;
    now = std::find_if(now, after.segments().end(), [&](const Segment& s) { return s.type == old.type; });
    ASSERT_NE(now, after.segments().end());
    constexpr std::uint32_t pt_phdr = 6, pt_gnu_relro = 0x6474e552;
    if (old.type == pt_phdr) {
      EXPECT_EQ(now->file_size, 56 * after.segments().size());
    } else if (old.type != pt_dynamic && old.type != pt_gnu_relro && old.file_size != 0) {
      EXPECT_TRUE(std::ranges::equal(before.bytes().subspan(old.offset, old.file_size),
                                     after.bytes().subspan(now->offset, now->file_size)));
    }
    if (old.file_size != 0) {
      const auto loaded = after.read(now->address, now->file_size);
      ASSERT_TRUE(loaded);
      EXPECT_EQ(loaded->data(), after.bytes().data() + now->offset);
    }
    ++now;
  }
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
  EXPECT_TRUE(std::ranges::equal(*image.read(segment->address, size), section_at(segment->address, size)));
  if (image.sections().empty()) return;
  const SectionHeader* section = image.find_section(".sframe");
  ASSERT_TRUE(section);
  EXPECT_EQ(section->type, sht_gnu_sframe);
  EXPECT_EQ(section->flags, shf_alloc);
  EXPECT_EQ(section->align, 8u);
  EXPECT_EQ(section->address, segment->address);
  EXPECT_EQ(section->offset, segment->offset);
  EXPECT_EQ(section->size, size);
}

/// Sections that are not loaded keep contents and order, after all that are loaded; symbols are where they
/// were.
void expect_same_sections(const Image& before, const Image& after) {
  ASSERT_GE(after.sections().size(), before.sections().size());
  const auto name_of = [](const Image& image, std::uint32_t number) { return image.sections()[number].name; };
  std::uint32_t last = 0;
  for (const SectionHeader& old : before.sections()) {
    if (old.name == ".sframe" || old.name == ".shstrtab" || old.index == 0) continue;
    const SectionHeader* now = after.find_section(old.name);
    ASSERT_TRUE(now) << old.name;
    EXPECT_EQ(now->size, old.size);
    EXPECT_EQ(name_of(after, now->link), name_of(before, old.link)) << old.name;
    if (old.type == sht_rela) {
      EXPECT_EQ(name_of(after, now->info), name_of(before, old.info)) << old.name;
    } else {
      EXPECT_EQ(now->info, old.info);
    }
    if (old.allocated()) continue;
    EXPECT_GT(now->index, last);
    last = now->index;
    EXPECT_GT(now->index, after.find_section(".sframe")->index);
    EXPECT_GE(now->offset, after.find_section(".sframe")->offset);
    if (old.type == sht_symtab)
      expect_same_symbols(before, old, after, *now);
    else
      EXPECT_TRUE(std::ranges::equal(bytes_of(before, old), bytes_of(after, *now))) << old.name;
  }
}

bool equal(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::ranges::equal(a, b);
}

TEST(ElfRewrite, KeepsEverythingElse) {
  ASSERT_GT(linked_inputs().size(), 20u);
  for (const LinkedFile& file : linked_inputs())
    for (const std::size_t size : {std::size_t(28), large}) {
      SCOPED_TRACE(file.name + ", " + std::to_string(size) + " bytes");
      const auto out = add(file.bytes, size);
      ASSERT_TRUE(out) << out.error().text();
      const auto before = Image::parse(file.bytes), after = Image::parse(*out);
      ASSERT_TRUE(after);
      EXPECT_TRUE(after->problems().empty());
      expect_same_memory(*before, *after);
      expect_same_segments(*before, *after);
      expect_loadable(*after);
      expect_section(*after, size);
      expect_same_sections(*before, *after);
    }
}

TEST(ElfRewrite, IsIdempotent) {
  for (const LinkedFile& file : linked_inputs()) {
    SCOPED_TRACE(file.name);
    const auto once = add(file.bytes, large);
    ASSERT_TRUE(once);
    const auto twice = add(*once, large);
    ASSERT_TRUE(twice) << twice.error().text();
    EXPECT_TRUE(equal(*once, *twice));
  }
}

// PT_PHDR's place of the program headers is computed anew, however they got their room: a damaged one is
// right after one run.
TEST(ElfRewrite, DamagedProgramHeadersSegment) {
  constexpr std::uint32_t pt_phdr = 6;
  std::size_t damaged_files = 0;
  for (const LinkedFile& file : linked_inputs()) {
    const Image before = *Image::parse(file.bytes);
    const Segment* segment = before.find_segment(pt_phdr);
    if (!segment) continue;
    SCOPED_TRACE(file.name);
    ++damaged_files;
    Bytes damaged = file.bytes;
    const auto number = static_cast<std::size_t>(segment - before.segments().data());
    damaged[64 + 56 * number + 8 + (before.byte_order() == ByteOrder::little ? 7 : 0)] =
        std::byte(0xf6); // p_offset
    const auto once = add(damaged, large);
    ASSERT_TRUE(once) << once.error().text();
    const Image after = *Image::parse(*once);
    const Segment& now = *after.find_segment(pt_phdr);
    EXPECT_EQ(now.offset, program_headers(after));
    EXPECT_EQ(now.file_size, 56 * after.segments().size());
    EXPECT_TRUE(equal(*once, *add(*once, large)));
  }
  EXPECT_GT(damaged_files, 5u);
}

// A section of its own segment leaves no trace when another one takes its place.
TEST(ElfRewrite, OwnSegmentIsRebuilt) {
  for (const LinkedFile& file : linked_inputs()) {
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
TEST(ElfRewrite, SmallerSectionReplacesInPlace) {
  const Bytes file = test::read_file(test::inputs() / "amd64/v3-gas247.so");
  const auto before = Image::parse(file);
  const SectionHeader* old = before->find_section(".sframe");
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

/// Position-independent files of a few functions, without notes and names: .text follows the headers at once.
bool is_crowded(const LinkedFile& file) {
  const Image image = *Image::parse(file.bytes);
  const SectionHeader* text = image.find_section(".text");
  return image.type() == et_dyn && text && text->offset - image.segments().size() * 56 < 64 + 2 * 56;
}

// Program headers anywhere else are what libelf writes zeros over.
TEST(ElfRewrite, HeadersStayAtTheStart) {
  for (const LinkedFile& file : linked_inputs()) {
    if (is_crowded(file)) continue;
    SCOPED_TRACE(file.name);
    const auto out = add(file.bytes, large);
    const auto image = Image::parse(*out);
    EXPECT_EQ(program_headers(*image), 64u);
    EXPECT_FALSE(image->find_section(".moved_phdrs"));
    const Segment& first = *image->find_segment(pt_load);
    EXPECT_TRUE(first.offset == 0 && first.file_size >= 64 + 56 * image->segments().size());
  }
}

// Where they move, they are where old kernels compute them, as far from their offset as the first segment,
// and a section that is not .sframe stands after them: GNU's tools drop segments without sections.
TEST(ElfRewrite, MovedHeaders) {
  std::size_t moved = 0;
  for (const LinkedFile& file : linked_inputs()) {
    SCOPED_TRACE(file.name);
    const auto linked = add_section(*Image::parse(file.bytes), large);
    ASSERT_TRUE(linked);
    if (!linked->headers_moved) continue;
    EXPECT_TRUE(is_crowded(file));
    ++moved;
    const Bytes out = linked->edit.apply(file.bytes);
    const auto image = Image::parse(out);
    const std::uint64_t table = program_headers(*image);
    const Segment& first = *image->find_segment(pt_load);
    const auto loaded = image->read(first.address - first.offset + table, 56 * image->segments().size());
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->data(), out.data() + table);
    const SectionHeader* anchor = image->find_section(".moved_phdrs");
    ASSERT_TRUE(anchor);
    EXPECT_EQ(anchor->offset, table + 56 * image->segments().size());
    EXPECT_EQ(anchor->flags, shf_alloc);
    EXPECT_EQ(anchor->offset + anchor->size, image->find_section(".sframe")->offset);
  }
  EXPECT_GT(moved, 5u);
}

// An earlier version moved the headers of every file: they get back to the start.
TEST(ElfRewrite, MovedHeadersAreRestored) {
  const Bytes moved = test::read_file(test::inputs() / "amd64/v3-moved-phdrs");
  const auto before = Image::parse(moved);
  ASSERT_TRUE(before->find_section(".moved_phdrs"));
  ASSERT_NE(program_headers(*before), 64u);
  const auto out = add(moved, large);
  ASSERT_TRUE(out) << out.error().text();
  const auto after = Image::parse(*out);
  EXPECT_EQ(program_headers(*after), 64u);
  EXPECT_FALSE(after->find_section(".moved_phdrs"));
  expect_section(*after, large);
  expect_loadable(*after);
  EXPECT_EQ(after->segments().size(), before->segments().size());
  EXPECT_TRUE(equal(*out, *add(*out, large)));
}

void expect_refused(const Bytes& file, std::string_view why) {
  const auto out = add(file, 100);
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().text().find(why), std::string::npos) << out.error().text();
}

// The size is in the section's header and not in the segment's: the bytes after it are nothing that is
// known, so the segment is not one of ours. Size 0 is what a removed section leaves.
TEST(ElfRewrite, MovedHeadersAndADamagedSection) {
  Bytes damaged = test::read_file(test::inputs() / "amd64/v3-moved-phdrs");
  const auto image = Image::parse(damaged);
  const SectionHeader* section = image->find_section(".sframe");
  ASSERT_GT(section->size, 8u);
  const std::uint64_t size_at =
      number_at(*image, damaged, 40, 8) + 64 * section->index + 32; // e_shoff, sh_size
  ASSERT_EQ(number_at(*image, damaged, size_at, 8), section->size);
  std::memset(damaged.data() + size_at, 0, 8);
  const auto out = add(damaged, large);
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_TRUE(equal(*out, *add(*out, large)));
  EXPECT_EQ(program_headers(*Image::parse(*out)), 64u);
  damaged[size_at] = std::byte(8);
  expect_refused(damaged,
                 "the program headers were moved for an earlier .sframe, and their segment has changed "
                 "since; link again");
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
  EXPECT_GE(after->segments()[1].address, 0x15000u); // after the memory, not only the bytes
  expect_same_memory(*before, *after);
  expect_loadable(*after);
  expect_section(*after, 100);
  EXPECT_TRUE(equal(*out, *add(*out, 100)));
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
  expect_refused(none.build(), "no loadable segment");

  test::TestElf order = plain();
  order.segments.push_back({pt_load, pf_r, 0x1000, Bytes(8), 8});
  expect_refused(order.build(), "not sorted by address");

  test::TestElf high = plain();
  high.segments.front().address = 0xfffffffffffff000;
  expect_refused(high.build(), "a kernel address");

  // A kernel at low addresses, as s390x's is. Programs have .init.
  test::TestElf kernel = plain();
  kernel.sections.push_back({".init.text", sht_progbits, shf_alloc, 0x20000, Bytes(4), 0, 0, 0});
  expect_refused(kernel.build(), "this is a kernel");
  kernel.sections.back().name = ".init";
  EXPECT_TRUE(add(kernel.build(), large));

  test::TestElf two = plain();
  two.sections.push_back({".sframe", sht_progbits, shf_alloc, 0x20000, Bytes(4), 0, 0, 0});
  two.sections.push_back({".sframe", sht_progbits, shf_alloc, 0x20008, Bytes(4), 0, 0, 0});
  expect_refused(two.build(), "more than one .sframe section");

  test::TestElf strings = plain();
  strings.sections.push_back({".sframe", sht_strtab, 0, 0, Bytes(4), 0, 0, 0});
  expect_refused(strings.build(), "another type");

  // A name after the table: what is added to the table would become that name.
  Bytes nameless = test::read_file(test::inputs() / "amd64/v3-gas247-pie");
  std::uint64_t headers = 0;
  std::memcpy(&headers, nameless.data() + 40, sizeof headers); // e_shoff
  nameless[headers + 64 + 2] = std::byte(1);                   // sh_name of section 1: 64 KiB further
  expect_refused(nameless, "lies outside the section name table");

  Bytes overlap = plain().build();
  overlap[32] = std::byte(8); // e_phoff
  expect_refused(overlap, "program headers overlap the ELF header");

  // Cut in the second segment.
  test::TestElf cut = plain();
  cut.segments.push_back({pt_load, pf_r, 0x20000, Bytes(100), 0});
  Bytes file = cut.build();
  file.resize(file.size() - 50);
  expect_refused(file, "segment runs past the end of the file");
}

// Only an old section's place limits the size.
TEST(ElfRewrite, RefusesASectionLargerThanItsPlace) {
  std::size_t replaced = 0;
  for (const LinkedFile& file : linked_inputs()) {
    const auto image = Image::parse(file.bytes);
    auto insertion = Insertion::plan(*image);
    const Segment* old = image->find_segment(pt_gnu_sframe);
    if (!insertion || !old || insertion->choose_address(old->file_size) != old->address) continue;
    ++replaced;
    EXPECT_TRUE(insertion->write(Bytes(old->file_size)));
    EXPECT_FALSE(insertion->write(Bytes(old->file_size + 1)));
  }
  EXPECT_GT(replaced, 0u);
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
        for (auto changes = 1 + random() % 3; changes != 0; --changes) {
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
