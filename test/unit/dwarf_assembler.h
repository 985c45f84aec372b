// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assembles debug information for tests: the entries of one compile unit, without hidden defaults.

#pragma once

#include "elf_builder.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::test::dwarf {

// DWARF 5, tables 7.3, 7.5 and 7.6.
enum Tag : std::uint16_t {
  array_type = 1,
  class_type = 2,
  enumeration_type = 4,
  formal_parameter = 5,
  lexical_block = 0xb,
  member = 0xd,
  pointer_type = 0xf,
  reference_type = 0x10,
  compile_unit = 0x11,
  structure_type = 0x13,
  subroutine_type = 0x15,
  type_definition = 0x16,
  union_type = 0x17,
  variant = 0x19,
  inheritance = 0x1c,
  inlined_subroutine = 0x1d,
  pointer_to_member = 0x1f,
  subrange_type = 0x21,
  base_type = 0x24,
  catch_block = 0x25,
  const_type = 0x26,
  enumerator = 0x28,
  subprogram = 0x2e,
  try_block = 0x32,
  variant_part = 0x33,
  variable = 0x34,
  volatile_type = 0x35,
  unspecified_type = 0x3b,
  rvalue_reference_type = 0x42
};
enum Attribute : std::uint16_t {
  location = 2,
  name = 3,
  byte_size = 0xb,
  bit_offset = 0xc,
  stmt_list = 0x10,
  low_pc = 0x11,
  high_pc = 0x12,
  discr = 0x15,
  discr_value = 0x16,
  const_value = 0x1c,
  lower_bound = 0x22,
  producer = 0x25,
  byte_stride = 0x51,
  upper_bound = 0x2f,
  abstract_origin = 0x31,
  count = 0x37,
  data_member_location = 0x38,
  declaration = 0x3c,
  discr_list = 0x3d,
  encoding = 0x3e,
  external = 0x3f,
  frame_base = 0x40,
  type = 0x49,
  bit_size = 0xd,
  data_bit_offset = 0x6b
};
enum Form {
  sec_offset = 0x17,
  flag_present = 0x19,
  addr = 1,
  data8 = 7,
  string = 8,
  ref4 = 0x13,
  exprloc = 0x18,
  gnu_strp_alt = 0x1f21
};

/// .debug_line, DWARF 4, little-endian: [0x1000, 0x1100) is line 1 of /a.c.
inline std::vector<std::byte> one_line() {
  Writer prologue; // from minimum_instruction_length on
  prologue.number(1, 1).number(1, 1).number(1, 1).number(0xfb, 1).number(14, 1).number(10, 1);
  for (const int operands : {0, 1, 1, 1, 1, 0, 0, 0, 1})
    prologue.number(static_cast<std::uint64_t>(operands), 1);
  prologue.zeros(1).text("/a.c").zeros(5);
  Writer program; // set_address, a row, 0x100 further, the end
  program.number(0, 1).number(9, 1).number(2, 1).u64(0x1000).number(1, 1);
  program.number(2, 1).number(0x80, 1).number(2, 1).number(0, 1).number(1, 1).number(1, 1);
  Writer lines;
  lines.u32(2 + 4 + prologue.bytes.size() + program.bytes.size()).u16(4).u32(prologue.bytes.size());
  lines.append(prologue.bytes).append(program.bytes);
  return lines.bytes;
}

/// Entries of one compile unit, DWARF 4. Attributes that are added at once are the unit's. References are to
/// labels.
class Dwarf {
public:
  explicit Dwarf(ByteOrder order = ByteOrder::little) : order_(order), entries_(order) {
    entries_.u16(4).u32(0).number(8, 1);
    open(compile_unit).address(low_pc, 0x1000).number(high_pc, 0x100).end_attributes();
  }

  Dwarf& open(Tag tag) {
    at_ = 4 + entries_.bytes.size();
    abbreviations_.push_back({tag, {}});
    leb(entries_, abbreviations_.size());
    return *this;
  }
  Dwarf& label(const std::string& label) {
    labels_[label] = at_;
    return *this;
  }
  /// The offset of the entry that was opened last, in the unit.
  std::uint64_t offset() const { return at_; }
  Dwarf& text(Attribute attribute, std::string_view value) {
    form(attribute, string), entries_.text(value).zeros(1);
    return *this;
  }
  Dwarf& number(Attribute attribute, std::uint64_t value) {
    form(attribute, data8), entries_.u64(value);
    return *this;
  }
  Dwarf& address(Attribute attribute, std::uint64_t value) {
    form(attribute, addr), entries_.u64(value);
    return *this;
  }
  /// Without bytes in the entry.
  Dwarf& flag(Attribute attribute) {
    form(attribute, flag_present);
    return *this;
  }
  /// Of another section.
  Dwarf& offset(Attribute attribute, std::uint64_t value) {
    form(attribute, sec_offset), entries_.u32(value);
    return *this;
  }
  /// Text of the file that .gnu_debugaltlink names.
  Dwarf& alternate_text(Attribute attribute, std::uint64_t offset) {
    form(attribute, gnu_strp_alt), entries_.u32(offset);
    return *this;
  }
  Dwarf& block(Attribute attribute, std::initializer_list<int> bytes) {
    form(attribute, exprloc), leb(entries_, bytes.size());
    for (const int byte : bytes) entries_.number(static_cast<std::uint64_t>(byte), 1);
    return *this;
  }
  Dwarf& to(Attribute attribute, const std::string& label) {
    form(attribute, ref4), references_.emplace_back(entries_.bytes.size(), label), entries_.u32(0);
    return *this;
  }
  /// After an entry's attributes: its children follow, up to close(); or it has none.
  Dwarf& end_attributes() {
    abbreviations_.back().has_children = true;
    return *this;
  }
  Dwarf& close() {
    entries_.zeros(1);
    return *this;
  }
  /// The unit ends where its entries do: inside of it, and of what is open.
  Dwarf& cut() {
    is_cut_ = true;
    return *this;
  }

  Dwarf& base(const std::string& label, int kind, std::uint64_t size) {
    return open(base_type)
        .label(label)
        .text(name, label)
        .number(encoding, static_cast<std::uint64_t>(kind))
        .number(byte_size, size);
  }
  Dwarf& local(std::string_view called, const std::string& of, std::initializer_list<int> at) {
    return open(variable).text(name, called).to(type, of).block(location, at);
  }
  /// The function, whose frame base is the CFA.
  Dwarf& function() {
    return open(subprogram)
        .text(name, "function")
        .address(low_pc, 0x1000)
        .number(high_pc, 0x100)
        .block(frame_base, {0x9c})
        .end_attributes();
  }

  /// A file with the unit, its code at [0x1000, 0x1100) in the first section, and symbols of it: those that
  /// were added, and `target`, all of the code.
  TestElf build(std::uint16_t machine) {
    if (!is_cut_) close(); // the unit
    for (const auto& [at, label] : references_) {
      const std::uint64_t target = labels_.at(label);
      for (unsigned i = 0; i < 4; ++i)
        entries_.bytes[at + i] = std::byte(target >> 8 * (order_ == ByteOrder::little ? i : 3 - i));
    }
    Writer table(order_);
    std::uint64_t code = 0;
    for (const Abbreviation& one : abbreviations_) {
      leb(table, ++code), leb(table, one.tag), table.number(one.has_children, 1);
      for (const auto& [attribute, form] : one.forms) leb(table, attribute), leb(table, form);
      table.zeros(2);
    }
    table.zeros(1);
    TestElf elf;
    elf.order = order_;
    elf.machine = machine;
    elf.type = elf::et_exec;
    elf.sections.push_back({".text", elf::sht_progbits, elf::shf_alloc | elf::shf_execinstr, 0x1000,
                            std::vector<std::byte>(0x100)});
    elf.sections.push_back({".debug_info", elf::sht_progbits, 0, 0,
                            Writer(order_).u32(entries_.bytes.size()).append(entries_.bytes).bytes});
    elf.sections.push_back({".debug_abbrev", elf::sht_progbits, 0, 0, table.bytes});
    add_symbol("target", 0x12, 1, 0x1000, 0x100);
    elf.sections.push_back({".symtab", elf::sht_symtab, 0, 0, symbols_.bytes, 5, 1, 24});
    elf.sections.push_back({".strtab", elf::sht_strtab, 0, 0, symbol_names_.bytes});
    return elf;
  }

  Dwarf& add_symbol(std::string_view called, unsigned info, std::uint16_t section, std::uint64_t value,
                    std::uint64_t size) {
    if (symbols_.bytes.empty()) {
      symbols_.zeros(24);
      symbol_names_.zeros(1);
    }
    symbols_.append(
        symbol(static_cast<std::uint32_t>(symbol_names_.bytes.size()), info, section, value, size, order_));
    symbol_names_.text(called).zeros(1);
    return *this;
  }

private:
  struct Abbreviation {
    std::uint64_t tag;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> forms;
    bool has_children = false;
  };
  void form(Attribute attribute, Form form) { abbreviations_.back().forms.emplace_back(attribute, form); }
  static void leb(Writer& to, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) to.number((value & 0x7f) | 0x80, 1);
    to.number(value, 1);
  }

  ByteOrder order_;
  Writer entries_, symbols_{order_}, symbol_names_;
  std::vector<Abbreviation> abbreviations_;
  std::map<std::string, std::uint64_t> labels_;
  std::vector<std::pair<std::size_t, std::string>> references_;
  std::uint64_t at_ = 0;
  bool is_cut_ = false;
};

} // namespace sframe::test::dwarf
