// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adding a section to linked files of all ABIs. Its contents are arbitrary: the tests check its position, and
// that nothing else moves.

#include "elf_builder.h"
#include "inputs.h"

#include "sframe/bytes.h"
#include "sframe/edit/rewrite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <ranges>

namespace sframe::edit {

using namespace elf;
namespace edit_rewrite_test {

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

/// A file as linkers lay it out, by hand: the program headers, notes and tables of the dynamic linker at once
/// after them, code; on the next page .dynamic; then what is not loaded.
struct MadeUp {
  ByteOrder order = ByteOrder::little;
  std::uint16_t type = et_dyn;
  std::size_t strings = 64; ///< bytes of .dynstr: where they end, .text begins, which cannot move
  bool dynamic = true;
  std::size_t gap = 0; ///< zeros after the program headers
  std::uint16_t machine() const { return order == ByteOrder::little ? 62 : 22; }
  Bytes build() const;
};

Bytes MadeUp::build() const {
  constexpr std::uint32_t pt_interp = 3, pt_phdr = 6, pt_gnu_stack = 0x6474e551, sht_gnu_hash = 0x6ffffff6;
  constexpr std::uint64_t page = 0x1000;
  const std::uint64_t base = type == et_exec ? 0x400000 : 0;
  struct Part {
    std::string_view name;
    std::uint32_t type;
    std::uint64_t flags, align;
    Bytes bytes;
    std::uint32_t link = 0, info = 0;
    std::uint64_t entry = 0, offset = 0, address = 0;
  };
  std::vector<Part> parts = {{"", sht_null, 0, 0, {}}};
  const auto add = [&](Part part) {
    parts.push_back(std::move(part));
    return static_cast<std::uint32_t>(parts.size() - 1);
  };
  const auto filled = [](std::size_t size, int with) { return Bytes(size, static_cast<std::byte>(with)); };
  const std::uint32_t interpreter =
      add({".interp", sht_progbits, shf_alloc, 1, test::Writer().text("/lib64/ld-linux.so.2", 28).bytes});
  const std::uint32_t note =
      add({".note.gnu.build-id", sht_note, shf_alloc, 4, test::note("GNU", 3, filled(20, 0xb1), order)});
  std::uint32_t hash = 0, symbols = 0, strings_at = 0;
  if (dynamic) {
    hash = add({".gnu.hash", sht_gnu_hash, shf_alloc, 8, filled(28, 0x11)});
    symbols = add({".dynsym", sht_dynsym, shf_alloc, 8, {}, 0, 1, 24});
    strings_at =
        add({".dynstr", sht_strtab, shf_alloc, 1, test::Writer().text(std::string("\0f", 2), strings).bytes});
    parts[hash].link = symbols;
    parts[symbols].link = strings_at;
  }
  const std::uint32_t text = add({".text", sht_progbits, shf_alloc | shf_execinstr, 16, filled(64, 0x90)});
  const std::uint32_t code_end = text + 1;
  if (dynamic) add({".dynamic", 6, shf_alloc | shf_write, 8, {}, strings_at, 0, 16});
  const std::uint32_t data = add({".data", sht_progbits, shf_alloc | shf_write, 8, filled(24, 0xda)});
  const std::uint32_t loaded_end = data + 1;
  add({".comment", sht_progbits, 0, 1, filled(48, 'c')});
  const std::uint32_t names = add({".shstrtab", sht_strtab, 0, 1, {}});
  const std::uint32_t all_symbols = add({".symtab", sht_symtab, 0, 8, {}, names + 2, 3, 24});
  add({".strtab", sht_strtab, 0, 1, test::Writer().text(std::string("\0f\0g", 5)).bytes});

  const std::uint32_t count = dynamic ? 7 : 6; // program headers
  std::string name_table(1, '\0');
  std::vector<std::uint32_t> name_at(parts.size());
  for (std::uint32_t i = 1; i < parts.size(); ++i) {
    name_at[i] = static_cast<std::uint32_t>(name_table.size());
    name_table += std::string(parts[i].name) + '\0';
  }
  parts[names].bytes = test::Writer().text(name_table).bytes;
  // Sizes first: places depend on them, and contents on the places.
  if (dynamic) {
    parts[symbols].bytes.resize(48);
    parts[text + 1].bytes.resize(6 * 16);
  }
  parts[all_symbols].bytes.resize(4 * 24);
  std::uint64_t end = 64 + 56 * count + gap;
  for (std::uint32_t i = 1; i < parts.size(); ++i) {
    Part& part = parts[i];
    if (i == code_end) end = page;
    end = (end + part.align - 1) / part.align * part.align;
    part.offset = end;
    if (i < loaded_end) part.address = base + end + (i < code_end ? 0 : page);
    end += part.bytes.size();
  }
  const auto symbol = [&](std::uint32_t name, unsigned info, std::uint32_t section, std::uint64_t offset) {
    return test::symbol(name, info, static_cast<std::uint16_t>(section), parts[section].address + offset, 4,
                        order);
  };
  const Bytes none = test::symbol(0, 0, 0, 0, 0, order);
  const auto join = [](std::initializer_list<Bytes> pieces) {
    test::Writer all;
    for (const Bytes& piece : pieces) all.append(piece);
    return all.bytes;
  };
  if (dynamic) {
    parts[symbols].bytes = join({none, symbol(1, 0x12, text, 4)});
    test::Writer entries(order);
    entries.u64(0x6ffffef5).u64(parts[hash].address);      // DT_GNU_HASH
    entries.u64(5).u64(parts[strings_at].address);         // DT_STRTAB
    entries.u64(6).u64(parts[symbols].address);            // DT_SYMTAB
    entries.u64(10).u64(strings).u64(21).u64(0).zeros(16); // DT_STRSZ, DT_DEBUG, DT_NULL
    parts[text + 1].bytes = entries.bytes;
  }
  parts[all_symbols].bytes = join(
      {none, symbol(0, 3, note, 0), symbol(0, 3, dynamic ? symbols : data, 0), symbol(1, 0x12, text, 4)});

  test::Writer file(order);
  file.text("\x7f"
            "ELF");
  file.number(2, 1).number(order == ByteOrder::little ? 1 : 2, 1).number(1, 1).zeros(9);
  file.u16(type).u16(machine()).u32(1).u64(base + parts[text].offset).u64(64).u64((end + 7) / 8 * 8);
  file.u32(0).u16(64).u16(56).u16(count).u16(64).u16(parts.size()).u16(names);
  const auto segment = [&](std::uint32_t type, std::uint32_t flags, std::uint64_t offset,
                           std::uint64_t address, std::uint64_t size, std::uint64_t align) {
    file.u32(type).u32(flags).u64(offset).u64(address).u64(address).u64(size).u64(size).u64(align);
  };
  const auto segment_of = [&](std::uint32_t type, std::uint32_t flags, const Part& part) {
    segment(type, flags, part.offset, part.address, part.bytes.size(), part.align);
  };
  const Part &last_code = parts[code_end - 1], &last_data = parts[loaded_end - 1];
  segment(pt_phdr, pf_r, 64, base + 64, 56 * count, 8);
  segment_of(pt_interp, pf_r, parts[interpreter]);
  segment(pt_load, pf_r | pf_x, 0, base, last_code.offset + last_code.bytes.size(), page);
  segment(pt_load, pf_r | pf_w, page, base + 2 * page, last_data.offset + last_data.bytes.size() - page,
          page);
  if (dynamic) segment_of(pt_dynamic, pf_r | pf_w, parts[text + 1]);
  segment_of(pt_note, pf_r, parts[note]);
  segment(pt_gnu_stack, pf_r | pf_w, 0, 0, 0, 16);
  for (const Part& part : parts) {
    file.zeros(std::max(part.offset, file.bytes.size()) - file.bytes.size());
    file.append(part.bytes);
  }
  file.align(8);
  for (std::uint32_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    file.u32(name_at[i]).u32(part.type).u64(part.flags).u64(part.address).u64(part.offset);
    file.u64(part.bytes.size()).u32(part.link).u32(part.info).u64(part.align).u64(part.entry);
  }
  return file.bytes;
}

const std::vector<LinkedFile>& linked_inputs() {
  static const std::vector<LinkedFile> files = [] {
    std::vector<LinkedFile> result;
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
      for (const std::uint16_t type : {et_dyn, et_exec})
        for (const std::size_t strings : {16, 64})
          for (const bool dynamic : {true, false}) {
            const std::string name = std::string("made up, ") +
                                     (order == ByteOrder::little ? "amd64" : "s390x") +
                                     (type == et_dyn ? ", shared, " : ", executable, ") +
                                     (dynamic ? std::to_string(strings) : "not") + " dynamic";
            result.push_back({name, MadeUp{order, type, strings, dynamic}.build()});
          }
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
      EXPECT_EQ(now->memory_size, now->file_size);
    } else if (old.type != pt_dynamic && old.type != pt_gnu_relro && old.file_size != 0) {
      EXPECT_TRUE(std::ranges::equal(before.bytes().subspan(old.offset, old.file_size),
                                     after.bytes().subspan(now->offset, now->file_size)));
    }
    if (old.offset == 0 && old.file_size == 0) { // PT_GNU_STACK
      EXPECT_EQ(now->offset, 0u);
      EXPECT_EQ(now->address, old.address);
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

/// p_paddr of a segment.
std::uint64_t physical_address(const Image& image, std::size_t number) {
  return number_at(image, image.bytes(), program_headers(image) + 56 * number + 24, 8);
}

/// Linkers set both addresses of a segment to the same: so they stay.
void expect_physical_addresses(const Image& before, const Image& after) {
  const auto is_same = [](const Image& image) {
    for (std::size_t i = 0; i < image.segments().size(); ++i)
      if (physical_address(image, i) != image.segments()[i].address) return false;
    return true;
  };
  EXPECT_TRUE(!is_same(before) || is_same(after));
}

/// The section headers are the end of the file, as near to the section names as their alignment allows. The
/// first one is zeros (gABI, "Section Header Table Entry: Index 0").
void expect_section_headers(const Image& image) {
  const SectionHeader* names = image.find_section(".shstrtab");
  ASSERT_TRUE(names);
  const std::uint64_t headers = number_at(image, image.bytes(), 40, 8); // e_shoff
  EXPECT_EQ(headers, (names->offset + names->size + 7) / 8 * 8);
  EXPECT_EQ(headers + 64 * image.sections().size(), image.bytes().size());
  EXPECT_EQ(names->index + 1, image.sections().size());
  EXPECT_TRUE(std::ranges::all_of(image.bytes().subspan(headers, 64),
                                  [](std::byte byte) { return byte == std::byte(0); }));
}

/// The section of `size` bytes stands at one place by section, by segment, and in one PT_LOAD.
void expect_section(const Image& image, std::size_t size) {
  const Segment* segment = image.find_segment(pt_gnu_sframe);
  ASSERT_TRUE(segment);
  EXPECT_EQ(segment->file_size, size);
  EXPECT_EQ(segment->memory_size, size);
  EXPECT_EQ(segment->flags, pf_r);
  EXPECT_EQ(segment->address % 8, 0u);
  EXPECT_EQ(segment->align, 8u);
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
      expect_physical_addresses(*before, *after);
      expect_section_headers(*after);
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

/// The program header of that number, at the usual place.
std::span<std::byte> program_header(Bytes& file, std::size_t number) {
  return std::span(file).subspan(64 + 56 * number, 56);
}

void expect_idempotent(const Bytes& file) {
  for (const std::size_t size : {std::size_t(28), large}) {
    const auto once = add(file, size);
    ASSERT_TRUE(once) << once.error().text();
    expect_section(*Image::parse(*once), size);
    const auto twice = add(*once, size);
    ASSERT_TRUE(twice) << twice.error().text();
    EXPECT_TRUE(equal(*once, *twice)) << size << " bytes";
  }
}

// PT_GNU_SFRAME is replaced, so where a damaged one was (here over the program headers) makes no difference
// to the room that they find.
TEST(ElfRewrite, SframeSegmentOverTheHeaders) {
  std::size_t damaged_files = 0;
  for (const LinkedFile& file : linked_inputs()) {
    const Image before = *Image::parse(file.bytes);
    const Segment* headers = before.find_segment(6); // PT_PHDR
    const Segment* dynamic = before.find_segment(pt_dynamic);
    if (!headers || headers->offset != 64 || !dynamic || before.find_segment(pt_gnu_sframe)) continue;
    SCOPED_TRACE(file.name);
    ++damaged_files;
    Bytes damaged = file.bytes;
    store<std::uint32_t>(
        program_header(damaged, static_cast<std::size_t>(headers - before.segments().data())).data(),
        pt_gnu_sframe, before.byte_order());
    // No table is a dynamic one, so none can move.
    std::ranges::fill(std::span(damaged).subspan(dynamic->offset, dynamic->file_size), std::byte('p'));
    expect_idempotent(damaged);
  }
  EXPECT_GT(damaged_files, 5u);
}

// Bytes after the program headers that look like another one (PT_NULL) are none, also after the headers have
// moved: a second run would find room in their place.
TEST(ElfRewrite, BytesLikeAProgramHeader) {
  std::size_t damaged_files = 0;
  for (const LinkedFile& file : linked_inputs()) {
    const Image before = *Image::parse(file.bytes);
    const std::size_t count = before.segments().size();
    const auto can_go = [](const Segment& segment) {
      return segment.type > 7 || segment.type == pt_note; // after PT_TLS: nothing that is loaded
    };
    if (before.sections().empty() || program_headers(before) != 64 || count < 6) continue;
    if (!std::ranges::all_of(before.segments().last(3), can_go)) continue;
    if (const Segment* old = before.find_segment(pt_gnu_sframe); old && old < &before.segments()[count - 3])
      continue;
    SCOPED_TRACE(file.name);
    ++damaged_files;
    Bytes damaged = file.bytes;
    for (const std::size_t back : {3u, 2u, 1u})
      std::ranges::fill(program_header(damaged, count - back), std::byte(0));
    const ByteOrder order = before.byte_order();
    store<std::uint32_t>(program_header(damaged, count - 3).data(), pt_gnu_sframe, order);
    store<std::uint32_t>(program_header(damaged, count - 1).data() + 4, 0x55555555, order);  // p_flags
    store<std::uint16_t>(damaged.data() + 56, static_cast<std::uint16_t>(count - 1), order); // e_phnum
    expect_idempotent(damaged);
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

// Programs cannot use the addresses below 0x10000 (vm.mmap_min_addr), so no page goes there.
TEST(ElfRewrite, NoPageBelowTheLowestAddress) {
  Bytes file = test::read_file(test::inputs() / "amd64/v3-gas247-static");
  const Image before = *Image::parse(file);
  ASSERT_TRUE(Image::parse(*add(file, large))->find_section(".linker_headers")) << "there is room for a page";
  const auto first = static_cast<std::uint64_t>(before.find_segment(pt_load) - before.segments().data());
  for (const auto& [address, has_room] : {std::pair{0x10000u, false}, {0x10008u, false}, {0x11000u, true}}) {
    for (unsigned byte = 0; byte < 8; ++byte)
      file[program_headers(before) + 56 * first + 16 + byte] = std::byte(std::uint64_t{address} >> 8 * byte);
    const auto out = add(file, large);
    ASSERT_TRUE(out) << out.error().text();
    const Image after = *Image::parse(*out);
    EXPECT_EQ(after.find_section(".linker_headers") != nullptr, has_room) << address;
    if (address == 0x10000) { // the headers move, and are as far from the file's start as in memory
      const std::uint64_t table = program_headers(after);
      EXPECT_NE(table, 64u);
      const auto loaded = after.read(address + table, 56 * after.segments().size());
      ASSERT_TRUE(loaded);
      EXPECT_EQ(loaded->data(), after.bytes().data() + table);
    }
    for (const Segment& segment : after.segments())
      if (segment.type == pt_load) {
        EXPECT_GE(segment.address, 0x10000u);
      }
  }
}

// Only notes and tables that all readers find by headers make room; one that differs from those in anything
// stays where it is.
TEST(ElfRewrite, NotesThatCannotMove) {
  struct Change {
    const char* what;
    unsigned at, size; ///< in the section header
    std::uint64_t value;
  };
  const Change changes[] = {{"alignment of 24", 48, 8, 24},
                            {"alignment of 64 KiB", 48, 8, 0x10000},
                            {"no note", 4, 4, sht_progbits},
                            {"writable", 8, 8, shf_alloc | shf_write},
                            {"executable", 8, 8, shf_alloc | shf_execinstr},
                            {"thread-local", 8, 8, shf_alloc | 0x400}};
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
    for (const Change& change : changes) {
      SCOPED_TRACE(change.what);
      Bytes file = MadeUp{.order = order}.build();
      const Image before = *Image::parse(file);
      const SectionHeader& old = *before.find_section(".note.gnu.build-id");
      EXPECT_NE(Image::parse(*add(file, large))->find_section(old.name)->address, old.address);
      const std::uint64_t at = number_at(before, file, 40, 8) + 64 * old.index + change.at; // e_shoff
      for (unsigned i = 0; i < change.size; ++i)
        file[at + i] = std::byte(change.value >> 8 * (order == ByteOrder::little ? i : change.size - 1 - i));
      const auto out = add(file, large);
      ASSERT_TRUE(out) << out.error().text();
      const Image after = *Image::parse(*out);
      EXPECT_EQ(after.find_section(old.name)->address, old.address);
      EXPECT_TRUE(std::ranges::equal(*after.read(old.address, old.size), bytes_of(before, old)));
      expect_loadable(after);
      expect_section(after, large);
    }
}

/// Fields of a section header.
enum class Field : std::uint8_t { type = 4, flags = 8, address = 16, offset = 24, size = 32 };

void set_field(Bytes& file, std::string_view section, Field field, std::uint64_t value) {
  const Image image = *Image::parse(file);
  const unsigned width = field == Field::type ? 4 : 8;
  const std::uint64_t at = number_at(image, file, 40, 8) +
                           64 * image.find_section(section)->index + // e_shoff
                           static_cast<std::uint64_t>(field);
  for (unsigned i = 0; i < width; ++i)
    file[at + i] = std::byte(value >> 8 * (image.byte_order() == ByteOrder::little ? i : width - 1 - i));
}

/// Sets fields of a file's program header of the given type.
class SegmentChange {
public:
  SegmentChange(Bytes& file, std::uint32_t type) : file_(file) {
    const Image image = *Image::parse(file);
    order_ = image.byte_order();
    const auto number = static_cast<std::size_t>(image.find_segment(type) - image.segments().data());
    at_ = program_headers(image) + 56 * number;
  }
  SegmentChange& type(std::uint32_t value) {
    store<std::uint32_t>(file_.data() + at_, value, order_);
    return *this;
  }
  SegmentChange& offset(std::uint64_t value) { return set(8, value); }
  SegmentChange& address(std::uint64_t value) { return set(16, value); }
  SegmentChange& size(std::uint64_t value) { return set(32, value).set(40, value); }
  SegmentChange& align(std::uint64_t value) { return set(48, value); }

private:
  SegmentChange& set(std::size_t field, std::uint64_t value) {
    store<std::uint64_t>(file_.data() + at_ + field, value, order_);
    return *this;
  }
  Bytes& file_;
  ByteOrder order_ = ByteOrder::little;
  std::uint64_t at_ = 0;
};

constexpr std::uint32_t pt_gnu_stack = 0x6474e551, pt_unknown = 0x60000123;

/// A table of .dynamic's that moved: what made room.
bool has_moved_table(const Image& before, const Image& after) {
  return std::ranges::any_of(before.sections(), [&](const SectionHeader& old) {
    const SectionHeader* now = after.find_section(old.name);
    return old.allocated() && old.type != sht_note && old.name != ".sframe" && old.name != ".interp" && now &&
           now->address != old.address;
  });
}

bool note_moves(const Bytes& file) {
  const auto out = add(file, large);
  EXPECT_TRUE(out) << out.error().text();
  if (!out) return false;
  const Image before = *Image::parse(file), after = *Image::parse(*out);
  expect_loadable(after);
  expect_section(after, large);
  return after.find_section(".note.gnu.build-id")->address !=
         before.find_section(".note.gnu.build-id")->address;
}

// The segment of a note moves with the note, or both stay.
TEST(ElfRewrite, SegmentsThatCannotMove) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const Bytes file = MadeUp{.order = order}.build();
    const SectionHeader note = *Image::parse(file)->find_section(".note.gnu.build-id");
    EXPECT_TRUE(note_moves(file));
    const auto changed = [&](auto change) {
      Bytes bytes = file;
      SegmentChange segment(bytes, pt_note);
      change(segment);
      return bytes;
    };
    EXPECT_TRUE(note_moves(changed([](SegmentChange& s) { s.align(0x1000); })));
    EXPECT_FALSE(note_moves(changed([](SegmentChange& s) { s.align(0x10000); })));
    EXPECT_FALSE(note_moves(changed([](SegmentChange& s) { s.align(24); })));
    EXPECT_FALSE(note_moves(changed([](SegmentChange& s) { s.type(pt_unknown); })));
    EXPECT_FALSE(note_moves(changed([&](SegmentChange& s) { s.address(note.address + 8); })));
  }
}

// What ends where the program headers begin is not in their way.
TEST(ElfRewrite, ASegmentInFrontOfTheHeaders) {
  for (const std::uint64_t size : {63, 64, 65}) {
    Bytes file = MadeUp{}.build();
    SegmentChange(file, pt_gnu_stack).type(pt_unknown).offset(0).address(0).size(size).align(1);
    EXPECT_EQ(note_moves(file), size <= 64) << size;
  }
}

// A segment may begin with the program headers, and not with the file.
TEST(ElfRewrite, ASegmentThatBeginsWithTheHeaders) {
  for (const auto& [order, type] :
       {std::pair{ByteOrder::little, et_dyn}, {ByteOrder::big, et_dyn}, {ByteOrder::little, et_exec}})
    for (const std::size_t strings : {16, 64}) {
      Bytes file = MadeUp{.order = order, .type = type, .strings = strings}.build();
      const Segment load = *Image::parse(file)->find_segment(pt_load);
      SegmentChange(file, pt_load).offset(64).address(load.address + 64).size(load.file_size - 64);
      const auto out = add(file, large);
      ASSERT_TRUE(out) << out.error().text();
      const Image before = *Image::parse(file), after = *Image::parse(*out);
      expect_loadable(after);
      expect_section(after, large);
      expect_same_segments(before, after);
      EXPECT_FALSE(after.find_section(".linker_headers")) << "the file's start is not loaded";
      const Segment* table = after.find_segment(6); // PT_PHDR
      ASSERT_TRUE(table);
      const auto loaded = after.read(table->address, table->file_size);
      ASSERT_TRUE(loaded);
      EXPECT_EQ(loaded->data(), after.bytes().data() + program_headers(after));
    }
}

// A first segment that ends with the program headers: there is a page for more in front of it.
TEST(ElfRewrite, ASegmentOfTheHeadersAlone) {
  for (const std::uint64_t more : {0, 8}) {
    Bytes file = MadeUp{.type = et_exec, .strings = 16, .dynamic = false}.build();
    const std::uint64_t end = 64 + 56 * Image::parse(file)->segments().size();
    SegmentChange(file, pt_load).size(end + more);
    const auto out = add(file, large);
    ASSERT_TRUE(out) << out.error().text();
    const Image after = *Image::parse(*out);
    EXPECT_TRUE(after.find_section(".linker_headers")) << more;
    EXPECT_EQ(program_headers(after), 64u);
    expect_loadable(after);
    expect_section(after, large);
  }
}

// Nor where a segment's address and offset do not differ by whole pages: the bytes would have to move by
// less.
TEST(ElfRewrite, NoPageInFrontOfOddSegments) {
  for (const std::uint64_t distance : {0, 0x200, 0x1000}) {
    Bytes file = MadeUp{.type = et_exec, .strings = 16, .dynamic = false}.build();
    const Image image = *Image::parse(file);
    const Segment& load = image.segments()[3];
    ASSERT_EQ(load.type, pt_load);
    std::byte* const header = program_header(file, 3).data();
    store<std::uint64_t>(header + 16, load.address + distance, ByteOrder::little);
    store<std::uint64_t>(header + 48, 0x200, ByteOrder::little);
    set_field(file, ".data", Field::address, image.find_section(".data")->address + distance);
    SegmentChange(file, pt_load).size(64 + 56 * image.segments().size()); // no room after the headers
    const auto out = add(file, large);
    ASSERT_TRUE(out) << out.error().text();
    const Image after = *Image::parse(*out);
    EXPECT_EQ(after.find_section(".linker_headers") == nullptr, distance == 0x200) << distance;
    expect_loadable(after);
    expect_section(after, large);
  }
}

// Nor where the program headers do not follow the ELF header.
TEST(ElfRewrite, NoPageInFrontOfOtherHeaders) {
  for (const std::uint64_t distance : {0, 8}) {
    Bytes file = MadeUp{.type = et_exec, .strings = 16, .dynamic = false, .gap = 8}.build();
    const std::size_t size = 56 * Image::parse(file)->segments().size();
    SegmentChange(file, 6).offset(64 + distance).address(0x400000 + 64 + distance); // PT_PHDR
    const Bytes table(file.begin() + 64, file.begin() + 64 + static_cast<std::ptrdiff_t>(size));
    std::ranges::copy(table, file.begin() + 64 + static_cast<std::ptrdiff_t>(distance));
    file[32] = static_cast<std::byte>(64 + distance); // e_phoff
    SegmentChange(file, pt_load).size(64 + size + 8);
    const auto out = add(file, large);
    ASSERT_TRUE(out) << out.error().text();
    const Image after = *Image::parse(*out);
    EXPECT_EQ(after.find_section(".linker_headers") == nullptr, distance != 0) << distance;
    expect_loadable(after);
    expect_section(after, large);
  }
}

// Sizes and addresses in memory whose sum does not overflow.
TEST(ElfRewrite, LargestSegments) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  const auto plan = [](std::uint64_t address, std::uint64_t memory_size) {
    test::TestElf elf;
    elf.type = et_exec;
    elf.segments.push_back({pt_load, pf_r | pf_x, address, Bytes(100, std::byte(0x90)), memory_size});
    const auto out = add(elf.build(), 100);
    return out ? std::string() : out.error().what;
  };
  EXPECT_EQ(plan(0x10000, most), "");
  EXPECT_EQ(plan(0x10000, most + 1), "segment has an invalid size in memory");
  EXPECT_EQ(plan(most, 0x1000), "");
  EXPECT_EQ(plan(most + 1, 0x1000), "segment at a kernel address: no segment can be added after it");
}

// Nor is a section in the ELF header.
TEST(ElfRewrite, ASectionInFrontOfTheHeaders) {
  for (const std::uint64_t size : {24, 32, 40}) {
    Bytes file = MadeUp{}.build();
    set_field(file, ".comment", Field::offset, 32);
    set_field(file, ".comment", Field::size, size);
    EXPECT_EQ(note_moves(file), size <= 32) << size;
  }
}

// Mapping symbols of AArch64 name no place that code refers to, nor does the symbol of crt1.o's note. The
// names are those of sh_link's table; without one, they are symbols like others.
TEST(ElfRewrite, NamesOfSymbols) {
  Bytes file = MadeUp{}.build();
  const Image before = *Image::parse(file);
  const SectionHeader &symbols = *before.find_section(".symtab"), &strings = *before.find_section(".comment");
  const std::string names("\0__abi_tag\0$d\0$x\0$y\0_abi_tag\0$x.5\0", 34);
  std::ranges::copy(test::Writer().text(names).bytes,
                    file.begin() + static_cast<std::ptrdiff_t>(strings.offset));
  const std::uint64_t link_at = number_at(before, file, 40, 8) + 64 * symbols.index + 40;
  file[symbols.offset + 24 + 4] = std::byte(0); // a local symbol, no section's: the note's place
  const auto moves = [&](std::string_view name, std::size_t link) {
    file[symbols.offset + 24] =
        static_cast<std::byte>(names.find('\0' + std::string(name) + '\0') + 1); // st_name
    store<std::uint32_t>(file.data() + link_at, static_cast<std::uint32_t>(link), ByteOrder::little);
    return note_moves(file);
  };
  for (const char* name : {"__abi_tag", "$d", "$x", "$x.5"}) EXPECT_TRUE(moves(name, strings.index)) << name;
  for (const char* name : {"$y", "_abi_tag"}) EXPECT_FALSE(moves(name, strings.index)) << name;
  for (const std::size_t more : {0, 1}) EXPECT_FALSE(moves("$d", before.sections().size() + more));
}

// Tables to which .dynamic has exactly one entry can move: no other entry points into them.
TEST(ElfRewrite, EntriesOfTablesThatMove) {
  constexpr std::uint64_t gnu_hash_tag = 0x6ffffef5, init_tag = 12, debug_tag = 21, strsz_tag = 10;
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const Bytes file = MadeUp{.order = order}.build();
    const Image before = *Image::parse(file);
    const SectionHeader &dynamic = *before.find_section(".dynamic"),
                        &hash = *before.find_section(".gnu.hash");
    const auto moves = [&](std::uint64_t tag, std::uint64_t value) {
      Bytes changed = file;
      store<std::uint64_t>(changed.data() + dynamic.offset + 4 * 16, tag, order); // was DT_DEBUG
      store<std::uint64_t>(changed.data() + dynamic.offset + 4 * 16 + 8, value, order);
      const auto out = add(changed, large);
      EXPECT_TRUE(out);
      return out && has_moved_table(before, *Image::parse(*out));
    };
    EXPECT_TRUE(moves(debug_tag, 0));
    EXPECT_FALSE(moves(gnu_hash_tag, hash.address));
    EXPECT_FALSE(moves(gnu_hash_tag, hash.address + 8));
    EXPECT_FALSE(moves(init_tag, hash.address));
    EXPECT_FALSE(moves(init_tag, hash.address + hash.size - 1));
    EXPECT_TRUE(moves(init_tag, hash.address - 1));
    EXPECT_TRUE(moves(strsz_tag, hash.address)) << "no address";
  }
}

// patchelf writes X or Z over what it moves away. Anything else may be data: the headers leave it where it
// is.
TEST(ElfRewrite, PaddingOfTools) {
  constexpr std::size_t gap = 112;
  for (const char byte : {'\0', 'X', 'Z', 'Y', '\1'})
    for (const std::size_t size : {gap, std::size_t{1}}) {
      Bytes file = MadeUp{.gap = gap}.build();
      const std::size_t end = 64 + 56 * Image::parse(file)->segments().size() + gap;
      std::ranges::fill(std::span(file).subspan(end - size, size), static_cast<std::byte>(byte));
      const auto out = add(file, large);
      ASSERT_TRUE(out) << out.error().text();
      EXPECT_EQ(program_headers(*Image::parse(*out)) == 64, byte == '\0' || byte == 'X' || byte == 'Z')
          << byte;
    }
}

// What is not loaded and begins in the loaded part stays; what begins at its end moves after the section.
TEST(ElfRewrite, UnloadedBytesInTheLoadedPart) {
  for (const std::uint64_t inside : {0, 1, 2}) {
    Bytes file = MadeUp{}.build();
    const SectionHeader data = *Image::parse(file)->find_section(".data");
    const std::uint64_t offset = data.offset + data.size - inside;
    set_field(file, ".comment", Field::offset, offset);
    const auto out = add(file, large);
    ASSERT_TRUE(out) << out.error().text();
    const Image before = *Image::parse(file), after = *Image::parse(*out);
    const SectionHeader& now = *after.find_section(".comment");
    EXPECT_TRUE(std::ranges::equal(bytes_of(before, *before.find_section(".comment")), bytes_of(after, now)));
    EXPECT_EQ(now.offset == offset, inside != 0) << inside;
    expect_same_memory(before, after);
    expect_section(after, large);
  }
}

// A section may be shorter than the segment over it. One without bytes cannot be moved: what it marks is not
// known.
TEST(ElfRewrite, ShortSectionsNextToTheHeaders) {
  for (const std::uint64_t size : {0, 1, 2}) {
    Bytes file = MadeUp{}.build();
    set_field(file, ".interp", Field::size, size);
    EXPECT_EQ(note_moves(file), size != 0) << size;
  }
}

// Symbols of the section after the moved headers go to .sframe when the headers move back or on.
TEST(ElfRewrite, SymbolsOfTheMovedHeaders) {
  std::size_t tried = 0;
  for (const LinkedFile& file : linked_inputs()) {
    const auto linked = add_section(*Image::parse(file.bytes), large);
    ASSERT_TRUE(linked);
    if (!linked->headers_moved) continue;
    Bytes moved = linked->edit.apply(file.bytes);
    const Image before = *Image::parse(moved);
    const SectionHeader* symbols = before.find_section(".symtab");
    const SectionHeader* anchor = before.find_section(".moved_phdrs");
    if (!symbols || symbols->size < 48) continue;
    SCOPED_TRACE(file.name);
    ++tried;
    store<std::uint16_t>(moved.data() + symbols->offset + 24 + 6, static_cast<std::uint16_t>(anchor->index),
                         before.byte_order());
    const auto out = add(moved, 2 * large);
    ASSERT_TRUE(out) << out.error().text();
    const Image after = *Image::parse(*out);
    const std::uint64_t number = number_at(after, bytes_of(after, *after.find_section(".symtab")), 24 + 6, 2);
    ASSERT_LT(number, after.sections().size());
    EXPECT_EQ(after.sections()[number].name, ".sframe");
  }
  EXPECT_GT(tried, 2u);
}

// An old section in the ELF header is no place to clear.
TEST(ElfRewrite, AnOldSectionInTheHeader) {
  for (const std::uint64_t size : {1, 64}) {
    Bytes file = test::read_file(test::inputs() / "amd64/v3-gas247.so");
    set_field(file, ".sframe", Field::offset, 0);
    set_field(file, ".sframe", Field::address, 0);
    set_field(file, ".sframe", Field::size, size);
    const auto out = add(file, large);
    ASSERT_TRUE(out) << out.error().text();
    expect_section(*Image::parse(*out), large);
  }
}

// Alignment that offsets have is kept only if addresses differ from them by whole pages.
TEST(ElfRewrite, AddressesThatAreNoWholePagesAway) {
  constexpr std::uint64_t distance = 0x200;
  Bytes file = MadeUp{}.build();
  const Image image = *Image::parse(file);
  for (const SectionHeader& section : image.sections())
    if (section.allocated() && section.offset < 0x1000)
      set_field(file, section.name, Field::address, section.address + distance);
  for (std::size_t i = 0; i < image.segments().size(); ++i) {
    const Segment& segment = image.segments()[i];
    if (segment.offset >= 0x1000 || segment.file_size == 0) continue;
    store<std::uint64_t>(program_header(file, i).data() + 16, segment.address + distance, ByteOrder::little);
    if (segment.type == pt_load)
      store<std::uint64_t>(program_header(file, i).data() + 48, distance, ByteOrder::little);
  }
  EXPECT_FALSE(note_moves(file));
}

// Bytes of .sframe that something else uses, too, stay as they are.
TEST(ElfRewrite, ASegmentOverPartOfTheOldSection) {
  const Bytes file = test::read_file(test::inputs() / "amd64/v3-gas247.so");
  const Image before = *Image::parse(file);
  const SectionHeader old = *before.find_section(".sframe");
  const std::size_t size = old.size - 9;
  for (const bool in_part : {false, true}) {
    Bytes shared = file;
    SegmentChange(shared, pt_gnu_stack)
        .type(pt_unknown)
        .offset(old.offset - 8)
        .address(old.address - 8)
        .size(in_part ? 16 : old.size + 8)
        .align(1);
    const auto out = add(shared, size);
    ASSERT_TRUE(out) << out.error().text();
    const Image after = *Image::parse(*out);
    expect_section(after, size);
    EXPECT_EQ(after.find_section(".sframe")->address == old.address, !in_part);
    if (in_part) {
      EXPECT_TRUE(std::ranges::equal(*after.read(old.address, old.size), bytes_of(before, old)));
    }
  }
}

// The segment of an earlier .sframe is not ours alone if a section reaches into it: it stays, and the new
// section gets another one.
TEST(ElfRewrite, ASectionThatReachesIntoOurSegment) {
  for (const std::uint64_t inside : {0, 16}) {
    Bytes file = *add(MadeUp{}.build(), large);
    const Segment old = *Image::parse(file)->find_segment(pt_gnu_sframe);
    const Segment load = Image::parse(file)->segments()[4];
    ASSERT_EQ(load.type, pt_load);
    ASSERT_EQ(load.address + load.file_size, old.address + old.file_size);
    const SectionHeader data = *Image::parse(file)->find_section(".data");
    set_field(file, ".data", Field::size, load.offset + inside - data.offset);
    const auto out = add(file, 2 * large);
    ASSERT_TRUE(out) << out.error().text();
    const Image before = *Image::parse(file), after = *Image::parse(*out);
    EXPECT_EQ(after.segments().size(), before.segments().size() + (inside ? 1 : 0));
    EXPECT_EQ(after.find_segment(pt_gnu_sframe)->address == old.address, inside == 0);
    expect_section(after, 2 * large);
    expect_loadable(after);
  }
}

// Nor if it holds bytes that are not loaded.
TEST(ElfRewrite, UnloadedBytesInOurSegment) {
  Bytes file = *add(MadeUp{}.build(), large);
  const Segment old = *Image::parse(file)->find_segment(pt_gnu_sframe);
  set_field(file, ".comment", Field::offset, old.offset - 16);
  set_field(file, ".comment", Field::size, 8);
  const auto out = add(file, 2 * large);
  ASSERT_TRUE(out) << out.error().text();
  const Image before = *Image::parse(file), after = *Image::parse(*out);
  EXPECT_EQ(after.segments().size(), before.segments().size() + 1);
  expect_section(after, 2 * large);
}

// Ours is read-only, and whole in the file.
TEST(ElfRewrite, OurSegmentWithOtherProperties) {
  constexpr std::size_t flags_at = 4, memory_size_at = 40;
  const Bytes once = *add(MadeUp{}.build(), large);
  const Image image = *Image::parse(once);
  const Segment& load = image.segments()[4];
  ASSERT_TRUE(load.type == pt_load && load.flags == pf_r);
  for (const std::size_t changed : {std::size_t{0}, flags_at, memory_size_at}) {
    Bytes file = once;
    std::byte* const header = program_header(file, 4).data();
    if (changed == flags_at) store<std::uint32_t>(header + flags_at, pf_r | pf_w, ByteOrder::little);
    if (changed == memory_size_at)
      store<std::uint64_t>(header + memory_size_at, load.memory_size + 8, ByteOrder::little);
    const auto out = add(file, 2 * large);
    ASSERT_TRUE(out) << out.error().text();
    const Image after = *Image::parse(*out);
    EXPECT_EQ(after.segments().size(), image.segments().size() + (changed ? 1 : 0)) << changed;
    expect_section(after, 2 * large);
    expect_loadable(after);
  }
}

// Zeros in front of .sframe in its segment are nothing that is kept.
TEST(ElfRewrite, ZerosInOurSegment) {
  std::size_t tried = 0;
  for (const std::size_t gap : {8, 64})
    for (const LinkedFile& file : linked_inputs()) {
      const Bytes once = *add(file.bytes, large);
      const Image image = *Image::parse(once);
      const Segment& old = *image.find_segment(pt_gnu_sframe);
      const auto is_alone = [&](const Segment& load) {
        return load.type == pt_load && load.offset == old.offset;
      };
      if (image.sections().empty() || std::ranges::none_of(image.segments(), is_alone)) continue;
      SCOPED_TRACE(file.name);
      ++tried;
      Bytes moved = once;
      std::ranges::fill(std::span(moved).subspan(old.offset, gap), std::byte(0));
      set_field(moved, ".sframe", Field::offset, old.offset + gap);
      set_field(moved, ".sframe", Field::address, old.address + gap);
      set_field(moved, ".sframe", Field::size, old.file_size - gap);
      SegmentChange(moved, pt_gnu_sframe)
          .offset(old.offset + gap)
          .address(old.address + gap)
          .size(old.file_size - gap);
      const auto again = add(moved, large);
      ASSERT_TRUE(again) << again.error().text();
      EXPECT_TRUE(equal(*again, once));
    }
  EXPECT_GT(tried, 4u);
}

// What is not loaded is as aligned in the file as its headers demand, up to a page: debuggers map it.
TEST(ElfRewrite, AlignmentOfWhatIsNotLoaded) {
  for (const std::uint64_t align : {8, 32, 64, 4096}) {
    Bytes file = MadeUp{}.build();
    const Image before = *Image::parse(file);
    const SectionHeader& section = *before.find_section(".comment");
    const std::uint64_t at = number_at(before, file, 40, 8) + 64 * section.index + 48; // sh_addralign
    store<std::uint64_t>(file.data() + at, align, ByteOrder::little);
    const auto out = add(file, large);
    ASSERT_TRUE(out) << out.error().text();
    const Image after = *Image::parse(*out);
    const SectionHeader& now = *after.find_section(".comment");
    EXPECT_NE(now.offset, section.offset);
    EXPECT_EQ(now.offset % align, section.offset % align) << align;
  }
}

// A section without bytes stays where it is among the others: at the end of the last one, too.
TEST(ElfRewrite, EmptySectionAtTheEnd) {
  Bytes file = MadeUp{}.build();
  const SectionHeader strings = *Image::parse(file)->find_section(".strtab");
  set_field(file, ".comment", Field::offset, strings.offset + strings.size);
  set_field(file, ".comment", Field::size, 0);
  const auto out = add(file, large);
  ASSERT_TRUE(out) << out.error().text();
  const Image after = *Image::parse(*out);
  const SectionHeader& now = *after.find_section(".strtab");
  EXPECT_NE(now.offset, strings.offset);
  EXPECT_EQ(after.find_section(".comment")->offset, now.offset + now.size);
}

// Offsets that are a page further on contradict alignments of more than a page.
TEST(ElfRewrite, LargeAlignments) {
  constexpr std::uint64_t align = 0x200000;
  std::size_t shifted = 0;
  for (const char* name : {"amd64/v3-gas247-static", "aarch64/v3-gas247-static"}) {
    SCOPED_TRACE(name);
    Bytes file = test::read_file(test::inputs() / name);
    const Image before = *Image::parse(file);
    for (std::size_t i = 0; i < before.segments().size(); ++i) {
      const Segment& segment = before.segments()[i];
      if (segment.type != pt_load || (segment.address - segment.offset) % align != 0) continue;
      for (unsigned byte = 0; byte < 8; ++byte)
        file[program_headers(before) + 56 * i + 48 + byte] = std::byte(align >> 8 * byte);
    }
    const auto out = add(file, large);
    ASSERT_TRUE(out) << out.error().text();
    const Image after = *Image::parse(*out);
    expect_loadable(after);
    expect_section(after, large);
    EXPECT_TRUE(equal(*out, *add(*out, large)));
    const SectionHeader* headers = after.find_section(".linker_headers");
    if (!headers) continue;
    ++shifted;
    for (const Segment& segment : after.segments())
      if (segment.type == pt_load) {
        EXPECT_LE(segment.align, headers->offset) << "the bytes put in front of the file";
      }
  }
  EXPECT_GT(shifted, 0u);
}

// A section that is replaced gets all fields of both headers, whatever they were.
TEST(ElfRewrite, ReplacesAllFieldsOfTheHeaders) {
  for (const char* name : {"amd64/v3-gas247.so", "s390x/v3-gas247.so"}) {
    SCOPED_TRACE(name);
    Bytes file = test::read_file(test::inputs() / name);
    const Image before = *Image::parse(file);
    const SectionHeader* old = before.find_section(".sframe");
    const auto segment =
        static_cast<std::uint64_t>(before.find_segment(pt_gnu_sframe) - before.segments().data());
    ASSERT_TRUE(old && old->size > 40);
    const std::uint64_t section_at = number_at(before, file, 40, 8) + 64 * old->index;
    const std::uint64_t segment_at = program_headers(before) + 56 * segment;
    const auto put = [&](std::uint64_t at, unsigned size, std::uint64_t value) {
      for (unsigned i = 0; i < size; ++i)
        file[at + i] = std::byte(value >> 8 * (before.byte_order() == ByteOrder::little ? i : size - 1 - i));
    };
    put(section_at + 4, 4, sht_progbits);
    put(section_at + 8, 8, shf_alloc | shf_write);
    put(section_at + 40, 4, 3);  // sh_link
    put(section_at + 44, 4, 5);  // sh_info
    put(section_at + 48, 8, 1);  // sh_addralign
    put(section_at + 56, 8, 24); // sh_entsize
    put(segment_at + 4, 4, 7);   // p_flags
    put(segment_at + 24, 8, 0x1234);
    put(segment_at + 40, 8, old->size + 8);
    put(segment_at + 48, 8, 1);
    const std::size_t size = old->size - 9;
    const auto out = add(file, size);
    ASSERT_TRUE(out) << out.error().text();
    EXPECT_EQ(out->size(), file.size());
    const Image after = *Image::parse(*out);
    expect_section(after, size);
    EXPECT_EQ(physical_address(after, segment), old->address);
    const SectionHeader* now = after.find_section(".sframe");
    EXPECT_EQ(now->index, old->index);
    EXPECT_EQ(now->address, old->address);
    EXPECT_EQ(now->link, 0u);
    EXPECT_EQ(now->info, 0u);
    EXPECT_EQ(number_at(after, *out, section_at + 56, 8), 0u);
    // Nothing else changed.
    for (std::size_t at = 0; at < out->size(); ++at)
      if (at - section_at >= 64 && at - segment_at >= 56 && at - old->offset >= old->size) {
        ASSERT_EQ((*out)[at], file[at]) << at;
      }
  }
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

/// `section`, which is not loaded, becomes a symbol table.
Bytes with_symbol_table(Bytes file, std::string_view section, std::uint64_t offset, std::uint64_t size) {
  set_field(file, section, Field::type, sht_symtab);
  set_field(file, section, Field::offset, offset);
  set_field(file, section, Field::size, size);
  return file;
}

constexpr std::string_view overlap_text = "headers, symbols or sections overlap in the file";

// All section numbers change, so symbol tables are written anew: bytes that two headers describe would get
// two contents.
TEST(ElfRewrite, SymbolTablesThatOverlap) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const Bytes file = MadeUp{.order = order}.build();
    const Image image = *Image::parse(file);
    const SectionHeader& symbols = *image.find_section(".symtab");
    for (const std::uint64_t offset :
         {symbols.offset, symbols.offset + 24, symbols.offset + symbols.size - 1})
      expect_refused(with_symbol_table(file, ".comment", offset, 48), overlap_text);
    // In front of the other one, and after it, in the names: no byte is in both.
    for (const std::uint64_t offset : {symbols.offset - 24, symbols.offset + symbols.size}) {
      const auto out = add(with_symbol_table(file, ".comment", offset, 24), large);
      EXPECT_TRUE(out) << out.error().text();
    }
    // Over the ELF header, which is written anew, too. (The program headers would move away.)
    for (const std::uint64_t offset : {0, 40})
      expect_refused(with_symbol_table(file, ".symtab", offset, 24), overlap_text);
    // Tables that have more bytes than the file overlap in any case.
    Bytes large_tables = with_symbol_table(file, ".comment", 0, file.size());
    set_field(large_tables, ".symtab", Field::offset, 0);
    set_field(large_tables, ".symtab", Field::size, file.size());
    expect_refused(large_tables, "symbol tables overlap");
  }
}

// The entries of tables that move change in .dynamic.
TEST(ElfRewrite, SymbolsOverTheDynamicSection) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const Bytes file = MadeUp{.order = order}.build();
    const Image before = *Image::parse(file);
    const SectionHeader& dynamic = *before.find_section(".dynamic");
    EXPECT_TRUE(has_moved_table(before, *Image::parse(*add(file, large))));
    expect_refused(with_symbol_table(file, ".comment", dynamic.offset, dynamic.size), overlap_text);
  }
}

// The ways to get room for two more program headers, from the most to the least compatible with tools: zeros;
// what is next to them moves, but notes and the interpreter only where no page can go before the file.
TEST(ElfRewrite, RoomForTheHeaders) {
  const auto note_moves = [](const MadeUp& made_up) {
    const Bytes file = made_up.build();
    const Bytes out = *add(file, large);
    const Image before = *Image::parse(file), after = *Image::parse(out);
    EXPECT_EQ(program_headers(after), 64u);
    const bool has_page = after.find_section(".linker_headers") != nullptr;
    EXPECT_EQ(has_page, made_up.type == et_exec && made_up.strings == 16 && made_up.gap < 112);
    return after.find_section(".note.gnu.build-id")->address !=
           before.find_section(".note.gnu.build-id")->address;
  };
  for (const std::uint16_t type : {et_dyn, et_exec})
    for (const std::size_t strings : {16, 64}) {
      EXPECT_TRUE(note_moves({.type = type, .strings = strings}));
      EXPECT_FALSE(note_moves({.type = type, .strings = strings, .gap = 112}));
    }
  // Without section headers, zeros may be anything.
  Bytes bare = MadeUp{.gap = 112}.build();
  const SectionHeader data = *Image::parse(bare)->find_section(".data");
  bare.resize(data.offset + data.size);
  for (const std::size_t at : {40, 41, 42, 43, 60, 61, 62, 63}) bare[at] = std::byte(0); // e_shoff, e_shnum
  const auto out = add(bare, large);
  ASSERT_TRUE(out) << out.error().text();
  EXPECT_NE(program_headers(*Image::parse(*out)), 64u);
}

// Code may refer to a place by its symbol: what has one stays, and its end is a place of it, too.
TEST(ElfRewrite, NotesWithASymbol) {
  const Bytes file = MadeUp{}.build();
  const Image before = *Image::parse(file);
  const SectionHeader& note = *before.find_section(".note.gnu.build-id");
  const std::uint64_t symbol = before.find_section(".symtab")->offset + 24; // the note's section symbol
  for (const std::uint64_t offset : {std::uint64_t{0}, note.size, note.size + 1}) {
    Bytes changed = file;
    changed[symbol + 4] = std::byte(1); // a local object
    for (unsigned i = 0; i < 8; ++i) changed[symbol + 8 + i] = std::byte((note.address + offset) >> 8 * i);
    const auto out = add(changed, large);
    ASSERT_TRUE(out) << out.error().text();
    const Image after = *Image::parse(*out);
    EXPECT_EQ(after.find_section(note.name)->address == note.address, offset <= note.size) << offset;
    expect_loadable(after);
  }
}

// A segment without bytes in the file may have any offset; one of a single byte has to be there.
TEST(ElfRewrite, SegmentsOfNoneAndOneByte) {
  const Bytes file = MadeUp{}.build();
  const Image image = *Image::parse(file);
  const auto number = static_cast<std::uint64_t>(image.find_segment(pt_gnu_stack) - image.segments().data());
  for (const std::size_t size : {0, 1}) {
    Bytes changed = file;
    for (unsigned i = 0; i < 8; ++i)
      changed[64 + 56 * number + 8 + i] = std::byte((file.size() + 100) >> 8 * i);
    changed[64 + 56 * number + 32] = changed[64 + 56 * number + 40] = static_cast<std::byte>(size);
    const auto out = add(changed, large);
    EXPECT_EQ(out.has_value(), size == 0);
    if (size) {
      expect_refused(changed, "segment runs past the end of the file");
    }
  }
}

// Another section of the type is not what the dynamic linker reads: the entries of tables that move are those
// of PT_DYNAMIC.
TEST(ElfRewrite, AnotherDynamicSection) {
  constexpr std::uint32_t sht_dynamic = 6;
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    Bytes file = MadeUp{.order = order}.build();
    set_field(file, ".text", Field::type, sht_dynamic); // before .dynamic
    const auto out = add(file, large);
    ASSERT_TRUE(out) << out.error().text();
    const Image before = *Image::parse(file), after = *Image::parse(*out);
    EXPECT_TRUE(has_moved_table(before, after));
    const auto entries = bytes_of(after, *after.find_section(".dynamic"));
    EXPECT_EQ(number_at(after, entries, 8, 8), after.find_section(".gnu.hash")->address);
    EXPECT_EQ(number_at(after, entries, 24, 8), after.find_section(".dynstr")->address);
    EXPECT_EQ(number_at(after, entries, 40, 8), after.find_section(".dynsym")->address);
  }
}

// Compressed symbols, and lists of section numbers, cannot be renumbered.
TEST(ElfRewrite, SectionNumbersThatCannotChange) {
  constexpr std::uint32_t group = 17;
  const Bytes file = MadeUp{}.build();
  Bytes changed = file;
  set_field(changed, ".symtab", Field::flags, shf_compressed);
  expect_refused(changed, "compressed symbol table");
  for (const std::uint32_t type : {group, sht_symtab_shndx}) {
    changed = file;
    set_field(changed, ".comment", Field::type, type);
    expect_refused(changed, "cannot renumber the sections listed in this section");
  }
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

// A file that has nothing but the two headers, 120 bytes.
TEST(ElfRewrite, HeadersAlone) {
  test::TestElf elf = plain();
  elf.segments.front().bytes.clear();
  const Bytes file = elf.build();
  ASSERT_EQ(file.size(), 120u);
  const auto out = add(file, 100);
  ASSERT_TRUE(out) << out.error().text();
  expect_loadable(*Image::parse(*out));
  expect_section(*Image::parse(*out), 100);
}

// Read-only data at the end is no segment of ours: the new section gets one of its own.
TEST(ElfRewrite, AReadOnlySegmentAtTheEnd) {
  for (const bool dynamic : {false, true}) {
    Bytes file = MadeUp{.dynamic = dynamic}.build();
    ASSERT_EQ(Image::parse(file)->segments()[3].type, pt_load);
    store<std::uint32_t>(program_header(file, 3).data() + 4, pf_r, ByteOrder::little);
    const Image before = *Image::parse(file);
    const auto out = add(file, large);
    ASSERT_TRUE(out) << out.error().text();
    const Image after = *Image::parse(*out);
    EXPECT_EQ(after.segments().size(), before.segments().size() + 2);
    expect_same_memory(before, after);
    expect_section(after, large);
  }
}

// One section is added, and section numbers from SHN_LORESERVE (0xff00) on have other meanings.
TEST(ElfRewrite, ManySectionsAndSegments) {
  for (const std::size_t count : {0xff00 - 3, 0xff00 - 2}) {
    test::TestElf many = plain();
    many.sections.resize(count - 2, {"x", sht_progbits, 0, 0, {}, 0, 0, 0});
    const Bytes file = many.build();
    ASSERT_EQ(Image::parse(file)->sections().size(), count);
    if (count == 0xff00 - 2) {
      expect_refused(file, "too many section headers");
      continue;
    }
    const auto out = add(file, large);
    ASSERT_TRUE(out) << out.error().text();
    expect_section(*Image::parse(*out), large);
  }
  // Two program headers are added, and 0xffff (PN_XNUM) has another meaning.
  for (const std::size_t count : {0xffff - 3, 0xffff - 2}) {
    test::TestElf many = plain();
    many.segments.resize(count, {pt_unknown, pf_r, 0, {}, 0});
    const Bytes file = many.build();
    if (count == 0xffff - 2) {
      expect_refused(file, "too many program headers");
      continue;
    }
    const auto out = add(file, large);
    ASSERT_TRUE(out) << out.error().text();
    EXPECT_EQ(Image::parse(*out)->segments().size(), count + 2);
    expect_section(*Image::parse(*out), large);
  }
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

  // Names that are in the ELF header, which changes.
  Bytes in_header = test::read_file(test::inputs() / "amd64/v3-gas247-pie");
  std::uint16_t names = 0;
  std::memcpy(&names, in_header.data() + 62, sizeof names);        // e_shstrndx
  std::memset(in_header.data() + headers + 64 * names + 24, 0, 8); // sh_offset
  expect_refused(in_header, "section names overlap the headers");

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

} // namespace edit_rewrite_test
} // namespace sframe::edit
