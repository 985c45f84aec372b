// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists of generated code in the memory of processes that lie, or change while they are read; and the tables
// of it.

#include "sframe/abi.h"
#include "sframe/bpf/process_code.h"
#include "sframe/bpf/read_table.h"
#include "sframe/builder.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sframe::bpf {
namespace bpf_process_code_test {

constexpr std::uint64_t list_at = 0x1000, code_at = 0x7000'0000;

/// The ABI of this program: the lists are those of processes of the same machine.
const AbiTraits& abi() {
#if defined(__aarch64__)
  return *find_abi("aarch64");
#elif defined(__s390x__)
  return *find_abi("s390x");
#else
  return *find_abi("amd64");
#endif
}

/// A section for a function of this size; the CFA is SP + `offset` throughout.
std::vector<std::byte> section_of(std::uint32_t size, std::int32_t offset) {
  Builder builder({.version = VersionNumber::v3, .abi = abi().id});
  const FrameRow row{0, Rule::value(abi().sp, offset), Rule::fixed(), {}, false};
  EXPECT_TRUE(builder.add({.start = 0, .size = size}, {&row, 1}));
  return builder.finish(0).value();
}

struct Memory {
  std::map<std::uint64_t, std::vector<std::byte>> pieces; ///< by address
  std::uint64_t reads = 0;

  void put(std::uint64_t address, std::initializer_list<std::uint64_t> words) {
    const auto bytes = std::as_bytes(std::span(words));
    pieces[address].assign(bytes.begin(), bytes.end());
  }
  /// As lib/jit has rows: the size, and the section.
  void put_rows(std::uint64_t address, const std::vector<std::byte>& section) {
    put(address, {section.size()});
    pieces[address].insert(pieces[address].end(), section.begin(), section.end());
  }
  /// A list of version 1 with entries of 32 bytes, as sframe/jit/list.h has it.
  void put_list(std::uint64_t first, std::uint64_t changes = 0, std::uint64_t replacements = 0) {
    put(list_at, {UINT64_C(32) << 32 | 1, first, changes, replacements});
  }
  bool read(std::uint64_t address, std::span<std::byte> to) {
    ++reads;
    auto at = pieces.upper_bound(address);
    if (at == pieces.begin()) return false;
    --at;
    const std::uint64_t offset = address - at->first;
    if (offset > at->second.size() || at->second.size() - offset < to.size()) return false;
    std::copy_n(at->second.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
    return true;
  }
  ProcessCode read_all(bool has_counters = true) {
    const CodeList list{list_at, has_counters, 0};
    return read_process_code(
        [this](std::uint64_t address, std::span<std::byte> to) { return read(address, to); }, {&list, 1});
  }
};

/// One registry (0x2000), table (0x3000) and run (0x4000).
Memory with_entries(std::initializer_list<std::uint64_t> words) {
  Memory memory;
  memory.put_list(0x2000);
  memory.put(0x2000, {0, 0x3000});
  memory.put(0x3000, {1, 0x4000, words.size() / 4});
  memory.put(0x4000, words);
  memory.put_rows(0x5000, section_of(0x100, 16));
  return memory;
}

TEST(BpfProcessCode, ReadsAllRunsOfAllRegistries) {
  Memory memory;
  memory.put_list(0x2000, 5, 7);
  memory.put(0x2000, {0x2100, 0x3000});
  memory.put(0x2100, {0, 0x3100});
  memory.put(0x3000, {2, 0x4000, 2, 0x4100, 1});
  memory.put(0x3100, {1, 0x4200, 1});
  memory.put(0x4000,
             {code_at + 0x200, 0x5000, 0, 0x100, code_at + 0x400, 0, 0, 0x100}); // the second was removed
  memory.put(0x4100, {code_at, 0x5000, 0, 0x100});
  memory.put(0x4200, {code_at + 0x600, 0x6000, 0, 0x80});
  memory.put_rows(0x5000, section_of(0x100, 16));
  memory.put_rows(0x6000, section_of(0x80, 32));
  const ProcessCode code = memory.read_all();
  ASSERT_EQ(3u, code.regions.size());
  EXPECT_EQ(code_at, code.regions[0].start);
  EXPECT_EQ(code_at + 0x200, code.regions[1].start);
  EXPECT_EQ(code_at + 0x600, code.regions[2].start);
  EXPECT_EQ(0x80u, code.regions[2].size);
  EXPECT_EQ(code.regions[0].offset, code.regions[1].offset); // copied once
  EXPECT_EQ(0u, code.refused);
  EXPECT_EQ(list_at + 24, code.lists[0].counter());
  EXPECT_EQ(7u, code.lists[0].replacements);
}

TEST(BpfProcessCode, RefusesImpossibleRegions) {
  Memory memory = with_entries({code_at,         0x5000, 0, 0x100,    //
                                code_at + 0x80,  0x5000, 0, 0x100,    // overlaps with the one before
                                code_at + 0x100, 0x5000, 0, 0,        // empty
                                code_at + 0x100, 0x5000, 0, ~0ull,    // wraps
                                code_at + 0x100, 0x5000, 0, 5u << 24, // 80 MiB
                                code_at + 0x100, 0x9000, 0, 0x100,    // rows that cannot be read
                                code_at + 0x200, 0x5000, 0, 0x100});
  const ProcessCode code = memory.read_all();
  ASSERT_EQ(2u, code.regions.size());
  EXPECT_EQ(code_at, code.regions[0].start);
  EXPECT_EQ(code_at + 0x200, code.regions[1].start);
  EXPECT_EQ(5u, code.refused);
}

TEST(BpfProcessCode, EndsInCyclesAndHugeCounts) {
  Memory cycle = with_entries({code_at, 0x5000, 0, 0x100});
  cycle.put(0x2000, {0x2000, 0x3000});
  EXPECT_EQ(1u, cycle.read_all().regions.size()); // again and again the same entry
  EXPECT_LT(cycle.reads, 10'000u);

  Memory huge = with_entries({code_at, 0x5000, 0, 0x100});
  huge.put(0x3000, {64, 0x4000, UINT64_C(1) << 60});
  EXPECT_TRUE(huge.read_all().regions.empty()); // the run cannot be read
  huge.put(0x3000, {~0ull, 0x4000, 1});
  EXPECT_TRUE(huge.read_all().regions.empty());
  huge.put_rows(0x5000, {});
  huge.put(0x5000, {UINT64_C(1) << 40}); // a section of a terabyte
  huge.put(0x3000, {1, 0x4000, 1});
  EXPECT_EQ(1u, huge.read_all().refused);
  huge.put(list_at, {UINT64_C(32) << 32 | 2, 0x2000, 0, 0}); // another version
  EXPECT_TRUE(huge.read_all().regions.empty());
}

/// Reads a process that changes after each read of its first counter.
TEST(BpfProcessCode, KeepsWhatWasThereAllTheTime) {
  for (const bool has_counters : {true, false}) {
    SCOPED_TRACE(has_counters);
    Memory memory = with_entries({code_at, 0x5000, 0, 0x100, code_at + 0x200, 0x6000, 0, 0x100});
    memory.put_rows(0x6000, section_of(0x100, 32));
    std::uint64_t changes = 0;
    const CodeList list{list_at, has_counters, 0};
    const ProcessCode code = read_process_code(
        [&](std::uint64_t address, std::span<std::byte> to) {
          if (address == 0x4000) { // other rows each time, at the same address, and code that comes and goes
            ++changes;
            memory.put_list(0x2000, changes, 100 + changes);
            memory.put_rows(0x6000, section_of(0x100, static_cast<std::int32_t>(32 + changes * 8)));
            memory.put(0x3000, {1, 0x4000, 3});
            memory.put(0x4000, {code_at, 0x5000, 0, 0x100, code_at + 0x200, 0x6000, 0, 0x100,
                                code_at + changes * 0x1000, 0x5000, 0, 0x100});
          }
          return memory.read(address, to);
        },
        {&list, 1});
    ASSERT_EQ(1u, code.regions.size());
    EXPECT_EQ(code_at, code.regions[0].start);
    // Of the reading before the last one: rows that were replaced meanwhile are then known to be.
    if (has_counters) {
      EXPECT_EQ(100 + changes - 2, code.lists[0].replacements);
    }
  }
}

sframe_bpf_rule rule_at(const std::map<std::uint64_t, std::vector<std::byte>>& tables,
                        std::uint64_t address) {
  const auto found = tables.find(address >> SFRAME_BPF_WINDOW_BITS);
  if (found == tables.end()) return {};
  const auto table = Table::parse(found->second);
  return table ? table->find(address) : sframe_bpf_rule{};
}

TEST(BpfProcessCode, HasATableForEachWindow) {
  constexpr std::uint64_t window = 1 << SFRAME_BPF_WINDOW_BITS, end = code_at + window;
  static_assert(code_at % window == 0);
  Memory memory = with_entries({code_at + 0x10, 0x5000, 0, 0x100,   //
                                end - 0x80,     0x5000, 0, 0x100,   // in two windows
                                end + 0x1000,   0x6000, 0, 0x80,    //
                                end + 0x2000,   0x6000, 0, 0x40,    // rows of a larger function
                                end + 0x3000,   0x7000, 0, 0x100}); // no section
  memory.put_rows(0x6000, section_of(0x80, 32));
  memory.put(0x7000, {16, 0, 0});
  ProcessCode code = memory.read_all();
  std::map<std::uint64_t, std::vector<std::byte>> tables;
  make_windows(code, [&](std::uint64_t number, std::span<const std::byte> table, std::uint32_t list) {
    EXPECT_EQ(0u, list);
    tables[number].assign(table.begin(), table.end());
    return true;
  });
  EXPECT_EQ(2u, tables.size());
  EXPECT_EQ(2u, code.refused);
  for (const std::uint64_t pc : {code_at + 0x10, code_at + 0x10f, end - 0x80, end - 1, end, end + 0x7f}) {
    EXPECT_EQ(SFRAME_BPF_ROW, rule_at(tables, pc).kind) << pc;
    EXPECT_EQ(16, rule_at(tables, pc).cfa.offset) << pc;
  }
  EXPECT_EQ(32, rule_at(tables, end + 0x1000).cfa.offset);
  for (const std::uint64_t pc :
       {code_at, code_at + 0x110, end + 0x80, end + 0x1080, end + 0x2000, end + 0x3000})
    EXPECT_EQ(SFRAME_BPF_NONE, rule_at(tables, pc).kind) << pc;
}

/// 256 windows are made of a process that has more.
TEST(BpfProcessCode, BoundsTheNumberOfWindows) {
  Memory memory = with_entries({});
  std::vector<std::uint64_t> words;
  for (std::uint64_t i = 0; i < 300; ++i)
    words.insert(words.end(), {code_at + (i << SFRAME_BPF_WINDOW_BITS), 0x5000, 0, 0x100});
  memory.put(0x3000, {1, 0x4000, 300});
  memory.pieces[0x4000].resize(words.size() * 8);
  std::memcpy(memory.pieces[0x4000].data(), words.data(), words.size() * 8);
  memory.pieces.erase(0x5000); // the run is longer
  memory.put_rows(0x5000 + 0x10'0000, section_of(0x100, 16));
  for (std::size_t i = 0; i < 300; ++i) words[4 * i + 1] = 0x5000 + 0x10'0000;
  std::memcpy(memory.pieces[0x4000].data(), words.data(), words.size() * 8);
  ProcessCode code = memory.read_all();
  ASSERT_EQ(300u, code.regions.size());
  std::size_t windows = 0;
  make_windows(code,
               [&](std::uint64_t, std::span<const std::byte>, std::uint32_t) { return ++windows != 0; });
  EXPECT_EQ(256u, windows);
  EXPECT_EQ(44u, code.refused);
}

/// An ELF file with one symbol, which may be read.
class File {
public:
  explicit File(const Elf64_Sym& symbol, std::string_view name)
      : number_(::memfd_create("file", MFD_CLOEXEC)) {
    Elf64_Ehdr header{};
    header.e_shoff = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 2;
    Elf64_Shdr sections[2] = {};
    const std::uint64_t at = sizeof header + sizeof sections;
    sections[0] = {.sh_type = SHT_DYNSYM, .sh_offset = at, .sh_size = sizeof symbol, .sh_link = 1};
    sections[1] = {.sh_type = SHT_STRTAB, .sh_offset = at + sizeof symbol, .sh_size = name.size() + 1};
    std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
    bytes.append(reinterpret_cast<const char*>(sections), sizeof sections);
    bytes.append(reinterpret_cast<const char*>(&symbol), sizeof symbol);
    bytes.append(name).append(1, '\0');
    EXPECT_EQ(static_cast<ssize_t>(bytes.size()), ::write(number_, bytes.data(), bytes.size()));
  }
  ~File() { ::close(number_); }
  int number() const { return number_; }

private:
  int number_;
};

TEST(BpfProcessCode, FindsTheSymbol) {
  Elf64_Sym symbol{
      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), .st_shndx = 1, .st_value = 0x4200, .st_size = 32};
  const auto find = [&](std::string_view name) { return find_list_symbol(File(symbol, name).number()); };
  ASSERT_TRUE(find("sframe_jit_list"));
  EXPECT_EQ(0x4200u, find("sframe_jit_list")->address);
  EXPECT_TRUE(find("sframe_jit_list")->has_counters);
  symbol.st_size = 16; // of an older library
  ASSERT_TRUE(find("sframe_jit_list"));
  EXPECT_FALSE(find("sframe_jit_list")->has_counters);
  EXPECT_FALSE(find("sframe_jit_lists"));
  symbol.st_shndx = SHN_UNDEF;
  EXPECT_FALSE(find("sframe_jit_list"));
}

} // namespace bpf_process_code_test
} // namespace sframe::bpf
