// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registered code, found through valid and damaged lists in synthetic memory of either byte order.

#include "cfi_assembler.h"
#include "elf_builder.h"
#include "made_up_process.h"

#include "sframe/modules/dynamic_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace modules_dynamic_test {

using namespace sframe;
using namespace sframe::modules;
using namespace sframe::unwind;
using test::Bytes;

constexpr std::uint64_t library = 0x10000, descriptor = 0x20000, dyn_list = 0x21000, entries = 0x30000,
                        file_at = 0x40000, code_at = 0x50000, strings = 0x60000, regions = 0x70000,
                        frames_at = 0x80000, table_at = 0x90000;

/// A process whose code is at `code_at`, and a library that has the symbol of a list.
class Process final : public test::MadeUpProcess {
public:
  explicit Process(Abi abi) : MadeUpProcess(abi), code_(*this, files_, *this, modules_) {}

  bool is_code(std::uint64_t address) override { return address >= code_at && address < code_at + 0x1000; }
  Module* module_at(std::uint64_t address) override {
    if (Module* module = MadeUpProcess::module_at(address)) return module;
    return code_.module_at(address);
  }

  void add_library(std::string_view symbol, std::uint64_t value, std::uint64_t at = library) {
    MadeUpProcess::add_library("library", {{symbol, value}}, at);
  }

  /// A jit_descriptor and a list of entries, as far as they are given.
  void add_jit_list(std::uint32_t version, std::uint64_t first) {
    put(descriptor, bytes().u32(version).u32(0).u64(0).u64(first));
  }
  void add_jit_entry(std::uint64_t at, std::uint64_t next, std::uint64_t file, std::uint64_t size) {
    words(at, {next, 0, file, size});
  }

  DynamicCode& code() { return code_; }

private:
  DynamicCode code_;
};

/// .eh_frame for 32 bytes of code at `code_at`, with absolute addresses: the CFA is SP + 48.
test::CfiAssembler frames(const AbiTraits& abi, std::uint64_t load_offset = 0) {
  test::CfiAssembler cfi(cfi::SectionKind::eh_frame, abi.byte_order);
  const auto cie = cfi.cie(cfi.body().raw({1, 0, 1, 0x78}).uleb(abi.ra).raw({0x0c}).uleb(abi.sp).raw({48}));
  cfi.fde(cie, cfi.body().u64(code_at - load_offset).u64(32));
  return cfi;
}

/// The image of a function at `code_at`, as an object whose sections have addresses, or as a linked file.
std::vector<std::byte> jit_file(const AbiTraits& abi, std::uint16_t type,
                                std::string_view name = "compiled") {
  test::Writer names(abi.byte_order);
  names.text("", 1).text(name, name.size() + 1);
  std::vector<std::byte> symbols(24);
  const std::uint64_t value = type == elf::et_rel ? 8 : code_at + 8;
  const auto entry = test::symbol(1, 0x12, 1, value, 16, abi.byte_order);
  symbols.insert(symbols.end(), entry.begin(), entry.end());
  const std::vector<std::byte> text(32);
  return test::TestElf{.order = abi.byte_order,
                       .type = type,
                       .machine = abi.machine,
                       .sections = {{.name = ".text",
                                     .flags = elf::shf_alloc | elf::shf_execinstr,
                                     .address = code_at,
                                     .bytes = text},
                                    {.name = ".eh_frame",
                                     .flags = elf::shf_alloc,
                                     .address = frames_at,
                                     .bytes = frames(abi).bytes().get()},
                                    {.name = ".symtab",
                                     .type = elf::sht_symtab,
                                     .bytes = symbols,
                                     .link = 4,
                                     .info = 1,
                                     .entsize = 24},
                                    {.name = ".strtab", .type = elf::sht_strtab, .bytes = names.bytes}},
                       .segments = {}}
      .build();
}

std::int64_t cfa_offset(Module& module, std::uint64_t address) {
  CfiMatch answer;
  return module.tables().find_cfi(module.link(address), answer) ? answer.row.cfa.offset : -1;
}

class EachAbi : public testing::TestWithParam<Abi> {
protected:
  Process process{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(DynamicCode, EachAbi,
                         testing::Values(Abi::amd64, Abi::aarch64_little, Abi::aarch64_big, Abi::s390x),
                         [](const auto& one) { return std::string(traits(one.param).name); });

TEST_P(EachAbi, ElfFilesInMemory) {
  for (const std::uint16_t type : {elf::et_rel, elf::et_dyn}) {
    Process space(GetParam());
    space.add_library("__jit_debug_descriptor", descriptor);
    space.add_jit_list(1, entries);
    const auto file = jit_file(space.abi(), type);
    space.add_jit_entry(entries, 0, file_at, file.size());
    space.put(file_at, file);
    Module* module = space.module_at(code_at + 12);
    ASSERT_TRUE(module);
    EXPECT_EQ(module->name(), "[jit]");
    EXPECT_EQ(module->info().start, code_at);
    EXPECT_EQ(module->info().end, code_at + 32);
    const auto symbol = module->symbols().find(LinkAddress(code_at + 12));
    ASSERT_TRUE(symbol);
    EXPECT_EQ(symbol->symbol->name, "compiled");
    EXPECT_EQ(symbol->offset, 4u);
    EXPECT_EQ(cfa_offset(*module, code_at + 12), 48);
    EXPECT_FALSE(space.module_at(code_at + 32));
    EXPECT_FALSE(space.modules().front().file().is_used()); // the library was only searched
  }
}

/// Without section headers, segments lead to the code. Data between two ranges of code is not the module's.
TEST_P(EachAbi, CodeOfFilesInMemory) {
  const std::vector<std::byte> text(32), data(0x100);
  const std::uint64_t second_at = code_at + 0x200, data_at = code_at + 0x100;
  constexpr std::uint64_t alloc = elf::shf_alloc, code = elf::shf_alloc | elf::shf_execinstr;
  const test::TestElf by_segments{
      .order = process.abi().byte_order,
      .type = elf::et_dyn,
      .machine = process.abi().machine,
      .sections = {},
      .segments = {{.address = data_at, .bytes = data},
                   {.flags = elf::pf_r | elf::pf_x, .address = code_at, .bytes = text},
                   {.flags = elf::pf_r | elf::pf_x, .address = second_at, .bytes = text}}};
  const test::TestElf by_sections{
      .order = process.abi().byte_order,
      .type = elf::et_dyn,
      .machine = process.abi().machine,
      .sections =
          {{.name = ".data", .flags = alloc, .address = data_at, .bytes = data},
           {.name = ".text", .flags = code, .address = code_at, .bytes = text},
           {.name = ".empty", .flags = code, .address = code_at + 0x80},
           {.name = ".comment", .flags = elf::shf_execinstr, .address = code_at + 0x90, .bytes = text},
           {.name = ".text.2", .flags = code, .address = second_at, .bytes = text}},
      .segments = {{.flags = elf::pf_x, .address = code_at, .bytes = data}}};
  for (const test::TestElf& elf : {by_segments, by_sections}) {
    Process space(GetParam());
    space.add_library("__jit_debug_descriptor", descriptor);
    space.add_jit_list(1, entries);
    auto file = elf.build();
    if (!elf.sections.empty()) { // what follows the last section header is none
      Bytes more = space.bytes();
      more.u32(0).u32(elf::sht_progbits).u64(code).u64(code_at + 0x300).u64(0).u64(32).u64(0).u64(0).u64(0);
      file.insert(file.end(), more.get().begin(), more.get().end());
    }
    space.add_jit_entry(entries, 0, file_at, file.size());
    space.put(file_at, file);
    Module* module = space.module_at(code_at);
    ASSERT_TRUE(module);
    EXPECT_EQ(module->info().start, code_at);
    EXPECT_EQ(module->info().end, second_at + 32);
    EXPECT_EQ(space.module_at(second_at), module);
    EXPECT_EQ(space.module_at(second_at + 31), module);
    for (const std::uint64_t outside : {code_at - 1, code_at + 32, code_at + 0x80, code_at + 0x90, data_at,
                                        second_at - 1, second_at + 32, code_at + 0x300})
      EXPECT_FALSE(space.module_at(outside)) << std::hex << outside;
  }
}

/// The head of libunwind's list, and one unw_dyn_info_t with the last four words.
void add_dyn_info(Process& process, std::int32_t format, std::uint64_t load_offset,
                  std::initializer_list<std::uint64_t> words) {
  process.put(dyn_list, process.bytes().u32(0).u32(1).u64(entries));
  Bytes entry = process.bytes();
  entry.u64(0).u64(0).u64(code_at).u64(code_at + 32).u64(0).u32(static_cast<std::uint32_t>(format)).u32(0);
  entry.u64(load_offset);
  for (const std::uint64_t word : words) entry.u64(word);
  process.put(entries, entry);
}

TEST_P(EachAbi, Procedures) {
  const AbiTraits& abi = process.abi();
  process.add_library("_U_dyn_info_list", dyn_list);
  process.put(strings, process.bytes().text("a procedure"));
  add_dyn_info(process, 0, 0, {strings, 0, 0, regions});
  // Not in order, and what is after the stop does not count.
  Bytes region = process.bytes();
  region.u64(0).u32(32).u32(9);
  region.u8(3).u8(0).u16(abi.fp).u32(4).u64(16);                              // spill FP at SP + 16, after 4
  region.u8(4).u8(0).u16(abi.sp).u32(0).u64(static_cast<std::uint64_t>(-64)); // add -64 to SP, after 0
  region.u8(0).u8(0).u16(0).u32(0).u64(0);
  region.u8(4).u8(0).u16(abi.sp).u32(0).u64(1000);
  process.put(regions, region);
  Module* module = process.module_at(code_at);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->symbols().find(LinkAddress(code_at + 5))->symbol->name, "a procedure");
  EXPECT_EQ(module->tables().function_at(LinkAddress(code_at))->size, 32u);
  EXPECT_EQ(cfa_offset(*module, code_at), abi.entry_cfa_offset);
  EXPECT_EQ(cfa_offset(*module, code_at + 4), abi.entry_cfa_offset + 64);
  CfiMatch answer;
  ASSERT_TRUE(module->tables().find_cfi(LinkAddress(code_at + 24), answer));
  EXPECT_EQ(answer.row.rule(abi.fp).offset, 16 - 64 - abi.entry_cfa_offset);
}

/// The starts count from the segment's base or from start_ip, the FDEs from the base; what the FDEs have may
/// be off by the load offset.
TEST_P(EachAbi, Tables) {
  for (const std::int32_t format : {1, 2, 4}) {
    Process space(GetParam());
    const std::uint64_t base = frames_at - 0x100, load_offset = 0x1000;
    space.put(frames_at, frames(space.abi(), load_offset).bytes());
    const std::uint64_t fde = 0x100 + 4 + *Memory(space).number(frames_at, 4); // after the CIE
    const std::uint64_t start_base = format == 4 ? code_at : base;
    space.put(table_at, space.bytes().u32(code_at - load_offset - start_base).u32(fde));
    space.put(strings, space.bytes().text("/opt/a table"));
    add_dyn_info(space, format, load_offset, {strings, base, 1, table_at});
    space.code().add_dyn_info_list(dyn_list);
    Module* module = space.module_at(code_at + 31);
    ASSERT_TRUE(module) << format;
    EXPECT_EQ(module->name(), "a table");
    EXPECT_EQ(module->bias(), load_offset);
    EXPECT_EQ(cfa_offset(*module, code_at + 31), 48) << format;
  }
}

/// The shared library has no symbol for the list, only a function that returns its address.
TEST_P(EachAbi, TheListByAFunction) {
  const std::map<Abi, std::vector<int>> functions = {
      {Abi::amd64,
       {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x8d, 0x05, 0xf5, 0xff, 0xfc, 0xff, 0xc3}}, // lea to 0x21000
      {Abi::aarch64_little,
       {0x80, 0xfe, 0xff, 0x90, 0, 0, 0, 0x91, 0xc0, 0x03, 0x5f, 0xd6}}, // adrp, add, ret
      {Abi::aarch64_big, {0x80, 0xfe, 0xff, 0x90, 0, 0, 0, 0x91, 0xc0, 0x03, 0x5f, 0xd6}},
      {Abi::s390x, {0xc0, 0x20, 0xff, 0xfe, 0x80, 0x00, 0x07, 0xfe}}, // larl, br
  };
  Bytes function = process.bytes();
  for (const int byte : functions.at(GetParam())) function.u8(static_cast<std::uint64_t>(byte));
  process.put(0x51000, function);
  process.add_library("_U_dyn_info_list_addr", 0x51000);
  add_dyn_info(process, 0, 0, {0, 0, 0, 0});
  EXPECT_TRUE(process.module_at(code_at));
}

class Damaged : public testing::Test {
protected:
  Process process{Abi::amd64};
  std::vector<std::byte> file = jit_file(process.abi(), elf::et_rel);
  Damaged() {
    process.add_library("__jit_debug_descriptor", descriptor);
    process.add_jit_list(1, entries);
    process.add_jit_entry(entries, 0, file_at, file.size());
    process.put(file_at, file);
  }
  bool reports(std::string_view what) {
    return std::ranges::any_of(process.code().problems(),
                               [&](const std::string& problem) { return problem.contains(what); });
  }
};

TEST_F(Damaged, CycleEndsList) {
  process.add_jit_entry(entries, entries + 0x100, file_at, file.size());
  process.add_jit_entry(entries + 0x100, entries, 0, 0);
  EXPECT_TRUE(process.module_at(code_at));
  EXPECT_TRUE(reports("has a cycle at 0x30000"));
  EXPECT_TRUE(reports("not an ELF file"));
}

TEST_F(Damaged, BadPointerEndsList) {
  process.add_jit_entry(entries, 0x123456789abcdef0, file_at, file.size());
  EXPECT_TRUE(process.module_at(code_at));
  EXPECT_TRUE(reports("cannot be read at 0x123456789abcdef0"));
}

TEST_F(Damaged, UnknownVersion) {
  process.add_jit_list(2, entries);
  EXPECT_FALSE(process.module_at(code_at));
  EXPECT_TRUE(reports("has an unsupported version"));
}

TEST_F(Damaged, ImpossibleSizes) {
  process.add_jit_entry(entries, 0, file_at, ~std::uint64_t{0});
  EXPECT_FALSE(process.module_at(code_at));
  EXPECT_TRUE(reports("too large: limit on copied code reached"));
  process.add_jit_entry(entries, 0, file_at, file.size() + 1);
  process.code().refresh();
  EXPECT_FALSE(process.module_at(code_at));
  EXPECT_TRUE(reports("cannot be read"));
}

TEST_F(Damaged, TooManyEntries) {
  constexpr std::uint64_t more = 0x1000000, count = DynamicCode::max_entries + 10;
  Bytes list;
  for (std::uint64_t i = 1; i <= count; ++i)
    list.u64(i < count ? more + 32 * i : 0).u64(0).u64(file_at).u64(file.size());
  process.put(more, list);
  process.add_jit_list(1, more);
  EXPECT_TRUE(process.module_at(code_at));
  EXPECT_TRUE(reports("has too many entries"));
}

TEST_F(Damaged, EmptyList) {
  process.add_jit_list(0, 0);
  EXPECT_FALSE(process.module_at(code_at));
  EXPECT_TRUE(process.code().problems().empty());
}

/// The function on AMD64 that returns the address of the list.
bool leads_to_list(std::initializer_list<int> instructions) {
  Process process(Abi::amd64);
  Bytes function = process.bytes();
  process.put(0x51000, function.raw(instructions));
  process.add_library("_U_dyn_info_list_addr", 0x51000);
  add_dyn_info(process, 0, 0, {0, 0, 0, 0});
  // A list here, too: what is read is not the function's constant.
  process.put(dyn_list + 0x8000, process.bytes().u64(dyn_list));
  return process.module_at(code_at) != nullptr;
}

TEST(ListByAFunction, Constants) {
  EXPECT_TRUE(leads_to_list({0xb8, 0, 0x10, 2, 0, 0xc3}));                              // mov $,%eax
  EXPECT_TRUE(leads_to_list({0xba, 0, 0x10, 2, 0, 0x48, 0x89, 0xd0, 0xc3}));            // mov %rdx,%rax
  EXPECT_TRUE(leads_to_list({0xba, 0, 0xf, 2, 0, 0x48, 0x8d, 0x82, 0, 1, 0, 0, 0xc3})); // lea 256(%rdx)
  EXPECT_TRUE(leads_to_list({0xb8, 0, 0xf, 2, 0, 0x48, 0x05, 0, 1, 0, 0, 0xc3}));       // add $256
  EXPECT_TRUE(leads_to_list({0xb8, 0, 0x10, 2, 0, 0x48, 0x89, 0x04, 0x24, 0xc3}));      // a store
  EXPECT_TRUE(leads_to_list({0xb8, 0, 0x10, 2, 0, 0x48, 0x3d, 0, 1, 0, 0, 0xc3}));      // a comparison
  EXPECT_TRUE(leads_to_list({0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xb8, 0, 0x10, 2, 0, 0xc3})); // 8
}

TEST(ListByAFunction, NoConstants) {
  EXPECT_FALSE(leads_to_list({}));
  EXPECT_FALSE(leads_to_list({0xc3}));
  EXPECT_FALSE(leads_to_list({0xba, 0, 0x10, 2, 0, 0xc3}));                   // in %edx
  EXPECT_FALSE(leads_to_list({0xb8, 0, 0x10, 2, 0}));                         // no return
  EXPECT_FALSE(leads_to_list({0xb8, 0, 0x10, 2, 0, 0x06, 0xc3}));             // no instruction
  EXPECT_FALSE(leads_to_list({0xb8, 0, 0x10, 2, 0, 0xeb, 0, 0xc3}));          // a jump
  EXPECT_FALSE(leads_to_list({0xb8, 0, 0x10, 2, 0, 0x48, 0x01, 0xd0, 0xc3})); // add %rdx,%rax
  EXPECT_FALSE(leads_to_list({0xb8, 0, 0x10, 2, 0, 0x48, 0x31, 0xd0, 0xc3})); // xor %rdx,%rax
  EXPECT_FALSE(leads_to_list({0xb8, 0, 0x10, 2, 0, 0x48, 0x8b, 0, 0xc3}));    // mov (%rax),%rax
  EXPECT_FALSE(leads_to_list({0xb8, 0, 0x90, 2, 0, 0x48, 0x8b, 0, 0xc3}));    // the same from elsewhere
  EXPECT_FALSE(leads_to_list({0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xb8, 0, 0x10, 2, 0, 0xc3})); // 9
}

/// libunwind's list, damaged.
class DamagedInfo : public testing::Test {
protected:
  DamagedInfo() { process.code().add_dyn_info_list(dyn_list); }
  /// All problems, after the lists were read again and the code was asked for.
  std::string problems(bool found = false) {
    process.code().refresh();
    EXPECT_EQ(process.module_at(code_at) != nullptr, found);
    std::string text;
    for (const std::string& problem : process.code().problems()) text += problem + ";";
    return text;
  }
  /// A table of entries (start, FDE) at `table_at`; the FDEs count from `frames_at`.
  void add_table(std::initializer_list<std::uint64_t> numbers) {
    Bytes bytes = process.bytes();
    for (const std::uint64_t number : numbers) bytes.u32(number);
    process.put(table_at, bytes);
    add_dyn_info(process, 4, 0, {0, frames_at, numbers.size() / 2, table_at});
  }
  Process process{Abi::amd64};
};

TEST_F(DamagedInfo, Heads) {
  EXPECT_EQ(problems(), "_U_dyn_info_list: the list of generated code cannot be read at 0x21000;");
  process.put(dyn_list, process.bytes().u32(0).u32(0));
  EXPECT_EQ(problems(), "_U_dyn_info_list: the list of generated code cannot be read at 0x21000;");
  process.put(dyn_list, process.bytes().u32(1).u32(0).u64(entries));
  EXPECT_EQ(problems(),
            "_U_dyn_info_list: the list of generated code has an unsupported version at 0x21000;");
  process.put(dyn_list, process.bytes().u32(0).u32(0).u64(0));
  EXPECT_EQ(problems(), "");
}

TEST_F(DamagedInfo, Entries) {
  const std::string unknown =
      "_U_dyn_info_list: the list of generated code has an entry of unknown format at 0x30000;";
  for (const std::int32_t format : {3, 5, -1}) {
    add_dyn_info(process, format, 0, {0, 0, 0, 0});
    EXPECT_EQ(problems(), unknown) << format;
  }
  process.words(entries, {0, 0, code_at, code_at, 0, 0, 0, 0, 0, 0, 0}); // an empty range
  EXPECT_EQ(problems(), unknown);
  process.words(entries, {0, 0, code_at, code_at + 1, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(problems(true), "");
  process.words(entries, {0, 0, code_at, code_at + 1, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(problems(), "_U_dyn_info_list: the list of generated code cannot be read at 0x30000;");
}

// A list of entries that are not understood is read to its limit, and does not fill the screen.
TEST_F(DamagedInfo, ManyUnknownEntries) {
  constexpr std::uint64_t more = 0x1000000, count = DynamicCode::max_entries + 10;
  const auto read = [&](std::uint64_t entries) {
    Bytes all = process.bytes();
    // Each begins with the address of the next word. Where the format should be is such an address, too,
    // except in the last five, two of which are procedures.
    for (std::uint64_t i = 1; i <= entries + 12; ++i) all.u64(i < entries + 2 ? more + 8 * i : 0);
    process.put(more, all);
    process.put(dyn_list, process.bytes().u32(0).u32(1).u64(more));
    process.code().refresh();
    return process.code().problems();
  };
  EXPECT_EQ(read(100).size(), 100u);
  const auto some = read(101);
  ASSERT_EQ(some.size(), 101u);
  EXPECT_EQ(some.back(), "generated code: further problems are left out");
  EXPECT_EQ(read(count).size(), 101u);
  EXPECT_FALSE(process.module_at(code_at));
}

TEST_F(DamagedInfo, Regions) {
  const auto problem = [](std::string_view what) {
    return "generated code registered at 0x30000: " + std::string(what) + ";";
  };
  add_dyn_info(process, 0, 0, {0, 0, 0, regions});
  EXPECT_EQ(problems(), problem("regions cannot be read"));
  process.put(regions, process.bytes().u64(0).u32(32));
  EXPECT_EQ(problems(), problem("regions cannot be read"));
  process.put(regions, process.bytes().u64(0).u32(32).u32(1));
  EXPECT_EQ(problems(), problem("operations cannot be read"));
  process.put(regions, process.bytes().u64(0).u32(32).u32(1).u8(4).u8(0).u16(7).u32(0));
  EXPECT_EQ(problems(), problem("operations cannot be read"));
  process.put(regions, process.bytes().u64(0).u32(32).u32(1).u8(9).u8(0).u16(7).u32(0).u64(0));
  EXPECT_EQ(problems(), problem("operations cannot be read"));
  process.put(regions, process.bytes().u64(0).u32(32).u32(1).u8(8).u8(0).u16(7).u32(0).u64(0));
  EXPECT_EQ(problems(true), "");
  process.put(regions, process.bytes().u64(regions).u32(0).u32(0)); // a circle
  EXPECT_EQ(problems(), problem("too many regions"));
  // Without end at the region's own count, and too many.
  for (const std::uint64_t count : {65536, 65537}) {
    Bytes region = process.bytes();
    region.u64(0).u32(32).u32(count);
    for (std::uint64_t i = 0; i < count; ++i) region.u8(4).u8(0).u16(7).u32(0).u64(0);
    process.put(regions, region);
    EXPECT_EQ(problems(count == 65536), count == 65536 ? "" : problem("operations cannot be read"));
  }
}

TEST_F(DamagedInfo, Tables) {
  const auto problem = [](std::string_view what) {
    return "generated code registered at 0x30000: " + std::string(what) + ";";
  };
  process.put(frames_at, frames(process.abi()).bytes());
  const std::uint64_t after_cie = 4 + *Memory(process).number(frames_at, 4);
  add_dyn_info(process, 4, 0, {0, frames_at, ~std::uint64_t{0}, table_at});
  EXPECT_EQ(problems(), problem("too large: limit on copied code reached"));
  add_dyn_info(process, 4, 0, {0, frames_at, (1 << 21) + 1, table_at});
  EXPECT_EQ(problems(), problem("too large: limit on copied code reached"));
  add_dyn_info(process, 4, 0, {0, frames_at, 1 << 21, table_at}); // 16 MiB may be copied, were they there
  EXPECT_EQ(problems(), problem("cannot be read"));
  add_table({});
  EXPECT_EQ(problems(), problem("table refers to unreadable FDEs"));
  add_table({0, 0x7000});
  EXPECT_EQ(problems(), problem("table refers to unreadable FDEs"));
  // In any order; each FDE counts.
  add_table({64, after_cie, 0, after_cie});
  EXPECT_EQ(problems(true), "");
  EXPECT_EQ(cfa_offset(*process.module_at(code_at), code_at), 48);
  // An FDE with a length of 64 bits, one whose CIE is not there, and two that are far from each other.
  process.put(frames_at + 0x800, process.bytes().u32(0xffffffff).u32(0).u64(0).u64(0));
  add_table({0, 0x800});
  EXPECT_EQ(problems(), problem("table refers to unreadable FDEs"));
  process.put(frames_at + 0x800, process.bytes().u32(12).u32(0x9000).u64(0));
  add_table({0, 0x800});
  EXPECT_EQ(problems(), problem("table refers to unreadable FDEs"));
  process.put(frames_at + 0x20000000, process.bytes().u32(12).u32(4).u64(0));
  add_table({0, after_cie, 1, 0x20000000});
  EXPECT_EQ(problems(), problem("table refers to FDEs too far apart"));
}

/// Names end with a zero byte, at 4096 bytes at the latest.
TEST_F(DamagedInfo, Names) {
  add_dyn_info(process, 0, 0, {strings, 0, 0, 0});
  const auto name = [&]() -> std::string {
    process.code().refresh();
    process.code().refresh();
    Module* const module = process.module_at(code_at);
    if (!module) return "no module";
    const auto found = module->symbols().find(LinkAddress(code_at));
    return found ? std::string(found->symbol->name) : "none";
  };
  EXPECT_EQ(name(), "none");
  process.put(strings, process.bytes().text(std::string(4095, 'a')));
  EXPECT_EQ(name(), std::string(4095, 'a'));
  process.put(strings, process.bytes().text(std::string(5000, 'a')));
  EXPECT_EQ(name(), std::string(4096, 'a'));
  process.put(strings, process.bytes().u8('a').u8('b'));
  EXPECT_EQ(name(), "none");
  process.put(strings, process.bytes().text(""));
  EXPECT_EQ(name(), "none");
}

TEST_F(Damaged, DescriptorsThatCannotBeRead) {
  const std::string text = "__jit_debug_descriptor: the list of generated code cannot be read at 0x20000";
  for (const std::size_t size : {0, 4, 16, 23}) {
    Process space(Abi::amd64);
    space.add_library("__jit_debug_descriptor", descriptor);
    std::vector<std::byte> bytes(size);
    if (size) bytes[0] = std::byte{1};
    space.put(descriptor, bytes);
    EXPECT_FALSE(space.module_at(code_at));
    ASSERT_EQ(space.code().problems().size(), 1u) << size;
    EXPECT_EQ(space.code().problems()[0], text);
  }
}

TEST_F(Damaged, EmptyVersionsAndEntries) {
  process.add_jit_list(0, entries);
  EXPECT_FALSE(process.module_at(code_at));
  EXPECT_TRUE(reports("__jit_debug_descriptor: the list of generated code has an unsupported version at"));
  process.add_jit_list(1, 0);
  process.code().refresh();
  EXPECT_TRUE(process.code().problems().empty());
  process.add_jit_list(1, entries);
  for (const std::initializer_list<std::uint64_t>& words :
       {std::initializer_list<std::uint64_t>{0, 0}, {0, 0, file_at}}) {
    process.words(entries, words);
    process.code().refresh();
    EXPECT_FALSE(process.module_at(code_at));
    EXPECT_TRUE(reports("cannot be read at 0x30000"));
  }
}

/// Of code at the same address the first in the list counts, GDB's newest; else the one that begins last.
TEST_F(Damaged, OverlappingCode) {
  const auto second = jit_file(process.abi(), elf::et_rel, "second");
  const std::vector<std::byte> text(8);
  const auto inner = test::TestElf{
      .type = elf::et_rel,
      .sections = {{.name = ".text",
                    .flags = elf::shf_alloc | elf::shf_execinstr,
                    .address = code_at + 8,
                    .bytes = text}},
      .segments = {}}.build();
  process.put(file_at + 0x1000, second);
  process.put(file_at + 0x2000, inner);
  process.add_jit_entry(entries, entries + 0x20, file_at + 0x1000, second.size());
  process.add_jit_entry(entries + 0x20, entries + 0x40, file_at, file.size());
  process.add_jit_entry(entries + 0x40, 0, file_at + 0x2000, inner.size());
  Module* const module = process.module_at(code_at);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->symbols().find(LinkAddress(code_at + 8))->symbol->name, "second");
  EXPECT_EQ(process.module_at(code_at + 7), module);
  EXPECT_NE(process.module_at(code_at + 8), module);
  EXPECT_EQ(process.module_at(code_at + 8), process.module_at(code_at + 15));
  EXPECT_EQ(process.module_at(code_at + 16), module);
}

/// What is read of an entry and of its code costs its size, also where that is not known before.
TEST_F(Damaged, CopiesCost) {
  process.files().add_budget(0);
  Budget& budget = *process.files().budget;
  const auto leave = [&](std::uint64_t left) {
    budget.refill(0);
    EXPECT_TRUE(budget.take(Resource::copied_bytes, budget.left(Resource::copied_bytes) - left));
  };
  constexpr std::uint64_t jit_entry = 32, dyn_entry = 88;
  leave(jit_entry + file.size() - 1);
  EXPECT_FALSE(process.module_at(code_at));
  EXPECT_TRUE(reports("not copied: limit on copied code reached"));
  Process other(Abi::amd64);
  other.add_library("__jit_debug_descriptor", descriptor);
  other.add_jit_list(1, entries);
  other.add_jit_entry(entries, 0, file_at, file.size());
  other.put(file_at, file);
  other.files().budget = process.files().budget;
  leave(jit_entry + file.size());
  EXPECT_TRUE(other.module_at(code_at));
  EXPECT_EQ(budget.left(Resource::copied_bytes), 0u);
  EXPECT_FALSE(budget.is_used_up());
  EXPECT_EQ(other.code().copied(), file.size());
  // A procedure's operations.
  for (const bool enough : {false, true}) {
    Process third(Abi::amd64);
    third.files().budget = process.files().budget;
    add_dyn_info(third, 0, 0, {0, 0, 0, regions});
    Bytes region = third.bytes();
    region.u64(0).u32(32).u32(100);
    for (int i = 0; i < 100; ++i) region.u8(4).u8(0).u16(7).u32(0).u64(0);
    third.put(regions, region);
    leave(dyn_entry);
    third.code().add_dyn_info_list(dyn_list);
    EXPECT_FALSE(budget.is_used_up());
    leave(16 * 101u - !enough);
    EXPECT_EQ(third.module_at(code_at) != nullptr, enough);
    EXPECT_EQ(budget.is_used_up(), !enough);
  }
  // An entry of a list.
  Process fourth(Abi::amd64);
  fourth.files().budget = process.files().budget;
  add_dyn_info(fourth, 0, 0, {0, 0, 0, 0});
  leave(dyn_entry - 1);
  fourth.code().add_dyn_info_list(dyn_list);
  ASSERT_EQ(fourth.code().problems().size(), 1u);
  EXPECT_TRUE(fourth.code().problems()[0].find("is not read further: limit on copied code reached") !=
              std::string::npos);
}

using Changing = Damaged;

TEST_F(Changing, UnchangedCodeIsKept) {
  EXPECT_FALSE(process.code().refresh()); // no lookup yet
  Module* module = process.module_at(code_at);
  ASSERT_TRUE(module);
  EXPECT_FALSE(process.code().refresh());
  EXPECT_EQ(process.module_at(code_at), module);
}

/// The same entry for other code at the same address: only the bytes differ.
TEST_F(Changing, CodeReplacedAtSameAddress) {
  Module* module = process.module_at(code_at);
  ASSERT_TRUE(module);
  process.put(file_at, jit_file(process.abi(), elf::et_rel, "replaced"));
  EXPECT_TRUE(process.code().refresh());
  Module* other = process.module_at(code_at + 8);
  ASSERT_TRUE(other);
  EXPECT_NE(other, module);
  EXPECT_EQ(other->symbols().find(LinkAddress(code_at + 8))->symbol->name, "replaced");
  EXPECT_EQ(module->symbols().find(LinkAddress(code_at + 8))->symbol->name,
            "compiled"); // frames of before keep their names
}

/// A program that compiles again and again needs no more than what it has at one time.
TEST_F(Changing, RemovedCodeIsReleased) {
  ASSERT_TRUE(process.module_at(code_at));
  const std::size_t modules = process.modules().size();
  const std::uint64_t size = process.code().copied();
  for (int i = 0; i < 20; ++i) {
    const std::string name = "version" + std::to_string(i);
    process.put(file_at, jit_file(process.abi(), elf::et_rel, name));
    ASSERT_TRUE(process.code().refresh());
    Module* module = process.module_at(code_at + 8);
    ASSERT_TRUE(module);
    EXPECT_EQ(module->symbols().find(LinkAddress(code_at + 8))->symbol->name, name);
    EXPECT_EQ(cfa_offset(*module, code_at + 8), 48);
  }
  // The one that is there and the one before, which may still be looked at.
  EXPECT_LE(process.modules().size(), modules + 2);
  EXPECT_LE(process.code().copied(), 2 * size + 64);
  process.add_jit_list(1, 0);
  EXPECT_TRUE(process.code().refresh());
  EXPECT_FALSE(process.module_at(code_at));
  process.code().refresh();
  EXPECT_EQ(process.code().copied(), 0u);
}

TEST_F(Changing, EntriesComeAndGo) {
  ASSERT_TRUE(process.module_at(code_at));
  process.add_jit_list(1, 0);
  EXPECT_TRUE(process.code().refresh());
  EXPECT_FALSE(process.module_at(code_at));
  process.add_jit_list(1, entries);
  EXPECT_TRUE(process.code().refresh());
  EXPECT_TRUE(process.module_at(code_at));
}

TEST_F(Changing, ListAddedLater) {
  Module* module = process.module_at(code_at);
  ASSERT_TRUE(module);
  const auto second = jit_file(process.abi(), elf::et_dyn, "second");
  process.put(0x120000, process.bytes().u32(1).u32(0).u64(0).u64(0x121000));
  process.add_jit_entry(0x121000, 0, 0x130000, second.size());
  process.put(0x130000, second);
  process.add_library("__jit_debug_descriptor", 0x120000, 0x110000); // loaded by now
  EXPECT_EQ(process.module_at(code_at), module);
  process.add_jit_list(1, 0);
  EXPECT_TRUE(process.code().refresh());
  module = process.module_at(code_at + 8);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->symbols().find(LinkAddress(code_at + 8))->symbol->name, "second");
}

/// Two procedures, each of which is described as being like the other.
TEST(Alias, FollowedWithoutCycles) {
  Process process(Abi::amd64);
  const auto procedure = [&](std::uint64_t at, std::uint64_t next, std::uint64_t code, std::uint64_t region) {
    process.put(at, process.bytes()
                        .u64(next)
                        .u64(0)
                        .u64(code)
                        .u64(code + 32)
                        .u64(0)
                        .u64(0)
                        .u64(0)
                        .u64(0)
                        .u64(0)
                        .u64(0)
                        .u64(region));
  };
  const auto region = [&](std::uint64_t at, int tag, std::uint16_t reg, std::uint64_t value) {
    process.put(at, process.bytes()
                        .u64(0)
                        .u32(32)
                        .u32(1)
                        .u8(static_cast<std::uint64_t>(tag))
                        .u8(0)
                        .u16(reg)
                        .u32(0)
                        .u64(value));
  };
  process.put(dyn_list, process.bytes().u32(0).u32(1).u64(entries));
  procedure(entries, entries + 0x100, code_at, regions);
  procedure(entries + 0x100, 0, code_at + 32, regions + 0x100);
  region(regions, 8, 0, code_at + 32);
  region(regions + 0x100, 4, 7, static_cast<std::uint64_t>(-16));
  process.code().add_dyn_info_list(dyn_list);
  EXPECT_EQ(cfa_offset(*process.module_at(code_at), code_at + 4), 24);

  region(regions + 0x100, 8, 0, code_at);
  EXPECT_TRUE(process.code().refresh());
  EXPECT_EQ(cfa_offset(*process.module_at(code_at), code_at + 4), -1);
}

/// An alias has the row of the same instruction of the other procedure; of several in a row, up to eight.
TEST(Alias, ChainsAndOffsets) {
  for (const std::uint64_t aliases : {1, 8, 9}) {
    Process process(Abi::amd64);
    process.put(dyn_list, process.bytes().u32(0).u32(1).u64(entries));
    for (std::uint64_t i = 0; i <= aliases; ++i) {
      const std::uint64_t code = code_at + 0x40 * i, region = regions + 0x100 * i, at = entries + 0x100 * i;
      process.words(at, {i < aliases ? at + 0x100 : 0, 0, code, code + 32, 0, 0, 0, 0, 0, 0, region});
      Bytes bytes = process.bytes();
      bytes.u64(0).u32(32).u32(1);
      if (i < aliases)
        bytes.u8(8).u8(0).u16(0).u32(~std::uint64_t{0}).u64(code + 0x40);
      else
        bytes.u8(4).u8(0).u16(7).u32(5).u64(static_cast<std::uint64_t>(-16));
      process.put(region, bytes);
    }
    process.code().add_dyn_info_list(dyn_list);
    Module* const module = process.module_at(code_at);
    ASSERT_TRUE(module);
    EXPECT_EQ(cfa_offset(*module, code_at + 5), aliases > 8 ? -1 : 8) << aliases;
    EXPECT_EQ(cfa_offset(*module, code_at + 6), aliases > 8 ? -1 : 24) << aliases;
  }
}

} // namespace modules_dynamic_test
