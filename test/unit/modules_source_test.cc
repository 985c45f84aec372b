// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source lines from incomplete DWARF, and with less budget than they need. Files that modules share.

#include "dwarf_assembler.h"
#include "made_up_space.h"

#include "sframe/modules/module.h"
#include "sframe/modules/source.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

namespace modules_source_test {

using namespace sframe;
using namespace sframe::test;

/// A program in a file without a name in any folder.
class FileInMemory {
public:
  explicit FileInMemory(const std::vector<std::byte>& bytes) : fd_(::memfd_create("program", MFD_CLOEXEC)) {
    EXPECT_EQ(::write(fd_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;
  ~FileInMemory() { ::close(fd_); }

  /// As mapped at its own addresses, which end at 0x2000.
  ModuleInfo mapped() const {
    ModuleInfo info;
    info.path = info.file = "/proc/self/fd/" + std::to_string(fd_);
    info.end = 0x2000;
    info.bias = 0;
    return info;
  }

private:
  int fd_;
};

// .debug_aranges leads to a unit that is a header and nothing else (DWARF 4, sections 6.1.2 and 7.5.1.1).
TEST(Source, EmptyCompileUnit) {
  TestElf elf;
  elf.type = elf::et_exec;
  elf.sections.push_back({".text", elf::sht_progbits, elf::shf_alloc | elf::shf_execinstr, 0x1000,
                          std::vector<std::byte>(0x100)});
  elf.sections.push_back(
      {".debug_info", elf::sht_progbits, 0, 0, Writer().u32(7).u16(4).u32(0).number(8, 1).bytes});
  elf.sections.push_back({".debug_abbrev", elf::sht_progbits, 0, 0, Writer().number(0, 1).bytes});
  Writer ranges;
  ranges.u32(44).u16(2).u32(0).number(8, 1).number(0, 1).u32(0).u64(0x1000).u64(0x100).u64(0).u64(0);
  elf.sections.push_back({".debug_aranges", elf::sht_progbits, 0, 0, ranges.bytes});
  const FileInMemory file(elf.build());
  const FileOptions files;
  NoBytes nothing;
  Module module(file.mapped(), amd64, files, nothing);
  modules::DwarfSource source;
  ASSERT_TRUE(module.debug().image());
  EXPECT_FALSE(source.find(module, 0x1010));
}

/// DWARF 4 of a function at 0x1000 that inlines `_Z6calleev` at 0x1010, in the file `a.c`. The inlined call
/// refers to the entry with the name by `between` others; `circle`: the last one refers to itself instead.
TestElf with_source(std::size_t between = 0, bool circle = false) {
  TestElf elf;
  elf.type = elf::et_exec;
  elf.sections.push_back({".text", elf::sht_progbits, elf::shf_alloc | elf::shf_execinstr, 0x1000,
                          std::vector<std::byte>(0x100)});
  Writer abbreviations; // a compile unit, an abstract function, a function, an inlined call, a reference
  for (const int byte :
       {1,    0x11, 1, 0x10, 0x17, 0x11, 1, 0x12, 6, 0,    0,   2,    0x2e, 0, 0x6e, 8, 0,    0, //
        3,    0x2e, 1, 0x11, 1,    0x12, 6, 0,    0,                                             //
        4,    0x1d, 0, 0x31, 0x13, 0x11, 1, 0x12, 6, 0x58, 0xb, 0x59, 0xb,  0, 0,    5, 0x2e, 0,
        0x31, 0x13, 0, 0,    0})
    abbreviations.number(static_cast<std::uint64_t>(byte), 1);
  Writer entries;
  entries.u16(4).u32(0).number(8, 1);
  entries.number(1, 1).u32(0).u64(0x1000).u32(0x100);
  std::size_t callee = 4 + entries.bytes.size();
  entries.number(2, 1).text("_Z6calleev").zeros(1);
  for (std::size_t i = 0; i < between; ++i) {
    const std::size_t next = 4 + entries.bytes.size();
    entries.number(5, 1).u32(circle && i == 0 ? next : callee);
    callee = next;
  }
  entries.number(3, 1).u64(0x1000).u32(0x100);
  entries.number(4, 1).u32(callee).u64(0x1010).u32(0x10).number(1, 1).number(7, 1);
  entries.zeros(2);
  elf.sections.push_back({".debug_info", elf::sht_progbits, 0, 0,
                          Writer().u32(entries.bytes.size()).append(entries.bytes).bytes});
  elf.sections.push_back({".debug_abbrev", elf::sht_progbits, 0, 0, abbreviations.bytes});
  elf.sections.push_back({".debug_line", elf::sht_progbits, 0, 0, dwarf::one_line()});
  return elf;
}

// Each sample of a running process has a new budget: names that did not fit into the last one are read again.
TEST(Source, NamesAreReadAgainWithNewBudget) {
  const FileInMemory file(with_source().build());
  FileOptions files;
  files.add_budget(0);
  NoBytes nothing;
  Module module(file.mapped(), amd64, files, nothing);
  modules::DwarfSource source;
  // Enough for nothing, for a part of the file's name, for that and a part of the function's.
  for (const std::uint64_t left : {0, 2, 10, 20}) {
    EXPECT_TRUE(files.budget->take(Resource::name_bytes, files.budget->left(Resource::name_bytes) - left));
    const auto cut = source.find(module, 0x1010);
    EXPECT_TRUE(!cut || cut->inlined.empty() || cut->inlined[0].function != "callee()" ||
                cut->inlined[0].at.file.empty() || cut->at.file.empty())
        << left;
    EXPECT_TRUE(files.budget->is_used_up(Resource::name_bytes));
    files.budget->refill(0);
  }
  const auto found = source.find(module, 0x1010);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->inlined.size(), 1u);
  EXPECT_EQ(found->inlined[0].function, "callee()");
  EXPECT_EQ(found->inlined[0].at.file, "/a.c");
  EXPECT_EQ(found->inlined[0].at.line, 1u);
  EXPECT_EQ(found->at.file, "/a.c");
  EXPECT_EQ(found->at.line, 7u);
}

// Real files have chains of two references (DWARF 4, 3.3.8 and 5.7.1). Longer ones are followed up to a
// limit, and circles have no name.
TEST(Source, ChainsOfReferences) {
  const auto name = [](std::size_t between, bool circle) {
    const FileInMemory file(with_source(between, circle).build());
    const FileOptions files;
    NoBytes nothing;
    Module module(file.mapped(), amd64, files, nothing);
    modules::DwarfSource source;
    const auto found = source.find(module, 0x1010);
    return found && !found->inlined.empty() ? found->inlined[0].function : std::string("none");
  };
  for (const std::size_t between : {0, 1, 2, 14}) EXPECT_EQ(name(between, false), "callee()") << between;
  EXPECT_NE(name(15, false), "callee()");
  EXPECT_NE(name(100, false), "callee()");
  EXPECT_NE(name(1, true), "callee()");
  EXPECT_NE(name(3, true), "callee()");
}

std::optional<modules::SourceLocation> source_at(const TestElf& elf, std::uint64_t address,
                                                 const FileOptions& files = {}) {
  const FileInMemory file(elf.build());
  NoBytes nothing;
  Module module(file.mapped(), amd64, files, nothing);
  modules::DwarfSource source;
  return source.find(module, address);
}

TEST(Source, AddressesOfTheUnit) {
  const TestElf elf = with_source();
  for (const std::uint64_t address : {0x1000, 0x100f, 0x1020, 0x10ff}) {
    const auto found = source_at(elf, address);
    ASSERT_TRUE(found) << address;
    EXPECT_TRUE(found->inlined.empty());
    EXPECT_EQ(found->at.file, "/a.c");
    EXPECT_EQ(found->at.line, 1u);
  }
  for (const std::uint64_t address : {0x1010, 0x101f}) EXPECT_EQ(source_at(elf, address)->inlined.size(), 1u);
  for (const std::uint64_t address : {0xfff, 0x1100}) EXPECT_FALSE(source_at(elf, address)) << address;
}

// What is kept of the file's name costs, and what is given of it.
TEST(Source, NamesOfFilesCost) {
  for (const std::uint64_t left : {4, 7, 8}) {
    FileOptions files;
    files.add_budget(0);
    files.budget->take(Resource::name_bytes, files.budget->left(Resource::name_bytes) - left);
    EXPECT_EQ(source_at(with_source(), 0x1000, files).has_value(), left == 8) << left;
  }
}

// An inlined function without a name, and one whose name is in another file, which is not there.
TEST(Source, InlinedCallsWithoutNames) {
  for (const bool elsewhere : {false, true}) {
    dwarf::Dwarf unit;
    unit.offset(dwarf::stmt_list, 0).open(dwarf::subprogram).label("callee");
    if (elsewhere) unit.alternate_text(dwarf::name, 0);
    unit.function().open(dwarf::inlined_subroutine).to(dwarf::abstract_origin, "callee");
    unit.address(dwarf::low_pc, 0x1010).number(dwarf::high_pc, 0x10).close();
    TestElf elf = unit.build(62);
    elf.sections.push_back({".debug_line", elf::sht_progbits, 0, 0, dwarf::one_line()});
    const auto found = source_at(elf, 0x1010);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->inlined.size(), 1u);
    EXPECT_EQ(found->inlined[0].function, "");
    EXPECT_EQ(found->inlined[0].at.file, "/a.c");
  }
}

// Without lines there are still the names of inlined calls.
TEST(Source, WithoutLineTable) {
  TestElf elf = with_source();
  elf.sections.pop_back();
  EXPECT_FALSE(source_at(elf, 0x1000));
  const auto inlined = source_at(elf, 0x1010);
  ASSERT_TRUE(inlined);
  ASSERT_EQ(inlined->inlined.size(), 1u);
  EXPECT_EQ(inlined->inlined[0].function, "callee()");
  EXPECT_EQ(inlined->inlined[0].at.file, "");
  EXPECT_EQ(inlined->at.file, "");
  EXPECT_EQ(inlined->at.line, 7u);
}

// Each lookup takes steps; without any left there is nothing, and the module says nothing wrong.
TEST(Source, StepsCost) {
  FileOptions files;
  files.add_budget(0);
  const std::uint64_t before = files.budget->left(Resource::debug_steps);
  EXPECT_TRUE(source_at(with_source(), 0x1010, files));
  const std::uint64_t used = before - files.budget->left(Resource::debug_steps);
  EXPECT_GT(used, 4u); // a compile unit, a function, an inlined call, and its origin
  EXPECT_LT(used, 100u);
  const std::uint64_t again = files.budget->left(Resource::debug_steps);
  EXPECT_TRUE(source_at(with_source(10), 0x1010, files));
  EXPECT_GE(again - files.budget->left(Resource::debug_steps), used + 10);
  files.budget->take(Resource::debug_steps, files.budget->left(Resource::debug_steps) + 1);
  EXPECT_FALSE(source_at(with_source(), 0x1010, files));
}

// LLVM visits nested entries by recursion: they may be 4096 levels below the unit.
TEST(Source, DeeplyNestedEntries) {
  for (const int depth : {4095, 4096}) {
    dwarf::Dwarf unit;
    unit.offset(dwarf::stmt_list, 0).function();
    for (int i = 1; i < depth; ++i) unit.open(dwarf::lexical_block).end_attributes();
    unit.open(dwarf::lexical_block);
    for (int i = 0; i < depth; ++i) unit.close();
    TestElf elf = unit.build(62);
    elf.sections.push_back({".debug_line", elf::sht_progbits, 0, 0, dwarf::one_line()});
    EXPECT_EQ(source_at(elf, 0x1000).has_value(), depth == 4095) << depth;
  }
}

/// A file in a folder of its own, with a build ID; and its path in a folder of debug files.
struct FileByBuildId {
  FileByBuildId() {
    TestElf elf = with_source();
    elf.sections.push_back({".note.gnu.build-id", 7, elf::shf_alloc, 0x3000,
                            Writer().u32(4).u32(4).u32(3).text("GNU", 4).u32(0x04030201).bytes});
    const auto bytes = elf.build();
    folder = std::filesystem::path(testing::TempDir()) / ("debug files " + std::to_string(::getpid()));
    path = folder / ".build-id" / "01" / "020304.debug";
    std::filesystem::create_directories(path.parent_path());
    write(bytes);
  }
  ~FileByBuildId() { std::filesystem::remove_all(folder); }
  /// A new file of this name.
  void write(const std::vector<std::byte>& bytes) const {
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  std::filesystem::path folder, path;
};

// A module that is its own debug file, by its build ID.
TEST(OpenFiles, NoCircles) {
  const FileByBuildId file;
  NoBytes nothing;
  std::weak_ptr<files::SharedImage> image;
  {
    FileOptions files = FileOptions().for_space();
    files.more_debug_dirs = {file.folder.string()};
    ModuleInfo info;
    info.path = info.file = file.path.string();
    info.end = 0x2000;
    info.bias = 0;
    {
      Module module(info, amd64, files, nothing);
      EXPECT_FALSE(module.symbols().find(modules::LinkAddress(0x1000))); // looks for the debug file
      auto opened = elf::File::open(file.path.string());
      ASSERT_TRUE(opened);
      image = files.shared->add(std::move(*opened), OpenFiles::Role::module, Limits::standard);
      EXPECT_EQ(image.use_count(), 2); // the module's, and that of the list
    }
    EXPECT_EQ(image.use_count(), 1);
    // Another version of the file takes its place.
    std::ofstream(file.path, std::ios::app) << "changed";
    auto changed = elf::File::open(file.path.string());
    ASSERT_TRUE(changed);
    EXPECT_NE(files.shared->add(std::move(*changed), OpenFiles::Role::module, Limits::standard),
              image.lock());
    EXPECT_TRUE(image.expired());
  }
  EXPECT_TRUE(image.expired());
}

} // namespace modules_source_test
