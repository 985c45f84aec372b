// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cores that do not list the mapped files: the program and its libraries by the dynamic loader's list in the
// core's memory. Layouts: System V ABI (ELF header, program headers, auxiliary vector), glibc <link.h>.

#include "elf_builder.h"
#include "inputs.h"

#include "sframe/base/budget.h"
#include "sframe/core/core_file.h"
#include "sframe/process/core_space.h"
#include "sframe/process/process_state.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

namespace process_core_test {

using namespace sframe;
using namespace sframe::test;
using process::CoreSpace;

constexpr std::uint64_t program = 0x400000, dynamic = 0x401000, debug = 0x401100, chain = 0x401200,
                        names = 0x401400, first_library = 0x7f0000000000, second_library = 0x7f0000100000,
                        page = 0x1000;

/// A core with a program whose first page is there, and two libraries whose first pages are not.
struct CoreOfLoader {
  bool has_debug = true, has_program_headers = true;
  std::uint64_t program_address = program; ///< of its program headers: not position-independent
  std::optional<std::uint64_t> last_next;  ///< instead of 0
  std::string second_name = "/lib/second.so";
  ByteOrder order = ByteOrder::little;

  std::vector<std::byte> build() const {
    const auto w = [&] { return Writer(order); };
    Writer headers = w();
    headers
        .text("\x7f"
              "ELF")
        .number(2, 1)
        .number(order == ByteOrder::little ? 1 : 2, 1)
        .number(1, 1)
        .zeros(9);
    headers.u16(2).u16(order == ByteOrder::little ? 62 : 22).u32(1).u64(program + 0x800).u64(64).u64(0);
    headers.u32(0).u16(64).u16(56).u16(3).u16(64).u16(0).u16(0);
    const auto header = [&](std::uint32_t type, std::uint64_t offset, std::uint64_t size) {
      headers.u32(type).u32(5).u64(offset).u64(program_address + offset).u64(program_address + offset);
      headers.u64(size).u64(size).u64(page);
    };
    header(6, 64, 3 * 56); // PT_PHDR
    header(elf::pt_load, 0, 0x2000);
    header(2, dynamic - program, 64); // PT_DYNAMIC
    headers.zeros(page - headers.bytes.size());

    Writer data = w();                                                    // at 0x401000
    data.u64(1).u64(5).u64(has_debug ? 21 : 22).u64(debug).u64(0).u64(0); // DT_NEEDED, DT_DEBUG
    data.zeros(debug - dynamic - data.bytes.size());
    data.u32(1).u32(0).u64(chain).u64(0); // r_debug
    data.zeros(chain - dynamic - data.bytes.size());
    const auto link = [&](std::uint64_t bias, std::uint64_t name, std::uint64_t ld, std::uint64_t next) {
      data.u64(bias).u64(name).u64(ld).u64(next).u64(0);
    };
    link(0, names, dynamic, chain + 40);
    link(first_library, names + 0x20, first_library + 2 * page, chain + 80);
    link(second_library, names + 0x40, second_library + 2 * page, last_next.value_or(0));
    data.zeros(names - dynamic - data.bytes.size());
    data.text("", 0x20).text("/lib/first.so", 0x20).text(second_name, 0x20).text("./program").zeros(1);
    data.zeros(page - data.bytes.size());

    const auto notes = note("CORE", 6,
                            w().u64(3)
                                .u64(program + 64)
                                .u64(5)
                                .u64(has_program_headers ? 3 : 0)
                                .u64(9)
                                .u64(program + 0x800)
                                .u64(31)
                                .u64(names + 0x60)
                                .u64(0)
                                .u64(0)
                                .bytes,
                            order);
    TestElf core;
    core.order = order;
    core.type = elf::et_core;
    core.machine = order == ByteOrder::little ? 62 : 22;
    const std::vector<std::byte> some(page, std::byte{0x90});
    core.segments = {{elf::pt_note, 0, 0, notes, 0},
                     {elf::pt_load, 5, program, headers.bytes, 0},
                     {elf::pt_load, 6, dynamic, data.bytes, 0},
                     {elf::pt_load, 5, first_library + page, some, 0},
                     {elf::pt_load, 6, first_library + 2 * page, some, 0},
                     {elf::pt_load, 6, first_library + 3 * page, some, 0},
                     {elf::pt_load, 6, first_library + 5 * page, some, 0}, // not adjacent
                     {elf::pt_load, 5, second_library + page, some, 0},
                     {elf::pt_load, 6, second_library + 2 * page, some, 0}};
    return core.build();
  }
};

/// The space of a core, with the bytes that it needs.
struct Opened {
  explicit Opened(const CoreOfLoader& made, modules::FileOptions files = {}) : bytes(made.build()) {
    auto parsed = core::Core::parse(bytes);
    EXPECT_TRUE(parsed);
    if (!parsed) return;
    core.emplace(std::move(*parsed));
    files.open_files = false;
    space = std::make_unique<CoreSpace>(*core, std::move(files));
  }
  std::string path_at(std::uint64_t address) {
    modules::Module* module = space->module_at(address);
    return module ? module->info().path : "none";
  }

  std::vector<std::byte> bytes;
  std::optional<core::Core> core;
  std::unique_ptr<CoreSpace> space;
};

TEST(ProcessCore, LibrariesOfTheLoader) {
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    CoreOfLoader made;
    made.order = order;
    Opened opened(made);
    ASSERT_TRUE(opened.space);
    // A library begins at its bias, and ends where the memory with its dynamic section does.
    EXPECT_EQ(opened.path_at(first_library - 1), "none");
    EXPECT_EQ(opened.path_at(first_library), "/lib/first.so");
    EXPECT_EQ(opened.path_at(first_library + page), "/lib/first.so");
    EXPECT_EQ(opened.path_at(first_library + 4 * page - 1), "/lib/first.so");
    EXPECT_EQ(opened.path_at(first_library + 4 * page), "none");
    EXPECT_EQ(opened.path_at(first_library + 5 * page), "none");
    EXPECT_EQ(opened.path_at(second_library + 2 * page), "/lib/second.so");
    modules::Module* const first = opened.space->module_at(first_library);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->info().bias, first_library);
    EXPECT_EQ(first->info().start, first_library);
    EXPECT_EQ(first->info().end, first_library + 4 * page);
    EXPECT_TRUE(first->info().placed);
    EXPECT_FALSE(first->info().main);
    EXPECT_EQ(opened.space->modules().size(), 3u);
  }
}

/// The program's name is the one that it was started by, or what the caller knows.
TEST(ProcessCore, NameOfTheProgram) {
  Opened opened(CoreOfLoader{});
  ASSERT_TRUE(opened.space);
  EXPECT_EQ(opened.path_at(program + 0x800), "./program");
  ASSERT_TRUE(opened.space->main_module());
  EXPECT_TRUE(opened.space->main_module()->info().main);
  EXPECT_EQ(opened.space->main_module()->info().entry, program + 0x800);
  modules::FileOptions files;
  files.executable = "/some/program";
  Opened named(CoreOfLoader{}, files);
  ASSERT_TRUE(named.space);
  EXPECT_EQ(named.path_at(program + 0x800), "/some/program");
}

TEST(ProcessCore, LibrariesOfAPositionIndependentProgram) {
  CoreOfLoader made;
  made.program_address = 0;
  Opened opened(made);
  ASSERT_TRUE(opened.space);
  EXPECT_EQ(opened.path_at(first_library + 2 * page), "/lib/first.so");
}

// What is known of the program: its first page is in the core. It has no name in the core's notes, so its
// place is computed.
TEST(ProcessCore, ModulesHaveWhatTheCoreHas) {
  Opened opened(CoreOfLoader{});
  ASSERT_TRUE(opened.space);
  const modules::ModuleInfo& info = opened.space->main_module()->info();
  EXPECT_EQ(info.start, program);
  EXPECT_EQ(info.bias, 0u);
  EXPECT_EQ(info.header_address, program);
  EXPECT_TRUE(info.placed);
  EXPECT_FALSE(info.assumed);
  EXPECT_FALSE(info.vdso);
  ASSERT_FALSE(info.mappings.empty());
  EXPECT_EQ(info.mappings.front().start, program);
  EXPECT_EQ(info.mappings.front().file_offset, 0u);
  const Opened moved(CoreOfLoader{.program_address = 0});
  ASSERT_TRUE(moved.space);
  EXPECT_EQ(moved.space->main_module()->info().bias, program);
}

/// A core of one thread, which a signal has ended. `pac_mask`: of its code pointers, 0: no note has it.
struct CoreOfThread {
  ByteOrder order = ByteOrder::big;
  std::uint16_t machine = 22;
  std::uint16_t signal = 4;
  std::optional<std::int32_t> code;
  std::uint64_t pac_mask = 0;
  std::vector<TestSegment> memory;

  std::vector<std::byte> build() const {
    Writer registers(order);
    registers.zeros(27 * 8 + 64).u64(0x4000).u64(0); // aarch64: x0 to x30, SP, PC; s390x has fewer
    Writer thread(order);
    thread.u32(signal).u32(0).u32(0).u16(signal).u16(0).zeros(16).u32(41).zeros(112 - 36);
    thread.append(registers.bytes).u64(0);
    auto notes = note("CORE", 1, thread.bytes, order);
    const auto add = [&](const std::vector<std::byte>& more) {
      notes.insert(notes.end(), more.begin(), more.end());
    };
    if (code)
      add(note(
          "CORE", 0x53494749,
          Writer(order).u32(signal).u32(0).u32(static_cast<std::uint32_t>(*code)).u32(0).u64(0xdead).bytes,
          order));
    if (pac_mask) add(note("LINUX", 0x406, Writer(order).u64(0xff).u64(pac_mask).bytes, order));
    TestElf core;
    core.order = order;
    core.type = elf::et_core;
    core.machine = machine;
    core.segments = {{elf::pt_note, 0, 0, notes, 0}};
    core.segments.insert(core.segments.end(), memory.begin(), memory.end());
    return core.build();
  }
};

// On s390x, the pc of SIGILL (4) and SIGFPE (8) is after the instruction (z/Architecture, "Types of
// Instruction Ending"): not of SIGSEGV, whose instruction has no effect. A code that is not positive is of
// kill() and its like (sigaction(2)). A core without a code has the kernel's signal.
TEST(ProcessCore, SignalsAfterTheInstruction) {
  const auto is_after = [](const CoreOfThread& made) {
    const auto bytes = made.build();
    const auto core = core::Core::parse(bytes);
    EXPECT_TRUE(core);
    const auto process = process::CoreProcess::create(*core, {});
    EXPECT_TRUE(process) << process.error().text();
    EXPECT_EQ((*process)->threads().size(), 1u);
    EXPECT_EQ((*process)->threads().front().tid, 41u);
    return (*process)->threads().front().after_fault;
  };
  for (const std::uint16_t signal : {std::uint16_t{4}, std::uint16_t{8}}) {
    EXPECT_TRUE(is_after({.signal = signal, .code = 1}));
    EXPECT_TRUE(is_after({.signal = signal, .code = 2}));
    EXPECT_TRUE(is_after({.signal = signal, .code = std::nullopt}));
    EXPECT_FALSE(is_after({.signal = signal, .code = 0}));
    EXPECT_FALSE(is_after({.signal = signal, .code = -6}));
  }
  for (const int signal : {0, 11, 63, 64, 68, 72})
    EXPECT_FALSE(is_after({.signal = static_cast<std::uint16_t>(signal), .code = 1})) << signal;
  EXPECT_FALSE(is_after({.order = ByteOrder::little, .machine = 183, .signal = 4, .code = 1}));
}

// Code pointers of AArch64 have authentication codes above their address: the kernel names the bits; else
// they are all above those of the highest address that is mapped, at least 39, the fewest of a program with
// pages of 4 KiB (Linux, Documentation/arch/arm64/memory.rst).
TEST(ProcessCore, BitsOfCodeAddresses) {
  const auto mask = [](const CoreOfThread& made) {
    const auto bytes = made.build();
    const auto core = core::Core::parse(bytes);
    EXPECT_TRUE(core);
    return CoreSpace(*core, {}).code_address_mask();
  };
  const auto mapped = [](std::uint64_t address, std::uint64_t size) {
    return std::vector<TestSegment>{{elf::pt_load, 5, 0x10000, std::vector<std::byte>(16), page},
                                    {elf::pt_load, 6, address, std::vector<std::byte>(16), size}};
  };
  constexpr auto order = ByteOrder::little;
  constexpr std::uint64_t codes = 0x7f'0000'0000'0000;
  EXPECT_EQ(mask({.order = order, .machine = 183, .pac_mask = codes}), ~codes);
  EXPECT_EQ(mask({.order = order, .machine = 183, .memory = mapped(0x20000, page)}), 0x7f'ffff'ffffu);
  // The last address counts, not the end.
  constexpr std::uint64_t end = std::uint64_t{1} << 48;
  EXPECT_EQ(mask({.order = order, .machine = 183, .memory = mapped(end - page, page)}), end - 1);
  EXPECT_EQ(mask({.order = order, .machine = 183, .memory = mapped(end - page, page + 1)}), 2 * end - 1);
  EXPECT_EQ(mask({.order = order, .machine = 183, .memory = mapped(end / 2, page)}), end - 1);
  EXPECT_EQ(mask({.memory = mapped(end - page, page)}), ~std::uint64_t{0}) << "s390x has none";
}

/// Lists that lead around, or to nowhere, end.
TEST(ProcessCore, DamagedLists) {
  for (const std::uint64_t next : {chain, chain + 40, chain + 80, std::uint64_t{8}}) {
    CoreOfLoader made;
    made.last_next = next;
    Opened opened(made);
    ASSERT_TRUE(opened.space);
    EXPECT_EQ(opened.path_at(first_library + 2 * page), "/lib/first.so");
    EXPECT_EQ(opened.path_at(second_library + 2 * page), "/lib/second.so");
    std::size_t asked = 0; // each place has one module
    for (modules::Module& module : opened.space->modules())
      asked += module.info().path == "/lib/first.so" && opened.space->module_at(first_library) == &module;
    EXPECT_EQ(asked, 1u);
  }
}

TEST(ProcessCore, WithoutAList) {
  CoreOfLoader without_debug;
  without_debug.has_debug = false;
  CoreOfLoader without_headers;
  without_headers.has_program_headers = false;
  for (const CoreOfLoader& made : {without_debug, without_headers}) {
    Opened opened(made);
    ASSERT_TRUE(opened.space);
    EXPECT_EQ(opened.path_at(first_library + 2 * page), "none");
    EXPECT_EQ(opened.path_at(program + 0x800), "./program");
  }
}

// A core without the program's headers: the program's file has the address of the dynamic section, which
// leads to the list.
TEST(ProcessCore, ListByTheFileOfTheProgram) {
  TestElf file;
  file.type = elf::et_exec;
  file.segments = {{elf::pt_load, elf::pf_r | elf::pf_x, program, std::vector<std::byte>(64), 0x2000},
                   {elf::pt_dynamic, elf::pf_r, dynamic, std::vector<std::byte>(64), 0}};
  const auto bytes = file.build();
  const std::string path = testing::TempDir() + "sframe-program-" + std::to_string(::getpid());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  CoreOfLoader made;
  made.has_program_headers = false;
  for (const bool given : {true, false}) {
    modules::FileOptions files;
    if (given) files.executable = path;
    const auto core_bytes = made.build();
    const auto core = core::Core::parse(core_bytes);
    ASSERT_TRUE(core);
    CoreSpace space(*core, files);
    ASSERT_TRUE(space.main_module());
    modules::Module* const first = space.module_at(first_library + 2 * page);
    EXPECT_EQ(first && first->info().path == "/lib/first.so", given);
  }
  std::filesystem::remove(path);
}

/// A library without a name cannot be found.
TEST(ProcessCore, NamelessLibrary) {
  CoreOfLoader made;
  made.second_name.clear();
  Opened opened(made);
  ASSERT_TRUE(opened.space);
  EXPECT_EQ(opened.path_at(second_library + 2 * page), "none");
}

TEST(ProcessCore, CodeIsWhatCanBeExecuted) {
  Opened opened(CoreOfLoader{});
  ASSERT_TRUE(opened.space);
  EXPECT_TRUE(opened.space->is_code(program + 0x800));
  EXPECT_TRUE(opened.space->is_code(first_library + page));
  EXPECT_FALSE(opened.space->is_code(first_library + 2 * page));
  EXPECT_FALSE(opened.space->is_code(dynamic));
  EXPECT_FALSE(opened.space->is_code(8));
  EXPECT_EQ(opened.space->view(first_library + page + 1).size(), page - 1);
  EXPECT_TRUE(opened.space->view(first_library + 4 * page).empty());
}

// A list that never ends, and one long name many times: both end. A name is at most PATH_MAX.
TEST(ProcessCore, NamesWithoutAnEnd) {
  CoreOfLoader made;
  made.second_name = std::string(0x20, 'x'); // up to the name of the program, which is next
  Opened opened(made);
  ASSERT_TRUE(opened.space);
  EXPECT_EQ(opened.path_at(second_library + 2 * page), made.second_name + "./program");
}

/// Cores of one program, one after the other: its file is read once, and each core pays for its own lookups,
/// also when the first one is gone.
TEST(ProcessCore, CoresShareOpenFiles) {
  const auto core = core::CoreFile::open(small_cores() / "s390x.core.zst", Limits::standard);
  if (!core) GTEST_SKIP() << core.error().text();
  const auto shared = std::make_shared<modules::OpenFiles>(8);
  const elf::Image* image = nullptr;
  for (int i = 0; i < 3; ++i) {
    modules::FileOptions files;
    files.executable = small_cores() / "s390x.elf";
    files.budget = std::make_shared<Budget>(Limits::standard, core->cost_size());
    files.shared = i < 2 ? shared : nullptr;
    const std::shared_ptr<Budget> budget = files.budget;
    auto process = process::CoreProcess::create(core->core(), std::move(files));
    ASSERT_TRUE(process) << process.error().text();
    modules::Module* const main = (*process)->space().main_module();
    ASSERT_TRUE(main);
    const std::uint64_t before = budget->left(Resource::cfi_instructions);
    unwind::CfiMatch row;
    ASSERT_TRUE(main->find_cfi((*process)->threads().front().registers.pc, row));
    EXPECT_LT(budget->left(Resource::cfi_instructions), before);
    EXPECT_EQ(main->image() == image, i == 1);
    image = main->image();
  }
  EXPECT_EQ(shared->size(), 1u);
}

} // namespace process_core_test
