// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each relocation type makes of an instruction or a number, by the ABIs' tables: x86-64 psABI,
// table 4.9; ELF for the Arm 64-bit Architecture, section 5.7; s390x ELF ABI, table "Relocation Types". S + A
// is called `to` here.

#include "elf_builder.h"

#include "sframe/elf/linked_object.h"

#include <gtest/gtest.h>

#include <vector>

namespace sframe::elf {
namespace elf_linked_object_test {

using Bytes = std::vector<std::byte>;
using Value = std::uint64_t (*)(std::uint64_t to, std::uint64_t place);

/// Bits of a word, and those of the value that they get.
struct Bits {
  unsigned lsb, width, from = 0;
};

struct Type {
  std::uint32_t type;
  unsigned size; ///< of the word, in bytes
  std::vector<Bits> bits;
  Value value;
  bool is_code = false; ///< AArch64: little-endian in every file
};

std::uint64_t absolute(std::uint64_t to, std::uint64_t) {
  return to;
}
std::uint64_t distance(std::uint64_t to, std::uint64_t place) {
  return to - place;
}
std::uint64_t pages(std::uint64_t to, std::uint64_t place) {
  return ((to & ~0xfffull) - (place & ~0xfffull)) >> 12;
}

Type number(std::uint32_t type, unsigned size, Value value) {
  return {type, size, {{0, size * 8}}, value};
}
/// AArch64: a part of one word.
Type part(std::uint32_t type, unsigned lsb, unsigned width, unsigned from, Value value) {
  return {type, 4, {{lsb, width, from}}, value, true};
}
/// s390x: a distance in halfwords.
Type halfwords(std::uint32_t type, unsigned size, unsigned width) {
  return {type, size, {{0, width, 1}}, distance};
}

struct Machine {
  const char* name;
  std::uint16_t id;
  ByteOrder order;
  std::vector<Type> types;
};

std::vector<Type> aarch64_types() {
  return {number(257, 8, absolute),
          number(258, 4, absolute),
          number(259, 2, absolute),
          number(260, 8, distance),
          number(261, 4, distance),
          number(262, 2, distance),
          number(314, 4, distance),
          part(263, 5, 16, 0, absolute), // MOVW_UABS_G0 to G3
          part(264, 5, 16, 0, absolute),
          part(265, 5, 16, 16, absolute),
          part(266, 5, 16, 16, absolute),
          part(267, 5, 16, 32, absolute),
          part(268, 5, 16, 32, absolute),
          part(269, 5, 16, 48, absolute),
          part(273, 5, 19, 2, distance),                      // LD_PREL_LO19
          {274, 4, {{29, 2, 0}, {5, 19, 2}}, distance, true}, // ADR_PREL_LO21
          {275, 4, {{29, 2, 0}, {5, 19, 2}}, pages, true},    // ADR_PREL_PG_HI21
          {276, 4, {{29, 2, 0}, {5, 19, 2}}, pages, true},    // the same, not checked
          part(277, 10, 12, 0, absolute),                     // ADD_ABS_LO12_NC
          part(278, 10, 12, 0, absolute),                     // LDST8_ABS_LO12_NC
          part(279, 5, 14, 2, distance),                      // TSTBR14
          part(280, 5, 19, 2, distance),                      // CONDBR19
          part(282, 0, 26, 2, distance),                      // JUMP26
          part(283, 0, 26, 2, distance),                      // CALL26
          part(284, 10, 11, 1, absolute),                     // LDST16_ABS_LO12_NC
          part(285, 10, 10, 2, absolute),                     // LDST32_ABS_LO12_NC
          part(286, 10, 9, 3, absolute),                      // LDST64_ABS_LO12_NC
          part(299, 10, 8, 4, absolute)};                     // LDST128_ABS_LO12_NC
}

const std::vector<Machine>& machines() {
  static const std::vector<Machine> all = {
      {"amd64",
       62,
       ByteOrder::little,
       {number(1, 8, absolute), number(2, 4, distance), number(4, 4, distance), number(10, 4, absolute),
        number(11, 4, absolute), number(12, 2, absolute), number(13, 2, distance), number(14, 1, absolute),
        number(15, 1, distance), number(24, 8, distance)}},
      {"aarch64", 183, ByteOrder::little, aarch64_types()},
      {"aarch64_be", 183, ByteOrder::big, aarch64_types()},
      {"s390x",
       22,
       ByteOrder::big,
       {number(1, 1, absolute),
        {2, 2, {{0, 12}}, absolute}, // R_390_12
        number(3, 2, absolute),
        number(4, 4, absolute),
        number(5, 4, distance),
        number(16, 2, distance),
        halfwords(17, 2, 16), // PC16DBL
        halfwords(18, 2, 16), // PLT16DBL
        halfwords(19, 4, 32), // PC32DBL
        halfwords(20, 4, 32), // PLT32DBL
        number(22, 8, absolute),
        number(23, 8, distance),
        halfwords(62, 2, 12),    // PC12DBL
        halfwords(63, 2, 12)}}}; // PLT12DBL
  return all;
}

constexpr std::size_t size = 24;
constexpr std::byte filler{0xa5};

/// .text of `size` bytes with a relocation against a symbol at the start of .other.
Bytes object_with(std::uint16_t machine, ByteOrder order, std::uint32_t type, std::uint64_t offset,
                  std::uint64_t addend) {
  constexpr std::uint64_t code = shf_alloc | shf_execinstr;
  Bytes symbols = test::symbol(0, 0, 0, 0, 0, order), other = test::symbol(0, 0x10, 2, 0, 0, order);
  symbols.insert(symbols.end(), other.begin(), other.end());
  test::TestElf file{.order = order, .type = et_rel, .machine = machine};
  file.sections = {{".text", sht_progbits, code, 0, Bytes(size, filler)},
                   {".other", sht_progbits, code, 0, Bytes(64)},
                   {".symtab", sht_symtab, 0, 0, symbols, 4, 1, 24},
                   {".strtab", sht_strtab, 0, 0, Bytes(1)},
                   {".rela.text", sht_rela, 0, 0,
                    test::Writer(order).u64(offset).u64(1ull << 32 | type).u64(addend).bytes, 3, 1, 24}};
  return file.build();
}

Result<LinkedObject> link(const Bytes& bytes) {
  const auto image = Image::parse(bytes);
  if (!image) return unexpected(image.error());
  const auto layout = ObjectLayout::make(*image);
  if (!layout) return unexpected(layout.error());
  return LinkedObject::make(*layout);
}

/// Nothing but the word is changed, and of it nothing but the bits.
TEST(LinkedObject, RelocationTypes) {
  for (const Machine& machine : machines())
    for (const Type& type : machine.types) {
      SCOPED_TRACE(std::string(machine.name) + ", type " + std::to_string(type.type));
      const Bytes first = object_with(machine.id, machine.order, type.type, 0, 0);
      const auto layout = ObjectLayout::make(*Image::parse(first));
      ASSERT_TRUE(layout);
      const std::uint64_t text = layout->image().sections()[1].address;
      const std::uint64_t other = layout->image().sections()[2].address;
      const std::uint64_t offset = 8 + (-text & 7);
      // As far as the field may reach.
      const bool is_wide = type.size >= 4 && type.bits[0].width != 12 && type.bits[0].width != 14;
      const std::uint64_t to = ((other + 15) & ~15ull) + (!is_wide                 ? 16
                                                          : type.value == absolute ? 0x1234'5678'9abc'def0
                                                                                   : 0x12350);
      const auto linked = link(object_with(machine.id, machine.order, type.type, offset, to - other));
      ASSERT_TRUE(linked) << linked.error().text();
      const auto bytes = linked->image().read(text, size);
      ASSERT_TRUE(bytes);

      std::uint64_t word = 0;
      for (unsigned i = 0; i < type.size; ++i) word = word << 8 | std::to_integer<std::uint64_t>(filler);
      for (const Bits& bits : type.bits) {
        const std::uint64_t ones = bits.width == 64 ? ~0ull : (1ull << bits.width) - 1;
        const std::uint64_t value = type.value(to, text + offset) >> bits.from & ones;
        word = (word & ~(ones << bits.lsb)) | value << bits.lsb;
      }
      const Bytes expected = test::Writer(type.is_code ? ByteOrder::little : machine.order)
                                 .append(Bytes(offset, filler))
                                 .number(word, type.size)
                                 .append(Bytes(size - offset - type.size, filler))
                                 .bytes;
      EXPECT_EQ(Bytes(bytes->begin(), bytes->end()), expected);
    }
}

TEST(LinkedObject, RelocationsThatDoNotFit) {
  struct Bad {
    std::uint16_t machine;
    ByteOrder order;
    std::uint32_t type;
    std::uint64_t offset, addend;
    const char* what;
  };
  const Bad all[] = {
      {62, ByteOrder::little, 15, 0, 0x1000, "out of reach"},      // PC8
      {62, ByteOrder::little, 2, 0, 0x80000000, "out of reach"},   // PC32
      {183, ByteOrder::little, 279, 0, 0x8000, "out of reach"},    // TSTBR14
      {183, ByteOrder::little, 283, 0, 0x8000000, "out of reach"}, // CALL26
      {22, ByteOrder::big, 62, 0, 0x1000, "out of reach"},         // PC12DBL
      {22, ByteOrder::big, 17, 0, 0x10000, "out of reach"},        // PC16DBL
      {62, ByteOrder::little, 2, size - 3, 0, "outside its section"},
      {22, ByteOrder::big, 17, size - 1, 0, "outside its section"},
      {62, ByteOrder::little, 1, ~0ull, 0, "outside its section"},
      {62, ByteOrder::little, 200, 0, 0, "type 200 is not supported"},
      {183, ByteOrder::little, 200, 0, 0, "type 200 is not supported"},
  };
  for (const Bad& bad : all) {
    const auto linked = link(object_with(bad.machine, bad.order, bad.type, bad.offset, bad.addend));
    ASSERT_FALSE(linked) << bad.machine << ", type " << bad.type;
    EXPECT_NE(linked.error().what.find(bad.what), std::string::npos) << linked.error().text();
    EXPECT_EQ(linked.error().section, ".text");
  }
}

} // namespace elf_linked_object_test
} // namespace sframe::elf
