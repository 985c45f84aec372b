// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module's file: which one may be opened, and what is found by addresses in the process. The addresses of
// functions in test/inputs/amd64/v3-gas247.so are those that nm and readelf show.

#include "elf_builder.h"
#include "inputs.h"
#include "made_up_space.h"

#include "sframe/modules/module.h"
#include "sframe/modules/symbols.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace modules_module_test {

using namespace sframe;
using namespace sframe::modules;
using namespace sframe::test;

constexpr std::uint64_t bias = 0x7f0000000000;

std::string library_path() {
  return (inputs() / "amd64/v3-gas247.so").string();
}

/// The library as it is mapped at `bias`.
ModuleInfo library() {
  ModuleInfo info;
  info.path = info.file = library_path();
  info.start = bias;
  info.end = bias + 0x3000;
  info.bias = bias;
  return info;
}

class ModulesLibrary : public ::testing::Test {
protected:
  FileOptions files_;
  NoBytes nothing_;
  Module module_{library(), amd64, files_, nothing_};
};

// frame_fp is [0x4fb, 0x50b) in the file, between leaf and frame_sp.
TEST_F(ModulesLibrary, AddressesInTheProcess) {
  EXPECT_EQ(module_.name(), "v3-gas247.so");
  EXPECT_EQ(module_.bias(), bias);
  unwind::CfiMatch cfi;
  ASSERT_TRUE(module_.find_cfi(bias + 0x4fb, cfi));
  EXPECT_EQ(cfi.row.fde_start, 0x4fbu);
  EXPECT_FALSE(cfi.ends_here);
  ASSERT_TRUE(module_.find_cfi(bias + 0x50a, cfi));
  EXPECT_EQ(cfi.row.fde_start, 0x4fbu);
  EXPECT_TRUE(cfi.ends_here);
  ASSERT_TRUE(module_.find_sframe(bias + 0x4fb));
  EXPECT_EQ(module_.find_sframe(bias + 0x4fb)->row.cfa.offset, 8);
  EXPECT_TRUE(module_.find_sframe(bias + 0x50a));
  EXPECT_EQ(module_.find_function(bias + 0x500), (AddressRange{bias + 0x4fb, 0x10}));
  EXPECT_EQ(module_.symbols().find_definition("frame_fp"), bias + 0x4fb);
  EXPECT_EQ(module_.symbols().find_definition("frame"), std::nullopt);
  EXPECT_TRUE(module_.is_code(bias + 0x4fb));
  const auto bytes = module_.file_bytes_at(bias + 0x4fb); // no mapping is known
  EXPECT_TRUE(bytes.empty());
  for (const std::uint64_t elsewhere : {std::uint64_t{0x4fb}, 2 * bias + 0x4fb}) {
    EXPECT_FALSE(module_.find_cfi(elsewhere, cfi));
    EXPECT_FALSE(module_.find_sframe(elsewhere));
    EXPECT_FALSE(module_.find_function(elsewhere));
    EXPECT_FALSE(module_.is_code(elsewhere));
  }
}

TEST_F(ModulesLibrary, NamesOfFunctions) {
  ElfSymbols symbols;
  // The frame's address, and one less for a return address: the offset is that of the frame's.
  const auto exact = symbols.find(module_, bias + 0x4fc, bias + 0x4fc);
  ASSERT_TRUE(exact);
  EXPECT_EQ(exact->name, "frame_fp");
  EXPECT_EQ(exact->offset, 1u);
  const auto after = symbols.find(module_, bias + 0x50a, bias + 0x50b);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->name, "frame_fp");
  EXPECT_EQ(after->offset, 0x10u);
  EXPECT_FALSE(symbols.find(module_, 0x4fc, 0x4fc));
}

// Neither kind of address is taken for the other, and a number is not taken for one of the file.
static_assert(!std::is_convertible_v<Address, LinkAddress> && !std::is_convertible_v<LinkAddress, Address>);
static_assert(!std::is_convertible_v<std::uint64_t, LinkAddress>);

TEST_F(ModulesLibrary, AddressesOfTheFile) {
  EXPECT_EQ(module_.link(bias + 0x4fb), LinkAddress(0x4fb));
  EXPECT_EQ(to_process(LinkAddress(0x4fb), bias), bias + 0x4fb);
  EXPECT_EQ(to_link(0x10, 0x20), LinkAddress(~std::uint64_t{0xf})); // they wrap
  EXPECT_EQ(module_.symbols().find(LinkAddress(0x4fb))->symbol->name, "frame_fp");
  EXPECT_EQ(module_.symbols().source(), ModuleSymbols::Source::full);
  EXPECT_EQ(module_.debug().image(), nullptr);
}

/// Records what it was asked for.
struct Asked final : SymbolLookup {
  struct Question {
    bool inside;
    std::uint64_t lookup_pc, pc;
    bool operator==(const Question&) const = default;
  };
  std::optional<FunctionName> find(Module&, std::uint64_t lookup_pc, std::uint64_t pc) override {
    questions.push_back({true, lookup_pc, pc});
    if (lookup_pc != known) return std::nullopt;
    return FunctionName{"known", 0};
  }
  std::optional<FunctionName> find_outside(std::uint64_t lookup_pc, std::uint64_t pc) override {
    questions.push_back({false, lookup_pc, pc});
    return std::nullopt;
  }
  std::uint64_t known = 0;
  std::vector<Question> questions;
};

// A return address may be the first of another function; a signal's trampoline begins at its address, which
// no call precedes.
TEST_F(ModulesLibrary, FunctionsOfFrames) {
  const auto ask = [&](const unwind::Frame& frame, Module* module, std::uint64_t known) {
    Asked asked;
    asked.known = known;
    const auto found = function_of(frame, module, asked);
    EXPECT_EQ(found.has_value(), known != 0);
    return asked.questions;
  };
  using Questions = std::vector<Asked::Question>;
  unwind::Frame frame;
  frame.pc = 0x1000;
  EXPECT_EQ(ask(frame, &module_, 0x1000), (Questions{{true, 0x1000, 0x1000}}));
  frame.pc_exact = false;
  EXPECT_EQ(ask(frame, &module_, 0xfff), (Questions{{true, 0xfff, 0x1000}}));
  EXPECT_EQ(ask(frame, nullptr, 0), (Questions{{false, 0xfff, 0x1000}}));
  frame.signal_frame = true;
  EXPECT_EQ(ask(frame, &module_, 0x1000), (Questions{{true, 0x1000, 0x1000}}));
  EXPECT_EQ(ask(frame, &module_, 0xfff), (Questions{{true, 0x1000, 0x1000}, {true, 0xfff, 0x1000}}));
  EXPECT_EQ(ask(frame, nullptr, 0), (Questions{{false, 0xfff, 0x1000}}));
}

/// gzip of stored bytes (RFC 1951 and 1952): what unpacks .gnu_debugdata goes by the magic number.
std::vector<std::byte> stored(const std::vector<std::byte>& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  Writer packed;
  packed.u16(0x8b1f).number(8, 1).zeros(7);
  packed.number(1, 1).u16(bytes.size()).u16(~bytes.size()).append(bytes);
  return packed.u32(~crc).u32(bytes.size()).bytes;
}

// Symbols of .dynsym, and those that .gnu_debugdata has in addition (gdb's manual, "MiniDebugInfo"): the
// nearest one that precedes the address.
TEST(ModulesSymbols, NearestOfTwoTables) {
  constexpr std::uint64_t text = 0x1000;
  const auto with_symbols = [&](const std::string& section, std::uint32_t type,
                                const std::vector<std::pair<char, std::uint64_t>>& symbols) {
    TestElf elf;
    elf.type = elf::et_dyn;
    elf.sections.push_back({".text", elf::sht_progbits, elf::shf_alloc | elf::shf_execinstr, text,
                            std::vector<std::byte>(0x100)});
    Writer table, names;
    table.zeros(24);
    names.zeros(1);
    for (const auto& [name, offset] : symbols) {
      table.append(symbol(static_cast<std::uint32_t>(names.bytes.size()), 0x12, 1, text + offset, 8));
      names.number(static_cast<unsigned char>(name), 1).zeros(1);
    }
    elf.sections.push_back({section, type, 0, 0, table.bytes, 3, 1, 24});
    elf.sections.push_back({".strtab", elf::sht_strtab, 0, 0, names.bytes});
    return elf;
  };
  TestElf outer = with_symbols(".dynsym", elf::sht_dynsym, {{'b', 0x20}, {'d', 0x60}});
  const auto inner = with_symbols(".symtab", elf::sht_symtab, {{'a', 0}, {'c', 0x40}}).build();
  outer.sections.push_back({".gnu_debugdata", elf::sht_progbits, 0, 0, stored(inner)});
  const std::string path = ::testing::TempDir() + "sframe-symbols-" + std::to_string(::getpid());
  const auto bytes = outer.build();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  ModuleInfo info;
  info.path = info.file = path;
  info.start = bias;
  info.end = bias + 0x3000;
  info.bias = bias;
  const FileOptions files;
  NoBytes nothing;
  Module module(info, amd64, files, nothing);
  ElfSymbols symbols;
  const auto name_at = [&](std::uint64_t offset) {
    const std::uint64_t pc = bias + text + offset;
    const auto found = symbols.find(module, pc, pc);
    return found ? found->name : "none";
  };
  EXPECT_EQ(name_at(0), "a");
  EXPECT_EQ(name_at(7), "a");
  EXPECT_EQ(name_at(0x20), "b");
  EXPECT_EQ(name_at(0x47), "c");
  EXPECT_EQ(name_at(0x67), "d");
  EXPECT_EQ(module.symbols().find(LinkAddress(text - 1)), std::nullopt);
  EXPECT_EQ(module.symbols().find(LinkAddress(text + 0x21))->offset, 1u);
  std::filesystem::remove(path);
}

/// What a core alone names is opened only if its build ID can be compared.
class ModulesOfCores : public ::testing::Test {
protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "sframe-modules-XXXXXX";
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder_ = std::filesystem::canonical(name);
    TestElf elf;
    elf.type = elf::et_dyn;
    elf.sections.push_back({".note.gnu.build-id", elf::sht_note, elf::shf_alloc, 0x100, note("GNU", 3, id_)});
    elf.segments.push_back({elf::pt_load, elf::pf_r | elf::pf_x, 0, std::vector<std::byte>(16)});
    write("with-id.so", elf.build());
    elf.machine = 183;
    write("aarch64.so", elf.build());
    elf.machine = 62;
    elf.sections.clear();
    write("without-id.so", elf.build());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const char* name, const std::vector<std::byte>& bytes) {
    std::ofstream(folder_ / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  ModuleInfo info(const char* name, std::vector<std::byte> id) const {
    ModuleInfo info;
    info.path = (folder_ / name).string();
    info.start = bias;
    info.end = bias + 0x1000;
    info.bias = bias;
    info.build_id = std::move(id);
    return info;
  }

  /// The module's problem, without its path; "opened" if there is none and the file was opened.
  std::string problem(const ModuleInfo& info) {
    FileOptions files;
    files.trust = trust_;
    files.server = server_;
    if (server_) files.add_budget(0);
    if (server_ && use_up_) files.budget->take(Resource::files, files.budget->left(Resource::files));
    NoBytes nothing;
    Module module(info, amd64, files, nothing);
    std::string text = module.file().problem();
    const bool is_open = module.image() != nullptr;
    EXPECT_EQ(is_open, !module.file().path().empty());
    if (text.starts_with(info.path + ": ")) text = text.substr(info.path.size() + 2);
    if (module.file().is_fetched()) text = "fetched" + text;
    if (text.empty()) return is_open ? "opened" : "nothing";
    return (is_open ? "opened: " : "") + text;
  }

  std::filesystem::path folder_;
  const std::vector<std::byte> id_ = hex("0102030405060708");
  FileTrust trust_ = FileTrust::build_id;
  std::shared_ptr<FileServer> server_;
  bool use_up_ = false;
};

TEST_F(ModulesOfCores, FilesThatMayBeOpened) {
  EXPECT_EQ(problem(info("with-id.so", id_)), "opened");
  EXPECT_EQ(problem(info("with-id.so", hex("0102030405060709"))),
            "build ID mismatch: core 0102030405060709, file has another");
  EXPECT_EQ(problem(info("without-id.so", id_)), "build ID mismatch: core 0102030405060708, file has none");
  EXPECT_EQ(problem(info("aarch64.so", id_)), "wrong machine");
  EXPECT_EQ(problem(info("missing.so", id_)), "cannot open: No such file or directory");
  EXPECT_EQ(
      problem(info("with-id.so", {})),
      "not opened: the core has no build ID to verify it; pass --trust=all to use it without verification");
  ModuleInfo other = info("with-id.so", {});
  other.main = true;
  EXPECT_EQ(problem(other),
            "not opened: the core has no build ID to verify it; pass EXECUTABLE or --trust=all");
  other = info("with-id.so", {});
  other.deleted = true;
  EXPECT_EQ(problem(other), "the mapped file was deleted, and its build ID is unknown");
  other = info("with-id.so", id_);
  other.deleted = true;
  EXPECT_EQ(problem(other), "opened");
  other.path = "with-id.so";
  EXPECT_EQ(problem(other), "not opened: the core has only a relative path; pass --sysroot for the files of "
                            "another machine");
  other.main = true;
  EXPECT_EQ(problem(other), "not opened: the core has only a relative path; pass EXECUTABLE");
  trust_ = FileTrust::none;
  EXPECT_EQ(
      problem(info("with-id.so", id_)),
      "not opened: named only by the core (--trust=none); pass --sysroot for the files of another machine");
  trust_ = FileTrust::all;
  EXPECT_EQ(problem(info("with-id.so", id_)), "opened");
  EXPECT_EQ(problem(info("with-id.so", {})),
            "opened: used without verification: the core has no build ID for it");
  other = info("with-id.so", {});
  other.deleted = true;
  EXPECT_EQ(problem(other), "the mapped file was deleted, and its build ID is unknown");
}

/// Has one file for every question.
struct OneFile final : FileServer {
  Result<std::string> fetch(ServedFile what, std::span<const std::byte>, std::string_view) override {
    ++asked;
    if (what != ServedFile::executable) return fail("no such file");
    return path;
  }
  std::string path;
  int asked = 0;
};

TEST_F(ModulesOfCores, MissingFilesAreFetched) {
  const auto server = std::make_shared<OneFile>();
  server_ = server;
  server->path = (folder_ / "with-id.so").string();
  EXPECT_EQ(problem(info("with-id.so", id_)), "opened");
  EXPECT_EQ(server->asked, 0);
  FileOptions files;
  files.server = server;
  files.add_budget(0);
  NoBytes nothing;
  Module module(info("missing.so", id_), amd64, files, nothing);
  EXPECT_TRUE(module.image());
  EXPECT_TRUE(module.file().is_fetched());
  EXPECT_EQ(module.file().problem(), "");
  EXPECT_EQ(module.file().path(), server->path);
  EXPECT_GT(server->asked, 0);
  // Without a build ID, nothing ties a file to the process.
  server->asked = 0;
  EXPECT_EQ(problem(info("missing.so", {})).find("fetched"), std::string::npos);
  EXPECT_EQ(server->asked, 0);
  server->path = (folder_ / "without-id.so").string();
  EXPECT_EQ(problem(info("missing.so", id_)),
            "cannot open: No such file or directory; the file from the server has another build ID");
  // Files cost what is left for them.
  server->path = (folder_ / "with-id.so").string();
  server->asked = 0;
  use_up_ = true;
  EXPECT_EQ(problem(info("missing.so", id_)), "not opened: too many files");
  EXPECT_EQ(server->asked, 0);
}

} // namespace modules_module_test
