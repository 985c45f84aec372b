// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the analysis asks about an ELF file: constant data, words that the loader fills in, code, and which
// callees never return. The files are built by hand (System V ABI, AMD64 supplement: .rela.plt, .plt).

#include "sframe/code/callees.h"
#include "sframe/code/image_environment.h"

#include "elf_builder.h"
#include "sframe/base/budget.h"

#include <gtest/gtest.h>
#include <string_view>
#include <vector>

namespace code_image_test {

using namespace sframe;
using namespace sframe::test;
using code::Callees;
using code::ImageEnvironment;

constexpr std::uint64_t text = 0x1000, data = 0x3000, plt = 0x5000;
constexpr std::uint64_t alloc = 2, exec = 4;

std::vector<std::byte> counted(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = std::byte(i + 1);
  return bytes;
}

/// Relocations of a table with addends: offset, symbol, type, addend.
struct Rela {
  std::uint64_t offset;
  std::uint32_t symbol, type;
  std::uint64_t addend;
};
std::vector<std::byte> relas(const std::vector<Rela>& entries) {
  Writer writer;
  for (const Rela& one : entries) writer.u64(one.offset).u32(one.type).u32(one.symbol).u64(one.addend);
  return writer.bytes;
}

/// A stub for a function in another file: `jmp *pointer(%rip)`, as llvm-mc encodes it, and no-operations.
std::vector<std::byte> stub(std::uint64_t address, std::uint64_t pointer, std::size_t size) {
  constexpr std::size_t jump_size = 6;
  Writer writer;
  writer.text("\xff\x25").u32(static_cast<std::uint32_t>(pointer - address - jump_size));
  writer.bytes.resize(size, std::byte{0x90});
  return writer.bytes;
}

/// A shared object with 32 bytes of code, 32 of data with a pointer for each name, and stubs in front of
/// `trailer` bytes, one for each name but the empty ones, which have relocations of their own (TLSDESC).
TestElf file_with_stubs(const std::vector<std::string_view>& names, std::size_t header,
                        std::size_t stub_size = 16, std::size_t trailer = 0) {
  TestElf elf;
  elf.type = elf::et_dyn;
  Writer strings, symbols;
  strings.zeros(1);
  symbols.zeros(24);
  std::vector<Rela> entries;
  std::vector<std::byte> stubs(header, std::byte{0x90});
  for (const std::string_view name : names) {
    symbols.append(symbol(static_cast<std::uint32_t>(strings.bytes.size()), 0x12, 0, 0, 0));
    strings.text(name).zeros(1);
    const std::uint64_t pointer = data + 8 * entries.size();
    entries.push_back({pointer, static_cast<std::uint32_t>(entries.size() + 1), name.empty() ? 36u : 7u, 0});
    if (name.empty()) continue;
    const auto code = stub(plt + stubs.size(), pointer, stub_size);
    stubs.insert(stubs.end(), code.begin(), code.end());
  }
  stubs.resize(stubs.size() + trailer, std::byte{0x90});
  elf.sections = {{".text", elf::sht_progbits, alloc | exec, text, counted(32), 0, 0, 0},
                  {".dynstr", elf::sht_strtab, alloc, 0x7000, strings.bytes, 0, 0, 0},
                  {".dynsym", elf::sht_dynsym, alloc, 0x8000, symbols.bytes, 2, 1, 24},
                  {".rela.plt", elf::sht_rela, alloc, 0x9000, relas(entries), 3, 0, 24},
                  {".plt", elf::sht_progbits, alloc | exec, plt, stubs, 0, 0, 16},
                  {".data", elf::sht_progbits, alloc, data, counted(32), 0, 0, 0}};
  return elf;
}

/// The file, with a segment for each allocated section.
std::vector<std::byte> built(TestElf elf) {
  for (const TestSection& one : elf.sections)
    if (one.flags & alloc)
      elf.segments.push_back(
          {elf::pt_load, elf::pf_r | (one.flags & exec ? elf::pf_x : 0), one.address, one.bytes, 0});
  return elf.build();
}

TEST(CodeImage, BytesOfTheFile) {
  const auto bytes = built(file_with_stubs({}, 0));
  const auto image = elf::Image::parse(bytes);
  ASSERT_TRUE(image);
  ImageEnvironment environment(*image);
  const auto found = environment.constant_data(data + 4, 8);
  ASSERT_EQ(found.size(), 8u);
  EXPECT_EQ(found[0], std::byte{5});
  EXPECT_TRUE(environment.constant_data(data + 28, 8).empty());
  EXPECT_TRUE(environment.constant_data(0xb000, 1).empty());
}

/// Code ends with its section, and data is none.
TEST(CodeImage, Code) {
  const auto bytes = built(file_with_stubs({}, 0));
  const auto image = elf::Image::parse(bytes);
  ASSERT_TRUE(image);
  ImageEnvironment environment(*image);
  EXPECT_EQ(environment.code(text, 8).size(), 8u);
  EXPECT_EQ(environment.code(text + 30, 8).size(), 2u);
  EXPECT_EQ(environment.code(text + 30, 8)[0], std::byte{31});
  EXPECT_TRUE(environment.code(text + 32, 8).empty());
  EXPECT_TRUE(environment.code(data, 8).empty());
}

/// R_X86_64_RELATIVE gives a word its addend; other words are as in the file.
TEST(CodeImage, PointersAfterLoading) {
  TestElf elf = file_with_stubs({}, 0);
  elf.sections.push_back({".rela.dyn", elf::sht_rela, alloc, 0xa000,
                          relas({{data + 8, 0, 8, text + 4}, {data + 16, 0, 8, text + 6}}), 3, 0, 24});
  const auto bytes = built(elf);
  const auto image = elf::Image::parse(bytes);
  ASSERT_TRUE(image);
  ImageEnvironment environment(*image);
  EXPECT_EQ(environment.constant_pointer(data), 0x0807060504030201u);
  EXPECT_EQ(environment.constant_pointer(data + 8), text + 4);
  EXPECT_EQ(environment.constant_pointer(data + 16), text + 6);
  EXPECT_EQ(environment.constant_pointer(data + 24), 0x201f1e1d1c1b1a19u); // the last word
  EXPECT_EQ(environment.constant_pointer(data + 32), std::nullopt);
}

TEST(CodeImage, StubsThatNeverReturn) {
  for (const std::size_t header : {0u, 16u, 64u}) {
    const auto bytes = built(file_with_stubs({"puts", "abort", "exit", "aborted"}, header));
    const auto image = elf::Image::parse(bytes);
    ASSERT_TRUE(image);
    Callees callees(*image, {});
    EXPECT_FALSE(callees.never_returns(plt + header));
    EXPECT_TRUE(callees.never_returns(plt + header + 16)) << header;
    EXPECT_TRUE(callees.never_returns(plt + header + 32)) << header;
    EXPECT_FALSE(callees.never_returns(plt + header + 48));
    EXPECT_FALSE(callees.never_returns(plt + header + 17));
  }
}

/// Linkers also put code after the stubs, make them of another size, and make none for some relocations.
TEST(CodeImage, StubsAreFoundByTheirPointers) {
  struct Layout {
    std::size_t header, size, trailer;
  };
  for (const Layout& layout : {Layout{80, 16, 0}, Layout{0, 8, 0}, Layout{16, 16, 16}, Layout{16, 16, 80}}) {
    const auto bytes =
        built(file_with_stubs({"puts", "", "abort", "exits"}, layout.header, layout.size, layout.trailer));
    const auto image = elf::Image::parse(bytes);
    ASSERT_TRUE(image);
    Callees callees(*image, {});
    EXPECT_FALSE(callees.never_returns(plt + layout.header));
    EXPECT_TRUE(callees.never_returns(plt + layout.header + layout.size)) << layout.header;
    EXPECT_FALSE(callees.never_returns(plt + layout.header + 2 * layout.size));
  }
}

/// Bytes without a jump through a pointer are no stubs, however many.
TEST(CodeImage, NoStubs) {
  TestElf elf = file_with_stubs({"abort"}, 0);
  for (TestSection& section : elf.sections)
    if (section.address == plt) section.bytes.assign(1000, std::byte{0x90});
  const auto bytes = built(elf);
  const auto image = elf::Image::parse(bytes);
  ASSERT_TRUE(image);
  Callees callees(*image, {});
  for (std::uint64_t at = plt; at < plt + 1000; ++at) ASSERT_FALSE(callees.never_returns(at));
}

TEST(CodeImage, StubsCostBytes) {
  const auto bytes = built(file_with_stubs({"abort"}, 16));
  const auto found = [&](std::uint64_t left) {
    Budget budget(Limits::standard, 0);
    (void)budget.take(Resource::section_bytes, budget.left(Resource::section_bytes) - left);
    const auto image = elf::Image::parse(bytes, &budget);
    return image && Callees(*image, {}).never_returns(plt + 16);
  };
  EXPECT_TRUE(found(10'000));
  EXPECT_FALSE(found(0));
}

/// Functions of the file, also with a version in the name; the list's first and last name, and some that only
/// begin like one of the list.
TEST(CodeImage, FunctionsThatNeverReturn) {
  TestElf elf = file_with_stubs({}, 0);
  Writer strings, symbols;
  strings.zeros(1);
  symbols.zeros(24);
  std::uint64_t at = text;
  for (const char* name : {"_Exit", "xexit", "longjmp@@GLIBC_2.2.5", "exi", "exits", "main", "__cxa_throw"}) {
    symbols.append(symbol(static_cast<std::uint32_t>(strings.bytes.size()), 0x12, 1, at++, 1));
    strings.text(name).zeros(1);
  }
  elf.sections.push_back({".strtab", elf::sht_strtab, 0, 0, strings.bytes, 0, 0, 0});
  elf.sections.push_back({".symtab", elf::sht_symtab, 0, 0, symbols.bytes, 7, 1, 24});
  const auto bytes = built(elf);
  const auto image = elf::Image::parse(bytes);
  ASSERT_TRUE(image);
  Callees callees(*image, {});
  std::string found;
  for (at = text; at < text + 8; ++at) found += callees.never_returns(at) ? 'x' : '.';
  EXPECT_EQ(found, "xxx...x.");
}

/// A callee's code ends with its function, or where the next one begins.
TEST(CodeImage, CodeOfOneFunction) {
  const auto bytes = built(file_with_stubs({}, 0));
  const auto image = elf::Image::parse(bytes);
  ASSERT_TRUE(image);
  const std::vector<OwnedRange> functions = {{text + 4, text + 12}, {text + 16, text + 24}};
  Callees callees(*image, functions);
  EXPECT_EQ(callees.code(text + 4, 100).size(), 8u);
  EXPECT_EQ(callees.code(text + 6, 100).size(), 6u);
  EXPECT_EQ(callees.code(text + 6, 2).size(), 2u);
  EXPECT_EQ(callees.code(text + 11, 100).size(), 1u); // its last byte
  EXPECT_EQ(callees.code(text, 100).size(), 4u);      // before the first
  EXPECT_EQ(callees.code(text + 12, 100).size(), 4u); // between two
  EXPECT_EQ(callees.code(text + 16, 100).size(), 8u);
  EXPECT_EQ(callees.code(text + 24, 100).size(), 8u); // after the last: to the end of the code
}

} // namespace code_image_test
