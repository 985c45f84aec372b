// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of variables from DWARF that the tests assemble: each kind of type (DWARF 5, chapter 5) and of
// location (sections 2.5 and 2.6) in both byte orders, and descriptions that are made to cost much.

#include "dwarf_assembler.h"
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
using namespace sframe::test::dwarf;
using sframe::test::dwarf::name;

/// A process with one module, at its own addresses, and a few bytes of memory.
class OneModule final : public ModuleSpace {
public:
  OneModule(Dwarf& dwarf, const AbiTraits& abi, std::span<const TestSection> more = {})
      : abi_(abi), fd_(::memfd_create("program", MFD_CLOEXEC)) {
    TestElf elf = dwarf.build(abi.machine);
    elf.sections.insert(elf.sections.end(), more.begin(), more.end());
    const auto bytes = elf.build();
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
std::map<std::string, std::string> locals(OneModule& space, variables::Settings settings = {}) {
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

constexpr int is_address = 1, is_bool = 2, is_complex = 3, is_float = 4, is_signed = 5, is_char = 6,
              is_unsigned = 7, is_utf = 0x10;
/// fbreg -64: at 0x7fc0.
constexpr std::initializer_list<int> in_frame = {0x91, 0x40};
constexpr std::uint64_t frame_at = 0x7fc0;

/// Words of 8 bytes, little-endian.
void put_words(OneModule& space, std::initializer_list<std::uint64_t> words, std::uint64_t at = frame_at) {
  for (const std::uint64_t word : words)
    for (int i = 0; i < 8; ++i) space.put(at++, {static_cast<int>(word >> 8 * i & 0xff)});
}

/// A local variable for each of these types, with the type's name.
void locals_of(Dwarf& dwarf, std::initializer_list<const char*> types) {
  dwarf.function();
  for (const char* const of : types) dwarf.local(of, of, in_frame);
  dwarf.close();
}

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
  dwarf.open(variable).text(name, "of another class").to(type, "int").number(location, 0);
  dwarf.open(formal_parameter).text(name, "typeless").block(location, {0x53});
  dwarf.open(formal_parameter).text(name, "nothing");
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
      {"of another class", "<not supported>"},
      {"typeless", "<not supported>"},
      {"nothing", "<optimized out>"},
  };
  EXPECT_EQ(locals(space), expected);
}

/// The range that has the address counts, without its end. DWARF 4, section 2.6.2.
TEST(Variables, LocationLists) {
  Writer lists;
  const auto entry = [&](std::uint64_t begin, std::uint64_t end, int operation) {
    lists.u64(begin).u64(end).u16(2).number(static_cast<std::uint64_t>(operation), 1).number(0x9f, 1);
  };
  const auto next = [&] {
    lists.zeros(16);
    return lists.bytes.size();
  };
  entry(0x0, 0x10, 0x31); // relative to the unit's lowest address, 0x1000
  entry(0x10, 0x11, 0x32);
  entry(0x11, 0x20, 0x33);
  const std::size_t outside = next();
  entry(0x0, 0x10, 0x31);
  entry(0x11, 0x20, 0x33);
  const std::size_t other_base = next();
  lists.u64(~std::uint64_t{0}).u64(0x1008);
  entry(0x10, 0x11, 0x31);
  entry(0x8, 0x9, 0x34);
  const std::size_t beyond = next();
  Dwarf dwarf;
  dwarf.base("int", is_signed, 4).function();
  dwarf.open(variable).text(name, "inside").to(type, "int").offset(location, 0);
  dwarf.open(variable).text(name, "outside").to(type, "int").offset(location, outside);
  dwarf.open(variable).text(name, "other base").to(type, "int").offset(location, other_base);
  dwarf.open(variable).text(name, "beyond").to(type, "int").offset(location, beyond);
  dwarf.close();
  const TestSection section{".debug_loc", elf::sht_progbits, 0, 0, lists.bytes};
  OneModule space(dwarf, amd64, std::span(&section, 1));
  const std::map<std::string, std::string> expected = {
      {"inside", "2"}, {"outside", "<optimized out>"}, {"other base", "4"}, {"beyond", "<optimized out>"}};
  EXPECT_EQ(locals(space), expected);
}

TEST(Variables, FrameBases) {
  // The value of fbreg 2.
  const auto value = [](std::initializer_list<int> base) {
    Dwarf dwarf;
    dwarf.base("long", is_unsigned, 8);
    dwarf.open(subprogram).text(name, "function").address(low_pc, 0x1000).number(high_pc, 0x100);
    dwarf.block(frame_base, base).end_attributes();
    dwarf.local("x", "long", {0x91, 2, 0x9f}).close();
    return locals(dwarf).at("x");
  };
  const std::string of_register = std::to_string(0x123456789abcdef2), none = "<optimized out>";
  EXPECT_EQ(value({0x53}), of_register);
  EXPECT_EQ(value({0x73, 1}), std::to_string(0x123456789abcdef3)); // breg3 1
  EXPECT_EQ(value({0x50}), none);                                  // unknown
  EXPECT_EQ(value({0x61}), none);                                  // xmm0
  EXPECT_EQ(value({0x31, 0x9f}), "3");
  EXPECT_EQ(value({0x9e, 2, 0x34, 0x12}), "4662"); // implicit_value
  EXPECT_EQ(value({0x9e, 3, 0x34, 0x12, 0}), none);
  EXPECT_EQ(value({0x9e, 0}), none);
  EXPECT_EQ(value({0x53, 0x93, 4, 0x93, 4}), none); // pieces
  EXPECT_EQ(value({}), none);
}

/// Operations whose operand is the entry of a base type (DWARF 5, section 2.5.1.6).
TEST(Variables, TypedOperations) {
  Dwarf dwarf;
  std::map<std::string, int> at;
  const auto base = [&](const char* called, int kind, std::uint64_t size) {
    dwarf.base(called, kind, size);
    at[called] = static_cast<int>(dwarf.offset());
  };
  base("int", is_signed, 4);
  base("byte", is_unsigned, 1);
  base("float", is_float, 4);
  base("double", is_float, 8);
  base("half", is_float, 2);
  base("wide", is_unsigned, 16);
  base("none", is_unsigned, 0);
  dwarf.open(structure_type).label("structure").number(byte_size, 4);
  at["structure"] = static_cast<int>(dwarf.offset());
  at["beyond"] = 0x3fff;
  dwarf.function();
  // const1s -5, convert, convert, stack_value.
  const auto local = [&](const char* called, const char* of, const char* first, const char* second) {
    const int a = at.at(first), b = at.at(second);
    dwarf.local(called, of,
                {0x09, 0xfb, 0xa8, (a & 0x7f) | 0x80, a >> 7, 0xa8, (b & 0x7f) | 0x80, b >> 7, 0x9f});
  };
  local("signed", "double", "int", "double");
  local("unsigned", "double", "byte", "double");
  local("single", "float", "int", "float");
  for (const char* const wrong : {"half", "wide", "none", "structure", "beyond"})
    local(wrong, "int", "int", wrong);
  dwarf.close();
  const std::map<std::string, std::string> expected = {
      {"signed", "-5"},
      {"unsigned", "251"},
      {"single", "-5"},
      {"half", "<not supported>"},
      {"wide", "<not supported>"},
      {"none", "<not supported>"},
      {"structure", "<not supported>"},
      {"beyond", "<not supported>"},
  };
  EXPECT_EQ(locals(dwarf), expected);
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

// As gdb prints them.
TEST(Variables, FloatingPointNumbers) {
  Dwarf dwarf;
  dwarf.base("float", is_float, 4).base("double", is_float, 8).base("half", is_float, 2);
  dwarf.base("float complex", is_complex, 8).base("double complex", is_complex, 16);
  dwarf.base("long double", is_float, 16).base("_Float128", is_float, 16);
  locals_of(dwarf,
            {"float", "double", "half", "float complex", "double complex", "long double", "_Float128"});
  OneModule space(dwarf, amd64);
  const auto value = [&](const char* of, std::initializer_list<std::uint64_t> words) {
    put_words(space, words);
    return locals(space)[of];
  };
  EXPECT_EQ(value("float", {0x3fc00000}), "1.5");
  EXPECT_EQ(value("float", {0x3dcccccd}), "0.100000001");
  EXPECT_EQ(value("float", {0x39000000}), "0.000122070312"); // 0.0001220703125: a tie, rounded to even
  EXPECT_EQ(value("float", {0x7f800000}), "inf");
  EXPECT_EQ(value("float", {0xff800000}), "-inf");
  EXPECT_EQ(value("float", {0x7fc00001}), "nan(0x400001)");
  EXPECT_EQ(value("float", {0xffc00000}), "-nan(0x400000)");
  EXPECT_EQ(value("double", {0x3fb999999999999a}), "0.10000000000000001");
  EXPECT_EQ(value("double", {0xfff8000000000002}), "-nan(0x8000000000002)");
  EXPECT_EQ(value("half", {0x3c00}), "<not supported>");
  EXPECT_EQ(value("float complex", {0x4000'0000'3fc0'0000}), "1.5 + 2i");
  EXPECT_EQ(value("double complex", {0x3ff8000000000000, 0x4000000000000000}), "1.5 + 2i");
  // x87: 64 bits with the integer bit, then exponent and sign; the rest is padding.
  constexpr std::uint64_t padding = 0x1234'5678'9abc'0000, top = std::uint64_t{1} << 63;
  EXPECT_EQ(value("long double", {top, padding | 0x3fff}), "1");
  EXPECT_EQ(value("long double", {top | top >> 2, padding | 0xc000}), "-2.5");
  EXPECT_EQ(value("long double", {1, padding}), "3.6451995318824746e-4951");        // denormal
  EXPECT_EQ(value("long double", {top, padding | 1}), "3.36210314311209351e-4932"); // the least that is not
  EXPECT_EQ(value("long double", {top, padding | 0x7fff}), "inf");
  EXPECT_EQ(value("long double", {top, padding | 0xffff}), "-inf");
  EXPECT_EQ(value("long double", {top | 1, padding | 0x7fff}), "nan");
  EXPECT_EQ(value("_Float128", {1, 2}), "0x00000000000000020000000000000001");
}

/// binary128, where it is the machine's long double.
TEST(Variables, QuadruplePrecision) {
  Dwarf dwarf;
  dwarf.base("long double", is_float, 16);
  locals_of(dwarf, {"long double"});
  OneModule space(dwarf, traits(Abi::aarch64_little));
  const auto value = [&](std::uint64_t high, std::uint64_t low) {
    put_words(space, {low, high});
    return locals(space)["long double"];
  };
  EXPECT_EQ(value(0x3fff'0000'0000'0000, 0), "1");
  EXPECT_EQ(value(0xc000'4000'0000'0000, 0), "-2.5");
  EXPECT_EQ(value(0x3fff'0000'0000'0000, std::uint64_t{1} << 49), "1.00000000000000000010842021724855044");
  EXPECT_EQ(value(0x7fff'0000'0000'0000, 0), "inf");
  EXPECT_EQ(value(0xffff'0000'0000'0000, 0), "-inf");
  EXPECT_EQ(value(0x7fff'0000'0000'0000, 1), "nan");
  EXPECT_EQ(value(0x7fff'8000'0000'0000, 0), "nan");
  EXPECT_EQ(value(0, 0), "0");
  EXPECT_EQ(value(0x0001'0000'0000'0000, 0), "3.3621031431120935062626778173217526e-4932");
  EXPECT_EQ(value(0x0000'8000'0000'0000, 0), "1.6810515715560467531313389086608763e-4932"); // denormal
}

TEST(Variables, IntegersAndCharacters) {
  Dwarf dwarf;
  dwarf.base("int", is_signed, 4).base("int128", is_signed, 16).base("uint128", is_unsigned, 16);
  dwarf.base("char8", is_utf, 1).base("char16", is_utf, 2).base("char32", is_utf, 4);
  dwarf.base("char", is_char, 1).base("bool", is_bool, 1).base("address", is_address, 4);
  dwarf.base("other", 0x55, 2).base("odd", is_unsigned, 12).base("none", is_signed, 0);
  dwarf.open(type_definition).label("wchar_t").text(name, "wchar_t").to(type, "int");
  dwarf.open(type_definition).label("mine").text(name, "mine").to(type, "wchar_t");
  dwarf.open(const_type).label("const").to(type, "mine");
  dwarf.open(volatile_type).label("volatile").to(type, "const");
  locals_of(dwarf, {"int128", "uint128", "char8", "char16", "char32", "char", "bool", "address", "other",
                    "odd", "none", "wchar_t", "volatile"});
  OneModule space(dwarf, amd64);
  const auto value = [&](const char* of, std::initializer_list<std::uint64_t> words) {
    put_words(space, words);
    return locals(space)[of];
  };
  constexpr std::uint64_t ones = ~std::uint64_t{0};
  EXPECT_EQ(value("int128", {ones, ones}), "-1");
  EXPECT_EQ(value("int128", {0, std::uint64_t{1} << 63}), "-170141183460469231731687303715884105728");
  EXPECT_EQ(value("int128", {0, 1}), "18446744073709551616");
  EXPECT_EQ(value("int128", {0, 0}), "0");
  EXPECT_EQ(value("uint128", {ones, ones}), "340282366920938463463374607431768211455");
  EXPECT_EQ(value("char8", {'a'}), "97 'a'");
  EXPECT_EQ(value("char16", {'a'}), "97 u'a'");
  EXPECT_EQ(value("char16", {0x20ac}), "8364 u'\\x20ac'");
  EXPECT_EQ(value("char32", {0x7f}), "127 U'\\177'");
  EXPECT_EQ(value("char32", {0x80}), "128 U'\\x80'");
  EXPECT_EQ(value("wchar_t", {'a'}), "97 L'a'");
  EXPECT_EQ(value("volatile", {0x20ac}), "8364 L'\\x20ac'");
  const std::pair<int, const char*> characters[] = {
      {7, "7 '\\a'"},   {8, "8 '\\b'"},        {9, "9 '\\t'"},      {10, "10 '\\n'"},
      {11, "11 '\\v'"}, {12, "12 '\\f'"},      {13, "13 '\\r'"},    {0x1f, "31 '\\037'"},
      {' ', "32 ' '"},  {'\'', "39 '\\''"},    {'"', "34 '\"'"},    {'\\', "92 '\\\\'"},
      {'~', "126 '~'"}, {0x7f, "127 '\\177'"}, {0xff, "-1 '\\377'"}};
  for (const auto& [code, text] : characters)
    EXPECT_EQ(value("char", {static_cast<std::uint64_t>(code)}), text);
  EXPECT_EQ(value("bool", {0}), "false");
  EXPECT_EQ(value("bool", {1}), "true");
  EXPECT_EQ(value("bool", {2}), "2");
  EXPECT_EQ(value("address", {0x12345678}), "0x12345678");
  EXPECT_EQ(value("other", {0xffff}), "65535");
  EXPECT_EQ(value("odd", {0, 0}), "<not supported>");
  EXPECT_EQ(value("none", {0, 0}), "<not supported>");
}

TEST(Variables, Enumerations) {
  Dwarf dwarf;
  const auto enumeration = [&](const char* label,
                               std::initializer_list<std::pair<const char*, std::int64_t>> all) {
    dwarf.open(enumeration_type).label(label).number(byte_size, 1).end_attributes();
    for (const auto& [called, value] : all)
      dwarf.open(enumerator).text(name, called).number(const_value, static_cast<std::uint64_t>(value));
    dwarf.open(enumerator).text(name, "valueless");
    dwarf.close();
  };
  enumeration("bits", {{"one", 1}, {"four", 4}, {"top", 0x80}});
  enumeration("signed", {{"minus", -1}, {"one", 1}});
  enumeration("numbers", {{"three", 3}, {"eight", 8}});
  enumeration("zero", {{"nothing", 0}, {"one", 1}});
  dwarf.base("short", is_unsigned, 2);
  dwarf.open(enumeration_type).label("sized").to(type, "short").end_attributes();
  dwarf.open(enumerator).text(name, "large").number(const_value, 0x1234).close();
  locals_of(dwarf, {"bits", "signed", "numbers", "zero", "sized"});
  OneModule space(dwarf, amd64);
  const auto value = [&](const char* of, int byte) {
    space.put(frame_at, {byte, 0x12});
    return locals(space)[of];
  };
  EXPECT_EQ(value("bits", 4), "four");
  EXPECT_EQ(value("bits", 0x85), "(one | four | top)");
  EXPECT_EQ(value("bits", 0x0b), "(one | unknown: 0xa)");
  EXPECT_EQ(value("bits", 0x0a), "(unknown: 0xa)");
  EXPECT_EQ(value("bits", 0), "0");
  EXPECT_EQ(value("signed", 0xff), "minus");
  EXPECT_EQ(value("signed", 0xfe), "-2");
  EXPECT_EQ(value("signed", 1), "one");
  EXPECT_EQ(value("numbers", 11), "11");
  EXPECT_EQ(value("numbers", 0xff), "255");
  EXPECT_EQ(value("zero", 0), "nothing");
  EXPECT_EQ(value("sized", 0x34), "large");
}

TEST(Variables, PointersAndReferences) {
  Dwarf dwarf;
  dwarf.base("int", is_signed, 4);
  dwarf.open(subroutine_type).label("code");
  dwarf.open(pointer_type).label("int *").to(type, "int");
  dwarf.open(pointer_type).label("void *");
  dwarf.open(pointer_type).label("code *").to(type, "code");
  dwarf.open(pointer_type).label("small").to(type, "int").number(byte_size, 4);
  dwarf.open(pointer_type).label("large").to(type, "int").number(byte_size, 16);
  dwarf.open(reference_type).label("int &").to(type, "int");
  dwarf.open(rvalue_reference_type).label("int &&").to(type, "int");
  dwarf.open(unspecified_type).label("nullptr_t");
  dwarf.open(pointer_to_member).label("int C::*").to(type, "int");
  dwarf.open(pointer_to_member).label("code C::*").to(type, "code");
  dwarf.open(structure_type).label("holder").number(byte_size, 8).end_attributes();
  dwarf.open(member).text(name, "r").to(type, "int &").number(data_member_location, 0).close();
  locals_of(dwarf, {"int *", "void *", "code *", "small", "large", "int &", "int &&", "nullptr_t", "int C::*",
                    "code C::*", "holder"});
  OneModule space(dwarf, amd64);
  put_words(space, {0x9000, ~std::uint64_t{0} - 7});
  space.put(0x9000, {5, 0, 0, 0});
  std::map<std::string, std::string> expected = {
      {"int *", "0x9000"},          {"void *", "0x9000"},
      {"code *", "0x9000"},         {"small", "0x9000"},
      {"large", "<not supported>"}, {"int &", "@0x9000: 5"},
      {"int &&", "@0x9000: 5"},     {"nullptr_t", "0x9000"},
      {"int C::*", "0x9000"},       {"code C::*", "0x9000, adjusted by -8"},
      {"holder", "{r = @0x9000}"},
  };
  EXPECT_EQ(locals(space), expected);
  put_words(space, {0x1000});
  EXPECT_EQ(locals(space)["code *"], "0x1000 <target>");
  EXPECT_EQ(locals(space)["int *"], "0x1000");
  EXPECT_EQ(locals(space)["int &"], "@0x1000: <cannot read memory at 0x1000>");
  put_words(space, {0x1010});
  EXPECT_EQ(locals(space)["code *"], "0x1010 <target+16>");
  put_words(space, {0});
  EXPECT_EQ(locals(space)["code *"], "0x0");
}

TEST(Variables, Structures) {
  Dwarf dwarf;
  dwarf.base("int", is_signed, 4).base("bool", is_bool, 1).base("char", is_char, 1);
  dwarf.open(enumeration_type).label("color").number(byte_size, 4).end_attributes();
  dwarf.open(enumerator).text(name, "red").number(const_value, 1).close();
  dwarf.open(structure_type).label("empty").number(byte_size, 1).end_attributes().close();
  dwarf.open(structure_type).label("unknown").text(name, "unknown").number(declaration, 1);
  dwarf.open(class_type).label("base").text(name, "Base").number(byte_size, 4).end_attributes();
  dwarf.open(member).text(name, "x").to(type, "int").number(data_member_location, 0).close();
  dwarf.open(structure_type).label("derived").number(byte_size, 16).end_attributes();
  dwarf.open(inheritance).to(type, "base").number(data_member_location, 4);
  dwarf.open(member).text(name, "shared").to(type, "int").number(external, 1).number(declaration, 1);
  dwarf.open(member).text(name, "y").to(type, "int").block(data_member_location, {0x23, 8}); // plus_uconst 8
  dwarf.open(member).to(type, "base").number(data_member_location, 12).close();
  dwarf.open(union_type).label("union").number(byte_size, 4).end_attributes();
  dwarf.open(member).text(name, "i").to(type, "int");
  dwarf.open(member).text(name, "c").to(type, "char").close();
  dwarf.open(structure_type).label("variants").number(byte_size, 4).end_attributes();
  dwarf.open(variant_part).end_attributes().close();
  dwarf.open(member).text(name, "after").to(type, "int").number(data_member_location, 0).close();
  // DWARF 4's numbering from the lowest bit, DWARF 2's from the highest of a storage unit.
  dwarf.open(structure_type).label("fields").number(byte_size, 4).end_attributes();
  dwarf.open(member).text(name, "a").to(type, "int").number(bit_size, 3).number(data_bit_offset, 0);
  dwarf.open(member).text(name, "b").to(type, "int").number(bit_size, 10).number(data_bit_offset, 3);
  dwarf.open(member).text(name, "c").to(type, "color").number(bit_size, 2).number(bit_offset, 17);
  dwarf.open(member)
      .text(name, "d")
      .to(type, "bool")
      .number(bit_size, 1)
      .number(byte_size, 4)
      .number(bit_offset, 0);
  dwarf.open(member).text(name, "e").to(type, "int").number(bit_size, 8).number(bit_offset, 30);
  dwarf.open(member).text(name, "f").to(type, "base").number(bit_size, 8).number(data_bit_offset, 0);
  dwarf.open(member).text(name, "g").to(type, "int").number(bit_size, 65).number(data_bit_offset, 0);
  dwarf.close();
  locals_of(dwarf, {"empty", "unknown", "derived", "union", "variants", "fields"});
  OneModule space(dwarf, amd64);
  put_words(space, {0x7'0000'0000, 0xfffffffe'00000009});
  std::map<std::string, std::string> expected = {
      {"empty", "{<no data fields>}"},
      {"unknown", "<incomplete type>"},
      {"derived", "{<Base> = {x = 7}, y = 9, {x = -2}}"},
      {"union", "{i = 0, c = 0 '\\000'}"},
      {"variants", "<not supported>"}, // has no discriminant
      {"fields",
       "{a = 0, b = 0, c = 0, d = false, e = <not supported>, f = <not supported>, g = <not supported>}"},
  };
  EXPECT_EQ(locals(space), expected);
  // a: 101, b: 1000000001, c (bits 13 and 14): 01, d (bit 31): 1.
  put_words(space, {5 | 0x201 << 3 | 1 << 13 | std::uint64_t{1} << 31});
  EXPECT_EQ(locals(space)["fields"].substr(0, 43), "{a = -3, b = -511, c = red, d = true, e = <");
}

/// Only members and base classes are printed; each member is missing or not.
TEST(Variables, PartsOfStructures) {
  Dwarf dwarf;
  dwarf.base("int", is_signed, 4);
  dwarf.open(structure_type).label("pair").number(byte_size, 8).end_attributes();
  dwarf.open(member).text(name, "a").to(type, "int").number(data_member_location, 0);
  dwarf.open(structure_type).text(name, "inner").number(byte_size, 4);
  dwarf.open(subprogram).text(name, "method");
  dwarf.open(member).text(name, "b").to(type, "int").number(data_member_location, 4).close();
  dwarf.open(reference_type).label("reference").to(type, "pair");
  dwarf.function();
  dwarf.local("pair", "pair", in_frame);
  dwarf.local("second", "pair", {0x93, 4, 0x53, 0x93, 4}); // piece 4, reg3 piece 4
  dwarf.local("reference", "reference", in_frame);
  dwarf.close();
  OneModule space(dwarf, amd64);
  put_words(space, {frame_at, 0x2'0000'0001});
  std::map<std::string, std::string> expected = {
      {"pair", "{a = 32704, b = 0}"},
      {"second", "{a = <optimized out>, b = -1698898192}"},
      {"reference", "@0x7fc0: {a = 32704, b = 0}"},
  };
  EXPECT_EQ(locals(space), expected);
  // What is referred to is one level further in.
  variables::Settings settings;
  settings.depth = 1;
  expected["reference"] = "@0x7fc0: {...}";
  EXPECT_EQ(locals(space, settings), expected);
  settings.depth = 2;
  expected["reference"] = "@0x7fc0: {a = 32704, b = 0}";
  EXPECT_EQ(locals(space, settings), expected);
}

/// Structures of which a discriminant chooses a part (DWARF 5, section 5.7.10).
TEST(Variables, Variants) {
  Dwarf dwarf;
  dwarf.base("int", is_signed, 4).base("byte", is_unsigned, 1).base("wide", is_unsigned, 16);
  dwarf.open(structure_type).label("None").text(name, "None").number(byte_size, 8);
  dwarf.open(structure_type).label("Some").text(name, "Some").number(byte_size, 8).end_attributes();
  dwarf.open(member).text(name, "__0").to(type, "int").number(data_member_location, 4).close();
  const auto variant_of = [&](const char* of, std::optional<std::uint64_t> value) {
    dwarf.open(variant);
    if (value) dwarf.number(discr_value, *value);
    dwarf.end_attributes();
    dwarf.open(member).to(type, of).number(data_member_location, 0).close();
  };
  const auto open_part = [&](const std::string& label, const char* of, std::uint64_t at) {
    dwarf.open(variant_part).to(discr, label + " discriminant").end_attributes();
    dwarf.open(member).label(label + " discriminant").to(type, of).number(data_member_location, at);
  };
  dwarf.open(structure_type).label("option").number(byte_size, 8).end_attributes();
  open_part("option", "byte", 0);
  variant_of("None", 0);
  variant_of("Some", ~std::uint64_t{0}); // the low byte counts
  dwarf.close().close();
  dwarf.open(structure_type).label("default").number(byte_size, 8).end_attributes();
  open_part("default", "byte", 0);
  variant_of("Some", std::nullopt);
  variant_of("None", 1);
  dwarf.close().close();
  dwarf.open(structure_type).label("second").number(byte_size, 8).end_attributes();
  dwarf.open(member).text(name, "a").to(type, "byte").number(data_member_location, 1);
  open_part("second", "byte", 0);
  variant_of("None", 0);
  variant_of("Some", 1);
  dwarf.close().close();
  dwarf.open(structure_type).label("list").number(byte_size, 8).end_attributes();
  open_part("list", "byte", 0);
  dwarf.open(variant).block(discr_list, {0, 1}).end_attributes();
  dwarf.open(member).to(type, "None").number(data_member_location, 0).close();
  dwarf.close().close();
  dwarf.open(structure_type).label("wide one").number(byte_size, 16).end_attributes();
  open_part("wide one", "wide", 0);
  variant_of("Some", std::nullopt);
  dwarf.close().close();
  dwarf.open(structure_type).label("far").number(byte_size, 0x41).end_attributes();
  open_part("far", "byte", 0x40);
  variant_of("Some", std::nullopt);
  dwarf.close().close();
  dwarf.open(structure_type).label("hollow").number(byte_size, 8).end_attributes();
  open_part("hollow", "byte", 0);
  dwarf.open(variant).end_attributes().close();
  dwarf.close().close();
  // A variant that is of the structure's own type.
  dwarf.open(structure_type).label("circle").text(name, "Circle").number(byte_size, 8).end_attributes();
  dwarf.open(variant_part).end_attributes();
  variant_of("circle", std::nullopt);
  dwarf.close();
  dwarf.open(member).text(name, "a").to(type, "byte").number(data_member_location, 0).close();
  locals_of(dwarf, {"option", "default", "second", "list", "wide one", "far", "hollow", "circle"});
  OneModule space(dwarf, amd64);
  put_words(space, {0x5'0000'0000});
  std::map<std::string, std::string> expected = {
      {"option", "None"},
      {"default", "Some {__0 = 5}"},
      {"second", "{a = 0, None}"},
      {"list", "<not supported>"},
      {"wide one", "<not supported>"},
      {"far", "<cannot read memory at 0x8000>"},
      {"hollow", "<not supported>"},
      {"circle", "Circle Circle Circle Circle Circle Circle {...}"},
  };
  EXPECT_EQ(locals(space), expected);
  put_words(space, {0x6'0000'0001});
  EXPECT_EQ(locals(space)["option"], "<not supported>");
  EXPECT_EQ(locals(space)["default"], "None");
  EXPECT_EQ(locals(space)["second"], "{a = 0, Some {__0 = 6}}");
  put_words(space, {0x7'0000'02ff});
  EXPECT_EQ(locals(space)["option"], "Some {__0 = 7}");
  EXPECT_EQ(locals(space)["default"], "Some {__0 = 7}");
}

TEST(Variables, Arrays) {
  Dwarf dwarf;
  dwarf.base("int", is_signed, 4).base("char", is_char, 1).base("byte", is_unsigned, 1);
  const auto array = [&](const char* label, const char* of, std::initializer_list<std::uint64_t> counts) {
    dwarf.open(array_type).label(label).to(type, of).end_attributes();
    for (const std::uint64_t n : counts) dwarf.open(subrange_type).number(count, n);
    dwarf.close();
  };
  array("matrix", "int", {2, 2});
  array("nine", "byte", {9});
  array("twelve", "byte", {12});
  array("none", "int", {0});
  array("dimensionless", "int", {});
  array("characters", "char", {300});
  array("lines", "char", {2, 4});
  dwarf.open(array_type).label("bounds").to(type, "int").end_attributes();
  dwarf.open(subrange_type).number(lower_bound, 3).number(upper_bound, 4).close();
  dwarf.open(array_type).label("open").to(type, "int").end_attributes();
  dwarf.open(subrange_type).close();
  dwarf.open(array_type).label("negative").to(type, "int").end_attributes();
  dwarf.open(subrange_type).number(upper_bound, ~std::uint64_t{0}).close();
  dwarf.open(array_type).label("strided").to(type, "int").number(byte_stride, 8).end_attributes();
  dwarf.open(subrange_type).number(count, 2).close();
  dwarf.open(array_type).label("variable").to(type, "int").end_attributes();
  dwarf.open(subrange_type).to(upper_bound, "last").close();
  dwarf.function();
  dwarf.open(variable).label("last").text(name, "last").to(type, "int").block(location, {0x31, 0x9f}); // 1
  for (const char* const of : {"matrix", "nine", "twelve", "none", "dimensionless", "characters", "lines",
                               "bounds", "open", "negative", "strided", "variable"})
    dwarf.local(of, of, in_frame);
  dwarf.close();
  OneModule space(dwarf, amd64);
  put_words(space, {0x2'0000'0001, 0x4'0000'0003});
  auto found = locals(space);
  EXPECT_EQ(found["matrix"], "{{1, 2}, {3, 4}}");
  EXPECT_EQ(found["nine"], "{1, 0, 0, 0, 2, 0, 0, 0, 3}");
  EXPECT_EQ(found["none"], "{}");
  EXPECT_EQ(found["dimensionless"], "<not supported>");
  EXPECT_EQ(found["lines"], "{\"\\001\", \"\\002\"}");
  EXPECT_EQ(found["bounds"], "{1, 2}");
  EXPECT_EQ(found["open"], "{}");
  EXPECT_EQ(found["negative"], "{}");
  EXPECT_EQ(found["strided"], "<not supported>");
  EXPECT_EQ(found["variable"], "{1, 2}");
  for (std::uint64_t i = 0; i < 300; ++i) space.put(frame_at + i, {'y'});
  found = locals(space);
  EXPECT_EQ(found["nine"], "{121, 121, 121, 121, 121, 121, 121, 121, 121}");
  EXPECT_EQ(found["twelve"], "{121 <repeats 12 times>}");
  EXPECT_EQ(found["characters"].find_first_not_of('y', 1), 201u);
  EXPECT_EQ(found["characters"].substr(201), "\"...");
  space.put(frame_at + 11, {0});
  EXPECT_EQ(locals(space)["twelve"], "{121 <repeats 11 times>, 0}");
  space.put(frame_at + 8, {'\'', '"', 0, 'z'});
  EXPECT_EQ(locals(space)["lines"], "{\"yyyy\", \"yyyy\"}");
  EXPECT_EQ(locals(space)["characters"].substr(0, 18), "\"yyyyyyyy'\\\"\\000zy");
}

/// The settings limit the numbers of variables, of elements and levels, and the text.
TEST(Variables, SettingsLimit) {
  Dwarf dwarf;
  dwarf.base("int", is_signed, 4).base("byte", is_unsigned, 1);
  dwarf.open(array_type).label("array").to(type, "int").end_attributes();
  dwarf.open(subrange_type).number(count, 4).close();
  dwarf.open(structure_type).label("pair").number(byte_size, 8).end_attributes();
  dwarf.open(member).text(name, std::string(201, 'n')).to(type, "int").number(data_member_location, 0);
  dwarf.open(member).text(name, "b").to(type, "array").number(data_member_location, 0).close();
  dwarf.function();
  dwarf.open(formal_parameter).text(name, "argument").to(type, "int").block(location, in_frame);
  dwarf.local("array", "array", in_frame);
  dwarf.local("pair", "pair", in_frame);
  dwarf.close();
  OneModule space(dwarf, amd64);
  put_words(space, {0x2'0000'0001, 0x4'0000'0003});
  // The name of 201 letters is cut.
  const auto after_name = [](const std::string& value) {
    EXPECT_EQ(value.find_first_not_of('n', 1), 201u);
    return value.substr(201);
  };
  EXPECT_EQ(after_name(locals(space).at("pair")), "... = 1, b = {1, 2, 3, 4}}");
  variables::Settings settings;
  settings.variables = 1; // arguments and locals count separately
  EXPECT_EQ(locals(space, settings).size(), 2u);
  EXPECT_FALSE(locals(space, settings).contains("pair"));
  settings = {};
  settings.depth = 1;
  EXPECT_EQ(after_name(locals(space, settings).at("pair")), "... = 1, b = {...}}");
  settings = {};
  settings.text = 10;
  EXPECT_EQ(locals(space, settings).at("array"), "{1, 2, 3, ...");
  EXPECT_EQ(locals(space, settings).at("argument"), "1");
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
  dwarf.open(try_block).address(low_pc, 0x1010).number(high_pc, 1).end_attributes();
  dwarf.local("tried", "int", {0x35, 0x9f}).close();
  dwarf.open(catch_block).address(low_pc, 0x1000).number(high_pc, 0x100).end_attributes();
  dwarf.local("caught", "int", {0x36, 0x9f}).close();
  dwarf.close();
  const std::map<std::string, std::string> expected = {
      {"outer", "1"}, {"inner", "3"}, {"anywhere", "4"}, {"tried", "5"}, {"caught", "6"}};
  EXPECT_EQ(locals(dwarf), expected);
}

/// Of an inlined call, what its instance does not have is optimized out (DWARF 5, section 3.3.8.2); the
/// arguments are in the order of the declaration.
TEST(Variables, InlinedCalls) {
  Dwarf dwarf;
  dwarf.base("int", is_signed, 4);
  dwarf.open(subprogram).label("abstract").text(name, "abstract").end_attributes();
  for (const char* const called : {"a", "b", "c", "d"})
    dwarf.open(formal_parameter).label(called).text(name, called).to(type, "int");
  for (const char* const called : {"v", "w"})
    dwarf.open(variable).label(called).text(name, called).to(type, "int");
  dwarf.open(lexical_block).label("block").end_attributes();
  dwarf.open(variable).label("z").text(name, "z").to(type, "int");
  dwarf.open(formal_parameter).text(name, "of no function").to(type, "int").close();
  dwarf.close();
  dwarf.function();
  dwarf.local("outer", "int", {0x31, 0x9f});
  dwarf.open(inlined_subroutine)
      .to(abstract_origin, "abstract")
      .address(low_pc, 0x1010)
      .number(high_pc, 0x10);
  dwarf.end_attributes();
  dwarf.open(formal_parameter).to(abstract_origin, "d").block(location, {0x34, 0x9f});
  dwarf.open(formal_parameter).to(abstract_origin, "b").block(location, {0x32, 0x9f});
  dwarf.open(variable).to(abstract_origin, "w").block(location, {0x35, 0x9f});
  dwarf.open(lexical_block).to(abstract_origin, "block").address(low_pc, 0x1010).number(high_pc, 4);
  dwarf.end_attributes().close();
  dwarf.close().close();
  OneModule space(dwarf, amd64);
  variables::Settings settings;
  settings.arguments = settings.locals = settings.inlined = true;
  variables::Finder finder(space, {}, std::make_shared<modules::DebugInfoCache>(), settings);
  Frame frame;
  frame.pc = 0x1010;
  const auto scopes = finder.find(frame, {});
  const auto text = [](std::span<const variables::Variable> list) {
    std::string result;
    for (const variables::Variable& one : list) result += one.name + "=" + one.value + " ";
    return result;
  };
  ASSERT_EQ(scopes.size(), 2u);
  EXPECT_EQ(text(scopes[0].arguments), "a=<optimized out> b=2 c=<optimized out> d=4 ");
  EXPECT_EQ(text(scopes[0].locals), "z=<optimized out> w=5 v=<optimized out> ");
  EXPECT_EQ(text(scopes[1].arguments), "");
  EXPECT_EQ(text(scopes[1].locals), "outer=1 ");
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

/// Entries that end with the end of an inner list: LLVM would go on beyond the end of the outer ones.
TEST(Variables, CutEntries) {
  for (const bool is_cut : {false, true}) {
    Dwarf dwarf;
    dwarf.base("int", is_signed, 4).function();
    dwarf.open(lexical_block).end_attributes();
    dwarf.local("n", "int", {0x35, 0x9f}).close();
    if (is_cut)
      dwarf.cut();
    else
      dwarf.close();
    const auto found = locals(dwarf);
    EXPECT_EQ(found.size(), is_cut ? 0u : 1u);
  }
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

TEST(Variables, BudgetOfNames) {
  Dwarf dwarf;
  dwarf.base("int", is_signed, 4).function();
  dwarf.local("ab", "int", {0x31, 0x9f}).local("cd", "int", {0x31, 0x9f}).close();
  OneModule space(dwarf, amd64);
  EXPECT_EQ(locals(space).size(), 2u);
  Budget& budget = *space.budget();
  EXPECT_TRUE(budget.take(Resource::name_bytes, budget.left(Resource::name_bytes) - 3));
  EXPECT_EQ(locals(space), (std::map<std::string, std::string>{{"ab", "1"}}));
}

} // namespace variables_values_test
