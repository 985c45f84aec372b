// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registered code, found through valid and damaged lists in synthetic memory of either byte order.

#include "cfi_assembler.h"
#include "elf_builder.h"

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

/// Blocks of memory, and a library that has the symbols of the two lists.
class Process final : public ModuleSpace, public ByteSource {
public:
  explicit Process(Abi abi) : abi_(traits(abi)), code_(*this, files_, *this, modules_) {}

  const AbiTraits& abi() const override { return abi_; }
  std::span<const std::byte> view(std::uint64_t address) override {
    const auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) return {};
    const auto& [start, bytes] = *std::prev(after);
    return address - start < bytes.size() ? std::span(bytes).subspan(address - start)
                                          : std::span<std::byte>{};
  }
  std::span<const std::byte> memory_at(std::uint64_t address) override { return view(address); }
  bool is_code(std::uint64_t address) override { return address >= code_at && address < code_at + 0x1000; }
  Module* module_at(std::uint64_t address) override {
    for (Module& module : modules_)
      if (!module.generated() && address - module.info().start < module.info().end - module.info().start)
        return &module;
    return code_.module_at(address);
  }

  Bytes bytes() const { return Bytes(abi_.byte_order); }
  void put(std::uint64_t address, const Bytes& bytes) { blocks_[address] = bytes.get(); }
  void put(std::uint64_t address, std::vector<std::byte> bytes) { blocks_[address] = std::move(bytes); }
  void words(std::uint64_t address, std::initializer_list<std::uint64_t> values) {
    Bytes bytes(abi_.byte_order);
    for (const std::uint64_t value : values) bytes.u64(value);
    put(address, bytes);
  }

  /// An image with one symbol. It is taken from memory like the vdso.
  void add_library(std::string_view symbol, std::uint64_t value, std::uint64_t at = library) {
    test::Writer names(abi_.byte_order);
    names.text("", 1).text(symbol, symbol.size() + 1);
    std::vector<std::byte> table(24);
    const auto entry = test::symbol(1, 0x11, 1, value, 24, abi_.byte_order);
    table.insert(table.end(), entry.begin(), entry.end());
    put(at, test::TestElf{.order = abi_.byte_order,
                          .type = elf::et_dyn,
                          .machine = abi_.machine,
                          .sections = {{.name = ".symtab",
                                        .type = elf::sht_symtab,
                                        .bytes = table,
                                        .link = 2,
                                        .info = 1,
                                        .entsize = 24},
                                       {.name = ".strtab", .type = elf::sht_strtab, .bytes = names.bytes}},
                          .segments = {}}
                .build());
    ModuleInfo info{.path = "library",
                    .file = {},
                    .vdso = true,
                    .start = at,
                    .end = at + 0x1000,
                    .build_id = {},
                    .mappings = {}};
    info.bias = 0;
    info.header_address = at;
    modules_.emplace_back(std::move(info), abi_, files_, *this);
  }

  /// A jit_descriptor and a list of entries, as far as they are given.
  void add_jit_list(std::uint32_t version, std::uint64_t first) {
    put(descriptor, bytes().u32(version).u32(0).u64(0).u64(first));
  }
  void add_jit_entry(std::uint64_t at, std::uint64_t next, std::uint64_t file, std::uint64_t size) {
    words(at, {next, 0, file, size});
  }

  DynamicCode& code() { return code_; }
  std::deque<Module>& modules() { return modules_; }

private:
  const AbiTraits& abi_;
  FileOptions files_{.open_files = false, .sysroot = {}, .executable = {}, .sframe_dir = {}};
  std::map<std::uint64_t, std::vector<std::byte>> blocks_;
  std::deque<Module> modules_;
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
  return module.tables().find_cfi(address - module.bias(), answer) ? answer.row.cfa.offset : -1;
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
    const auto symbol = module->find_symbol(code_at + 12);
    ASSERT_TRUE(symbol);
    EXPECT_EQ(symbol->symbol->name, "compiled");
    EXPECT_EQ(symbol->offset, 4u);
    EXPECT_EQ(cfa_offset(*module, code_at + 12), 48);
    EXPECT_FALSE(space.module_at(code_at + 32));
    EXPECT_FALSE(space.modules().front().loaded()); // the library was only searched
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
  EXPECT_EQ(module->find_symbol(code_at + 5)->symbol->name, "a procedure");
  EXPECT_EQ(module->tables().function_at(code_at)->size, 32u);
  EXPECT_EQ(cfa_offset(*module, code_at), abi.entry_cfa_offset);
  EXPECT_EQ(cfa_offset(*module, code_at + 4), abi.entry_cfa_offset + 64);
  CfiMatch answer;
  ASSERT_TRUE(module->tables().find_cfi(code_at + 24, answer));
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
  EXPECT_EQ(other->find_symbol(code_at + 8)->symbol->name, "replaced");
  EXPECT_EQ(module->find_symbol(code_at + 8)->symbol->name, "compiled"); // frames of before keep their names
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
    EXPECT_EQ(module->find_symbol(code_at + 8)->symbol->name, name);
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
  EXPECT_EQ(module->find_symbol(code_at + 8)->symbol->name, "second");
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

} // namespace modules_dynamic_test
