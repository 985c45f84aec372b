// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of variables from DWARF that the tests assemble: each kind of type (DWARF 5, chapter 5) and of
// location (sections 2.5 and 2.6) in both byte orders, and descriptions that are made to cost much.

#include "cfi_assembler.h"
#include "elf_builder.h"
#include "made_up_space.h"

#include "sframe/base/budget.h"
#include "sframe/variables/variables.h"

#include <gtest/gtest.h>

#include <map>
#include <sys/mman.h>
#include <unistd.h>

namespace variables_values_test {

using namespace sframe;
using namespace sframe::test;

// DWARF 5, tables 7.3, 7.5 and 7.6.
enum Tag {
  array_type = 1,
  enumeration_type = 4,
  formal_parameter = 5,
  lexical_block = 0xb,
  member = 0xd,
  pointer_type = 0xf,
  compile_unit = 0x11,
  structure_type = 0x13,
  type_definition = 0x16,
  subrange_type = 0x21,
  base_type = 0x24,
  enumerator = 0x28,
  subprogram = 0x2e,
  variable = 0x34
};
enum Attribute {
  location = 2,
  name = 3,
  byte_size = 0xb,
  low_pc = 0x11,
  high_pc = 0x12,
  const_value = 0x1c,
  abstract_origin = 0x31,
  count = 0x37,
  data_member_location = 0x38,
  encoding = 0x3e,
  frame_base = 0x40,
  type = 0x49,
  bit_size = 0xd,
  data_bit_offset = 0x6b
};
enum Form { addr = 1, data8 = 7, string = 8, ref4 = 0x13, exprloc = 0x18 };

/// Entries of one compile unit, DWARF 4. References are to labels.
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

  std::vector<std::byte> build(std::uint16_t machine) {
    close(); // the unit
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
    return elf.build();
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
  Writer entries_;
  std::vector<Abbreviation> abbreviations_;
  std::map<std::string, std::uint64_t> labels_;
  std::vector<std::pair<std::size_t, std::string>> references_;
  std::uint64_t at_ = 0;
};

/// A process with one module, at its own addresses, and a few bytes of memory.
class OneModule final : public ModuleSpace {
public:
  OneModule(Dwarf& dwarf, const AbiTraits& abi) : abi_(abi), fd_(::memfd_create("program", MFD_CLOEXEC)) {
    const auto bytes = dwarf.build(abi.machine);
    EXPECT_EQ(::write(fd_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    files_.add_budget(0);
    ModuleInfo info;
    info.path = info.file = "/proc/self/fd/" + std::to_string(fd_);
    info.end = 0x2000;
    info.bias = 0;
    module_.emplace(info, abi, files_, nothing_);
  }
  ~OneModule() override { ::close(fd_); }
  const AbiTraits& abi() const override { return abi_; }
  bool is_code(std::uint64_t address) override { return address < 0x2000; }
  Module* module_at(std::uint64_t address) override { return address < 0x2000 ? &*module_ : nullptr; }
  Budget* budget() override { return files_.budget.get(); }
  std::size_t read(std::uint64_t address, std::span<std::byte> out) override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto at = memory.find(address + i);
      if (at == memory.end()) return i;
      out[i] = at->second;
    }
    return out.size();
  }
  void put(std::uint64_t address, std::initializer_list<int> bytes) {
    for (const int byte : bytes) memory[address++] = static_cast<std::byte>(byte);
  }
  std::map<std::uint64_t, std::byte> memory;

private:
  const AbiTraits& abi_;
  int fd_;
  FileOptions files_;
  NoBytes nothing_;
  std::optional<Module> module_;
};

/// The locals of the function at 0x1010, with the CFA 0x8000, in which register 3 is 0x123456789abcdef0 and
/// register 0 is unknown. By name, "name=value"; and the budget that is left.
std::map<std::string, std::string> locals(OneModule& space) {
  variables::Settings settings;
  settings.arguments = settings.locals = true;
  variables::Finder finder(space, {}, std::make_shared<modules::DebugInfoCache>(), settings);
  Registers registers;
  registers.pc = 0x1010;
  registers.set(3, 0x123456789abcdef0);
  Frame frame;
  frame.pc = 0x1010;
  frame.has_cfa = true;
  frame.cfa = 0x8000;
  const auto scopes = finder.find(frame, registers);
  std::map<std::string, std::string> result;
  for (const variables::Scope& scope : scopes)
    for (const auto* list : {&scope.arguments, &scope.locals})
      for (const variables::Variable& one : *list) result[one.name] = one.value;
  return result;
}

std::map<std::string, std::string> locals(Dwarf& dwarf) {
  OneModule space(dwarf, amd64);
  return locals(space);
}

constexpr int is_signed = 5, is_unsigned = 7, is_float = 4, is_char = 6, is_bool = 2;

TEST(Variables, Locations) {
  Dwarf dwarf;
  dwarf.base("int", is_signed, 4).base("long", is_unsigned, 8).function();
  dwarf.local("in_register", "int", {0x53});          // reg3
  dwarf.local("lost", "int", {0x50});                 // reg0
  dwarf.local("other_register", "int", {0x61});       // reg17: xmm0
  dwarf.local("in_frame", "int", {0x91, 0x78});       // fbreg -8
  dwarf.local("unreadable", "int", {0x91, 0});        // fbreg 0
  dwarf.local("constant", "int", {0x09, 0xfb, 0x9f}); // const1s -5, stack_value
  dwarf.local("empty", "int", {});
  dwarf.local("bytes", "int", {0x9e, 4, 1, 2, 0, 0});    // implicit_value
  dwarf.local("pointer", "long", {0xa0, 1, 0, 0, 0, 0}); // implicit_pointer
  dwarf.local("halves", "long",
              {0x53, 0x93, 4, 0x3a, 0x9f, 0x93, 4}); // reg3 piece 4, lit10 stack_value piece 4
  dwarf.local("half", "long", {0x53, 0x93, 4, 0x93, 4});
  dwarf.local("typed", "int", {0xa5, 3, 0, 0x9f}); // regval_type with the generic type
  dwarf.local("call", "int", {0x98, 0, 0});        // call2
  dwarf.open(variable).text(name, "value").to(type, "int").number(const_value, 0xfffffffe);
  dwarf.open(variable).text(name, "nowhere").to(type, "int");
  dwarf.open(formal_parameter).text(name, "typeless").block(location, {0x53});
  dwarf.close();
  OneModule space(dwarf, amd64);
  space.put(0x7ff8, {0x2a, 0, 0, 0});
  const std::map<std::string, std::string> expected = {
      {"in_register", "-1698898192"},
      {"lost", "<optimized out>"},
      {"other_register", "<not available>"},
      {"in_frame", "42"},
      {"unreadable", "<cannot read memory at 0x8000>"},
      {"constant", "-5"},
      {"empty", "<optimized out>"},
      {"bytes", "513"},
      {"pointer", "<synthetic pointer>"},
      {"halves", "45545742064"}, // 0xa'9abcdef0
      {"half", "<optimized out>"},
      {"typed", "-1698898192"},
      {"call", "<not supported>"},
      {"value", "-2"},
      {"nowhere", "<optimized out>"},
      {"typeless", "<not supported>"},
  };
  EXPECT_EQ(locals(space), expected);
}

TEST(Variables, Types) {
  Dwarf dwarf;
  dwarf.base("int", is_signed, 4)
      .base("char", is_char, 1)
      .base("bool", is_bool, 1)
      .base("float", is_float, 4)
      .base("double", is_float, 8);
  dwarf.base("byte", is_unsigned, 1);
  dwarf.open(enumeration_type).label("bits").number(byte_size, 1).end_attributes();
  dwarf.open(enumerator).text(name, "one").number(const_value, 1);
  dwarf.open(enumerator).text(name, "four").number(const_value, 4).close();
  dwarf.open(structure_type).label("pair").text(name, "pair").number(byte_size, 8).end_attributes();
  dwarf.open(member).text(name, "a").to(type, "int").number(data_member_location, 0);
  dwarf.open(member).text(name, "b").to(type, "int").number(data_member_location, 4).close();
  dwarf.open(array_type).label("four chars").to(type, "char").end_attributes();
  dwarf.open(subrange_type).number(count, 4).close();
  dwarf.open(array_type).label("ints").to(type, "int").end_attributes();
  dwarf.open(subrange_type).number(count, 3).close();
  dwarf.open(pointer_type).label("char *").to(type, "char");
  dwarf.function();
  for (const char* of :
       {"int", "char", "bool", "float", "double", "byte", "bits", "pair", "four chars", "ints", "char *"})
    dwarf.local(of, of, {0x91, 0x40}); // fbreg -64
  dwarf.close();
  OneModule space(dwarf, amd64);
  space.put(0x7fc0, {5, 0, 0, 0, 'x', 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0});
  std::map<std::string, std::string> expected = {
      {"int", "5"},
      {"char", "5 '\\005'"},
      {"bool", "5"},
      {"float", "7.00649232e-45"},
      {"double", "2.5463949491830301e-312"},
      {"byte", "5"},
      {"bits", "(one | four)"},
      {"pair", "{a = 5, b = 120}"},
      {"four chars", "\"\\005\""},
      {"ints", "{5, 120, 5}"},
      {"char *", "0x7800000005 <cannot read memory at 0x7800000005>"},
  };
  EXPECT_EQ(locals(space), expected);
  // Text that is not for terminals is escaped, UTF-8 is not.
  space.put(0x7fc0, {0, 0x90, 0, 0, 0, 0, 0, 0});
  space.put(0x9000, {'a', 0x1b, '[', '"', '\\', 0xc3, 0xa4, 0xc3, '\n', 0xe2, 0x80, 0xae, 0});
  EXPECT_EQ(locals(space)["char *"], "0x9000 \"a\\033[\\\"\\\\\xc3\xa4\\303\\n\\342\\200\\256\"");
  // A string that goes on into memory that cannot be read, and one that is too long.
  space.memory.erase(0x9003);
  EXPECT_EQ(locals(space)["char *"], "0x9000 \"a\\033[\" <cannot read memory at 0x9003>");
  for (std::uint64_t i = 0; i < 1000; ++i) space.put(0x9000 + i, {'y'});
  EXPECT_EQ(locals(space)["char *"], "0x9000 \"" + std::string(200, 'y') + "\"...");
}

/// A big-endian machine's values in registers are on the right, its bit-fields are counted from the left.
TEST(Variables, BigEndian) {
  Dwarf dwarf(ByteOrder::big);
  dwarf.base("short", is_signed, 2).base("float", is_float, 4).base("unsigned", is_unsigned, 4);
  dwarf.open(structure_type).label("fields").number(byte_size, 4).end_attributes();
  dwarf.open(member).text(name, "first").to(type, "unsigned").number(bit_size, 4).number(data_bit_offset, 0);
  dwarf.open(member)
      .text(name, "second")
      .to(type, "unsigned")
      .number(bit_size, 12)
      .number(data_bit_offset, 4);
  dwarf.open(member)
      .text(name, "last")
      .to(type, "short")
      .number(bit_size, 3)
      .number(data_bit_offset, 29)
      .close();
  dwarf.function();
  dwarf.local("short", "short", {0x53});
  dwarf.local("in memory", "short", {0x91, 0x78});
  dwarf.local("fields", "fields", {0x91, 0x78});
  // bit_piece 4, 12, 13 (nowhere), 3: of 7, 0x123, and of register 3.
  dwarf.local("pieces", "fields",
              {0x37, 0x9f, 0x9d, 4, 0, 0x0a, 1, 0x23, 0x9f, 0x9d, 12, 0, 0x9d, 13, 0, 0x53, 0x9d, 3, 0});
  dwarf.close();
  OneModule space(dwarf, traits(Abi::s390x));
  space.put(0x7ff8, {0xa1, 0x23, 0, 0x05});
  const std::map<std::string, std::string> expected = {
      {"short", "-8464"}, // 0xdef0
      {"in memory", "-24285"},
      {"fields", "{first = 10, second = 291, last = -3}"},
      {"pieces", "{first = 7, second = 291, last = 0}"},
  };
  EXPECT_EQ(locals(space), expected);
}

/// Only blocks that contain the address count; of equal names the innermost is found first.
TEST(Variables, Blocks) {
  Dwarf dwarf;
  dwarf.base("int", is_signed, 4).function();
  dwarf.local("outer", "int", {0x31, 0x9f});
  dwarf.open(lexical_block).address(low_pc, 0x1000).number(high_pc, 0x10).end_attributes();
  dwarf.local("before", "int", {0x32, 0x9f}).close();
  dwarf.open(lexical_block).address(low_pc, 0x1010).number(high_pc, 1).end_attributes();
  dwarf.local("inner", "int", {0x33, 0x9f}).close();
  dwarf.open(lexical_block).end_attributes();
  dwarf.local("anywhere", "int", {0x34, 0x9f}).close();
  dwarf.close();
  const std::map<std::string, std::string> expected = {{"outer", "1"}, {"inner", "3"}, {"anywhere", "4"}};
  EXPECT_EQ(locals(dwarf), expected);
}

// Descriptions without an end.

TEST(Variables, TypesInCircles) {
  Dwarf dwarf;
  dwarf.open(type_definition).label("self").text(name, "self").to(type, "self");
  dwarf.open(structure_type).label("nested").number(byte_size, 8).end_attributes();
  dwarf.open(member).text(name, "same").to(type, "nested").number(data_member_location, 0).close();
  dwarf.open(array_type).label("arrays").to(type, "arrays").end_attributes();
  dwarf.open(subrange_type).number(count, 2).close();
  dwarf.function();
  dwarf.local("self", "self", {0x53});
  dwarf.local("nested", "nested", {0x53});
  dwarf.local("arrays", "arrays", {0x53});
  dwarf.open(variable).label("origin").text(name, "origin").to(abstract_origin, "origin");
  dwarf.close();
  const auto found = locals(dwarf);
  EXPECT_EQ(found.at("self"), "<not supported>");
  EXPECT_EQ(found.at("nested"), "{same = {same = {same = {same = {same = {same = {...}}}}}}}");
  EXPECT_EQ(found.at("arrays").substr(0, 1), "{");
  EXPECT_LT(found.at("arrays").size(), 2100u);
}

TEST(Variables, Loops) {
  Dwarf dwarf;
  dwarf.base("int", is_signed, 4);
  dwarf.open(subprogram)
      .text(name, "function")
      .address(low_pc, 0x1000)
      .number(high_pc, 0x100)
      .block(frame_base, {0x91, 0})
      .end_attributes();
  dwarf.local("skip", "int", {0x2f, 0xfd, 0xff});               // skip -3
  dwarf.local("branch", "int", {0x31, 0x31, 0x28, 0xfc, 0xff}); // lit1 lit1 bra -4
  dwarf.local("frame base", "int", {0x91, 0});                  // which refers to itself
  dwarf.close();
  const std::map<std::string, std::string> expected = {
      {"skip", "<not supported>"}, {"branch", "<not supported>"}, {"frame base", "<optimized out>"}};
  EXPECT_EQ(locals(dwarf), expected);
}

TEST(Variables, HugeObjects) {
  Dwarf dwarf;
  constexpr std::uint64_t huge = std::uint64_t{1} << 62;
  dwarf.base("char", is_char, 1).base("int", is_signed, 4).base("none", is_signed, 0);
  dwarf.open(structure_type).label("large").number(byte_size, huge).end_attributes();
  dwarf.open(member).text(name, "a").to(type, "int").number(data_member_location, huge).close();
  for (const char* of : {"char", "int", "none"}) {
    dwarf.open(array_type).label(std::string(of) + "s").to(type, of).end_attributes();
    dwarf.open(subrange_type).number(count, std::uint64_t{1} << 32).close();
  }
  dwarf.function();
  for (const char* of : {"large", "chars", "ints", "nones"}) dwarf.local(of, of, {0x91, 0x40});
  dwarf.local("pieces", "ints", {0x31, 0x9f, 0x93, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f});
  dwarf.close();
  OneModule space(dwarf, amd64);
  for (std::uint64_t i = 0; i < 0x4000; ++i) space.put(0x7fc0 + i, {'a' + static_cast<int>(i / 4 % 20)});
  const auto found = locals(space);
  for (const auto& [called, value] : found) EXPECT_LT(value.size(), 2100u) << called;
  EXPECT_EQ(found.at("chars").substr(0, 10), "\"aaaabbbbc");
  EXPECT_EQ(found.at("pieces"), "<not supported>");
  EXPECT_NE(found.at("ints").find("..."), std::string::npos);
}

/// Each of many variables costs; what the budget does not suffice for is left out.
TEST(Variables, Budget) {
  Dwarf dwarf;
  dwarf.base("int", is_signed, 4).function();
  for (int i = 0; i < 200; ++i) dwarf.local("skip" + std::to_string(i), "int", {0x2f, 0xfd, 0xff});
  dwarf.close();
  OneModule space(dwarf, amd64);
  EXPECT_EQ(locals(space).size(), 200u);
  Budget& budget = *space.budget();
  // Each takes 4096 steps.
  EXPECT_TRUE(budget.take(Resource::debug_steps, budget.left(Resource::debug_steps) - 100'000));
  locals(space);
  EXPECT_TRUE(budget.is_used_up(Resource::debug_steps));
  EXPECT_TRUE(locals(space).empty());
}

} // namespace variables_values_test
