// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cores: of a live child of this test (by gcore, if it is installed), and hand-made ones for other machines.

#include "elf_builder.h"
#include "sframe/core/core.h"
#include "sframe/elf/file.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <link.h>
#include <random>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace sframe::core {

using namespace elf;
namespace core_linux_test {

using test::note;
using test::TestElf;
using test::Writer;

std::uint64_t address_of(const auto* object) {
  return reinterpret_cast<std::uint64_t>(object);
}

/// Four bytes that identify themselves, in memory that a fork copies.
char marker[64] = "not in the file";

// A core of a process under AddressSanitizer would have its terabytes of shadow memory.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool too_large = true;
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer)
constexpr bool too_large = true;
#  else
constexpr bool too_large = false;
#  endif
#else
constexpr bool too_large = false;
#endif

/// A core of a sleeping child: what the child has in memory, the parent has at the same place.
class LiveCore : public testing::Test {
protected:
  static void SetUpTestSuite() {
    if (too_large || std::system("command -v gcore >/dev/null 2>&1") != 0) return;
    std::strcpy(marker, "the child's marker");
    const auto base = std::filesystem::temp_directory_path() / "sframe-core-test";
    child_ = ::fork();
    if (child_ == 0) {
      for (;;) ::pause();
    }
    const std::string command =
        "gcore -o '" + base.string() + "' " + std::to_string(child_) + " >/dev/null 2>&1";
    const int status = std::system(command.c_str());
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    const std::string path = base.string() + "." + std::to_string(child_);
    if (status != 0) return;
    if (auto file = File::open(path)) file_ = new File(std::move(*file));
    std::filesystem::remove(path);
  }
  static void TearDownTestSuite() {
    delete file_;
    file_ = nullptr;
  }
  void SetUp() override {
    if (!file_) GTEST_SKIP() << "no gcore, or it may not trace, or AddressSanitizer";
  }

  static inline pid_t child_ = 0;
  static inline File* file_ = nullptr;
};

TEST_F(LiveCore, ThreadsAndMemory) {
  auto core = Core::parse(file_->bytes());
  ASSERT_TRUE(core) << core.error().text();
  EXPECT_TRUE(core->problems().empty());
  EXPECT_FALSE(core->truncated());
  EXPECT_EQ(core->pid(), static_cast<std::uint32_t>(child_));
  ASSERT_EQ(core->threads().size(), 1u);
  EXPECT_EQ(core->threads()[0].tid, static_cast<std::uint32_t>(child_));

  std::byte copy[sizeof marker];
  ASSERT_EQ(core->read(address_of(marker), copy), sizeof copy);
  EXPECT_EQ(std::memcmp(copy, "the child's marker", 19), 0);
  EXPECT_EQ(core->bytes_at(address_of(marker))[4], std::byte('c'));
  EXPECT_EQ(core->auxv(AT_SYSINFO_EHDR), ::getauxval(AT_SYSINFO_EHDR));
  EXPECT_EQ(core->auxv(AT_ENTRY), ::getauxval(AT_ENTRY));

  const RegisterValues& registers = core->threads()[0].registers;
#ifdef __x86_64__
  EXPECT_EQ(registers.get(16), registers.pc);
  auto sp = registers.get(7);
  ASSERT_TRUE(sp);
  EXPECT_TRUE(core->read_word(*sp));
  EXPECT_EQ(*registers.get(0),
            static_cast<std::uint64_t>(-514)); // pause() is to be restarted: -ERESTARTNOHAND
#endif
  const CoreModule* module = core->module_at(registers.pc);
  ASSERT_TRUE(module);
  EXPECT_NE(module->path.find("libc"), std::string_view::npos);
}

TEST_F(LiveCore, Modules) {
  auto core = Core::parse(file_->bytes());
  ASSERT_TRUE(core);
  // The dynamic linker knows the bias of every image.
  struct Loaded {
    const Core* core;
    unsigned checked = 0;
  } loaded{&*core};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& state = *static_cast<Loaded*>(data);
        const auto code =
            std::find_if(info->dlpi_phdr, info->dlpi_phdr + info->dlpi_phnum, [](const auto& segment) {
              return segment.p_type == PT_LOAD && segment.p_flags & PF_X;
            });
        const CoreModule* module = state.core->module_at(info->dlpi_addr + code->p_vaddr);
        EXPECT_TRUE(module) << info->dlpi_name;
        if (!module) return 0;
        EXPECT_EQ(module->vdso, info->dlpi_addr == ::getauxval(AT_SYSINFO_EHDR)) << info->dlpi_name;
        EXPECT_EQ(module->bias.value_or(info->dlpi_addr), info->dlpi_addr) << module->path;
        if (!module->vdso) {
          auto file = File::open(std::string(module->path));
          auto image = Image::parse(file->bytes());
          EXPECT_TRUE(image);
          const BiasFinder finder(*image);
          EXPECT_EQ(finder.find(module->mappings), info->dlpi_addr) << module->path;
          EXPECT_EQ(finder.find(std::span(module->mappings).last(1)), info->dlpi_addr) << module->path;
          if (!module->build_id.empty()) {
            EXPECT_EQ(to_hex(module->build_id), to_hex(image->build_id()));
          }
        }
        ++state.checked;
        return 0;
      },
      &loaded);
  EXPECT_GE(loaded.checked, 3u); // this program, libc, the vdso

  auto vdso = std::ranges::find_if(core->modules(), &CoreModule::vdso);
  ASSERT_NE(vdso, core->modules().end());
  auto image = Image::parse(core->bytes_at(vdso->start));
  ASSERT_TRUE(image);
  EXPECT_FALSE(image->build_id().empty());
  EXPECT_EQ(to_hex(vdso->build_id), to_hex(image->build_id()));
}

TEST_F(LiveCore, SurvivesDamage) {
  std::mt19937 random(7);
  // Headers, notes and a little memory are enough.
  const auto whole = file_->bytes().first(std::min<std::size_t>(file_->bytes().size(), 1 << 18));
  for (unsigned i = 0; i < 200; ++i) {
    std::vector<std::byte> bytes(whole.begin(), whole.end());
    if (i % 4 == 0) bytes.resize(random() % bytes.size());
    for (unsigned flips = 0; flips < 8 && !bytes.empty(); ++flips)
      bytes[random() % std::min<std::size_t>(bytes.size(), 1 << 14)] ^= std::byte(1u << random() % 8);
    auto core = Core::parse(bytes);
    if (!core) continue;
    for (const CoreThread& thread : core->threads()) (void)core->read_word(thread.registers.pc);
    for (const CoreModule& module : core->modules()) (void)core->module_at(module.end - 1);
  }
}

/// pr_status of a machine: signal 11, thread `tid`, registers from `regs`.
std::vector<std::byte> status(ByteOrder order, std::uint32_t tid, const std::vector<std::byte>& regs) {
  Writer body(order);
  body.u32(11).u32(0).u32(0).u16(11).u16(0).zeros(16).u32(tid).zeros(112 - 36).append(regs).u64(0);
  return note("CORE", 1, body.bytes, order);
}

TEST(ElfCore, RegistersOfAarch64) {
  for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    Writer regs(order);
    for (unsigned i = 0; i < 31; ++i) regs.u64(0x100 + i);
    regs.u64(0x5000).u64(0x4000).u64(0); // SP, PC, PSTATE
    TestElf file{.order = order, .type = et_core, .machine = 183};
    auto notes = status(order, 41, regs.bytes);
    const auto mask = note("LINUX", 0x406, Writer(order).u64(0xff).u64(0x7f'0000'0000'0000).bytes, order);
    notes.insert(notes.end(), mask.begin(), mask.end());
    file.segments.push_back({pt_note, 0, 0, notes, 0});
    const auto bytes = file.build();
    auto core = Core::parse(bytes);
    ASSERT_TRUE(core);
    EXPECT_TRUE(core->problems().empty());
    ASSERT_EQ(core->threads().size(), 1u);
    const CoreThread& thread = core->threads()[0];
    EXPECT_EQ(thread.tid, 41u);
    EXPECT_EQ(thread.signal, 11);
    EXPECT_EQ(thread.registers.get(0), 0x100u);
    EXPECT_EQ(thread.registers.get(30), 0x11eu);
    EXPECT_EQ(thread.registers.get(31), 0x5000u);
    EXPECT_EQ(thread.registers.pc, 0x4000u);
    EXPECT_FALSE(thread.registers.get(33));
    EXPECT_EQ(thread.code_pac_mask, 0x7f'0000'0000'0000u);
    EXPECT_EQ(core->signal(), 11);
    EXPECT_EQ(core->pid(), 41u);
  }
}

/// VG of a thread of AArch64 with such notes: a type, and the vectors' length and flags in its header. 0: it
/// has none.
std::uint64_t granule(ByteOrder order, std::initializer_list<std::array<std::uint16_t, 3>> sets,
                      std::size_t problems = 0, std::size_t size = 16) {
  TestElf file{.order = order, .type = et_core, .machine = 183};
  Writer notes(order);
  notes.append(status(order, 41, std::vector<std::byte>(34 * 8)));
  for (const auto [type, length, flags] : sets) {
    Writer header(order);
    header.u32(16).u32(16).u16(length).u16(256).u16(flags).u16(0);
    header.bytes.resize(size);
    notes.append(note("LINUX", type, header.bytes, order));
  }
  file.segments.push_back({pt_note, 0, 0, notes.bytes, 0});
  const auto bytes = file.build();
  const auto core = Core::parse(bytes);
  EXPECT_TRUE(core);
  EXPECT_EQ(core->problems().size(), problems);
  return core->threads()[0].registers.get(46).value_or(0);
}

// Linux arch/arm64/include/uapi/asm/ptrace.h: struct user_sve_header, SVE_PT_REGS_SVE, SVE_VL_MAX;
// include/uapi/linux/elf.h: NT_ARM_SVE, NT_ARM_SSVE.
TEST(ElfCore, LengthOfScalableVectors) {
  constexpr std::uint16_t sve = 0x405, ssve = 0x40b;
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    EXPECT_EQ(granule(order, {}), 0u);
    EXPECT_EQ(granule(order, {{sve, 16, 1}}), 2u);
    EXPECT_EQ(granule(order, {{sve, 256, 0}}), 32u); // the registers are in NT_FPREGSET
    EXPECT_EQ(granule(order, {{sve, 8192, 1}}), 1024u);
    EXPECT_EQ(granule(order, {{sve, 32, 0}, {ssve, 64, 0}}), 4u);
    EXPECT_EQ(granule(order, {{sve, 32, 0}, {ssve, 64, 1}}), 8u); // in streaming mode
    for (const std::uint16_t length : std::initializer_list<std::uint16_t>{0, 8, 24, 8208, 65535})
      EXPECT_EQ(granule(order, {{sve, length, 1}}, 1), 0u);
    for (const std::size_t size : {0u, 8u, 13u}) EXPECT_EQ(granule(order, {{sve, 16, 1}}, 1, size), 0u);
  }
}

/// The hardware shadow stacks of a core with a thread before and one after `body`, and how many problems it
/// has.
std::vector<std::uint64_t> shadows(std::uint16_t machine, ByteOrder order, std::uint32_t type,
                                   const std::vector<std::byte>& body, std::size_t& problems) {
  TestElf file{.order = order, .type = et_core, .machine = machine};
  const std::vector<std::byte> registers(34 * 8);
  Writer notes(order);
  notes.append(note("LINUX", type, body, order)); // before any thread: nobody's
  notes.append(status(order, 41, registers)).append(note("LINUX", type, body, order));
  notes.append(note("CORE", type, body, order)).append(status(order, 42, registers));
  file.segments.push_back({pt_note, 0, 0, notes.bytes, 0});
  const auto bytes = file.build();
  const auto core = Core::parse(bytes);
  EXPECT_TRUE(core);
  problems = core->problems().size();
  std::vector<std::uint64_t> result;
  for (const CoreThread& thread : core->threads()) result.push_back(thread.hardware_shadow);
  return result;
}

// Linux include/uapi/linux/elf.h; arch/arm64/include/uapi/asm/ptrace.h: features_enabled, features_locked,
// gcspr_el0. Bit 0 of the features: PR_SHADOW_STACK_ENABLE.
TEST(ElfCore, HardwareShadowStacks) {
  using Pointers = std::vector<std::uint64_t>;
  std::size_t problems = 0;
  const auto little = [] { return Writer(ByteOrder::little); };
  EXPECT_EQ(shadows(62, ByteOrder::little, 0x204, little().u64(0x7f00'1234'5678).bytes, problems),
            (Pointers{0x7f00'1234'5678, 0}));
  EXPECT_EQ(problems, 0u);
  EXPECT_EQ(shadows(62, ByteOrder::little, 0x204, little().u32(0x1234'5678).bytes, problems),
            (Pointers{0, 0}));
  EXPECT_EQ(problems, 1u);
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const auto gcs = [&](std::uint64_t features) { return Writer(order).u64(features).u64(6).u64(0x7f80); };
    EXPECT_EQ(shadows(183, order, 0x410, gcs(1).bytes, problems), (Pointers{0x7f80, 0}));
    EXPECT_EQ(shadows(183, order, 0x410, gcs(7).bytes, problems), (Pointers{0x7f80, 0}));
    EXPECT_EQ(shadows(183, order, 0x410, gcs(2).bytes, problems), (Pointers{0, 0})); // not in use
    EXPECT_EQ(problems, 0u);
    for (const std::size_t size : {0u, 8u, 16u, 23u}) {
      auto cut = gcs(1).bytes;
      cut.resize(size);
      EXPECT_EQ(shadows(183, order, 0x410, cut, problems), (Pointers{0, 0}));
      EXPECT_EQ(problems, 1u);
    }
  }
}

TEST(ElfCore, RegistersOfS390x) {
  const ByteOrder order = ByteOrder::big;
  Writer regs(order);
  regs.u64(0x0705'0001'8000'0000).u64(0x4000);
  for (unsigned i = 0; i < 16; ++i) regs.u64(0x100 + i);
  for (unsigned i = 0; i < 16; ++i) regs.u32(0x200 + i);
  regs.u64(0);
  TestElf file{.order = order, .type = et_core, .machine = 22};
  file.segments.push_back({pt_note, 0, 0, status(order, 5, regs.bytes), 0});
  const auto bytes = file.build();
  auto core = Core::parse(bytes);
  ASSERT_TRUE(core);
  ASSERT_EQ(core->threads().size(), 1u);
  const RegisterValues& registers = core->threads()[0].registers;
  EXPECT_EQ(registers.get(15), 0x10fu);
  EXPECT_EQ(registers.get(48), 0x200u);
  EXPECT_EQ(registers.get(63), 0x20fu);
  EXPECT_EQ(registers.get(64), 0x0705'0001'8000'0000u);
  EXPECT_EQ(registers.get(65), 0x4000u);
  EXPECT_EQ(registers.pc, 0x4000u);
  EXPECT_FALSE(registers.get(16));
}

// user_regs_struct (arch/x86/include/asm/user_64.h); DWARF numbers of the x86-64 psABI, figure 3.36.
TEST(ElfCore, RegistersOfAmd64) {
  constexpr std::uint16_t none = 0xffff;
  constexpr std::uint16_t numbers[] = {15, 14,   13, 12, 6,  3, 11, 10, 9,  8,  0,  2,  1, 4,
                                       5,  none, 16, 51, 49, 7, 52, 58, 59, 53, 50, 54, 55};
  Writer regs;
  for (unsigned i = 0; i < std::size(numbers); ++i) regs.u64(0x1000 + i);
  const auto found = decode_registers(62, ByteOrder::little, regs.bytes);
  ASSERT_TRUE(found);
  std::size_t known = 0;
  for (unsigned i = 0; i < std::size(numbers); ++i) {
    if (numbers[i] == none) continue; // orig_rax
    EXPECT_EQ(found->get(numbers[i]), 0x1000 + i);
    ++known;
  }
  EXPECT_EQ(found->known.count(), known);
  EXPECT_EQ(found->pc, 0x1010u);
  regs.bytes.pop_back();
  EXPECT_FALSE(decode_registers(62, ByteOrder::little, regs.bytes));
}

/// The s390x psABI's order: f0, f2, f4, f6, f1, f3, ...
TEST(ElfCore, FloatingPointRegistersOfS390x) {
  const ByteOrder order = ByteOrder::big;
  Writer regs(order);
  regs.u64(0); // fpc
  for (unsigned i = 0; i < 16; ++i) regs.u64(0xf000 + i);
  RegisterValues values;
  EXPECT_TRUE(decode_fp_registers(22, order, regs.bytes, values));
  constexpr unsigned in_order[] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15};
  for (std::uint16_t i = 0; i < 16; ++i) EXPECT_EQ(values.get(16 + i), 0xf000 + in_order[i]);
  EXPECT_EQ(values.known.count(), 16u);
  regs.bytes.pop_back();
  RegisterValues cut;
  EXPECT_FALSE(decode_fp_registers(22, order, regs.bytes, cut));
  EXPECT_EQ(cut.known.count(), 15u);
}

/// Notes of the least size, and those with a byte less.
TEST(ElfCore, NotesThatAreCut) {
  const auto problems = [](std::uint32_t type, std::size_t size) {
    TestElf file{.type = et_core};
    file.segments.push_back({pt_note, 0, 0, note("CORE", type, std::vector<std::byte>(size)), 0});
    const auto bytes = file.build();
    const auto core = Core::parse(bytes);
    EXPECT_TRUE(core);
    std::string text;
    for (const Problem& one : core->problems()) text += one.text() + ";";
    return text;
  };
  constexpr std::uint32_t status = 1, process = 3, signal = 0x53494749, files = 0x46494c45;
  EXPECT_EQ(problems(process, 136), "");
  EXPECT_EQ(problems(process, 135), "NT_PRPSINFO note is too short;");
  EXPECT_EQ(problems(signal, 24), "");
  EXPECT_EQ(problems(signal, 23), "NT_SIGINFO note is too short;");
  EXPECT_EQ(problems(files, 16), "");
  EXPECT_EQ(problems(files, 15), "NT_FILE note is too short;");
  EXPECT_EQ(problems(status, 112 + 216), "");
  EXPECT_EQ(problems(status, 112 + 215), "NT_PRSTATUS note is too short;");
  EXPECT_EQ(problems(status, 111), "NT_PRSTATUS note is too short;");
}

// Of a machine without a layout, nothing is missing.
TEST(ElfCore, RegistersOfAnotherMachine) {
  constexpr std::uint16_t mips = 8;
  RegisterValues values;
  EXPECT_FALSE(has_register_layout(mips));
  EXPECT_FALSE(decode_registers(mips, ByteOrder::big, std::vector<std::byte>(4096)));
  EXPECT_TRUE(decode_fp_registers(mips, ByteOrder::big, {}, values));
}

TEST(ElfCore, PresentAndMissingMemory) {
  TestElf file{.type = et_core};
  file.segments.push_back({pt_load, pf_r | pf_w, 0x1000, Writer().u64(1).u64(2).bytes, 0});
  file.segments.push_back({pt_load, pf_r | pf_w, 0x1010, Writer().u64(3).bytes, 0x100});
  file.segments.push_back({pt_load, pf_r, 0x8000, {}, 0x1000});
  auto bytes = file.build();
  auto core = Core::parse(bytes);
  ASSERT_TRUE(core);
  EXPECT_EQ(core->read_word(0x1008), 2u);
  EXPECT_EQ(core->read_word(0x100c), 3ull << 32); // across two segments
  EXPECT_FALSE(core->read_word(0x1014));          // half of it was not dumped
  std::byte copy[64];
  EXPECT_EQ(core->read(0x1004, copy), 0x14u);
  EXPECT_EQ(core->bytes_at(0x1000).size(), 0x10u);
  EXPECT_TRUE(core->bytes_at(0x8000).empty());
  ASSERT_TRUE(core->range_at(0x8fff));
  EXPECT_EQ(core->range_at(0x8fff)->present, 0u);
  EXPECT_FALSE(core->range_at(0x9000));
  EXPECT_FALSE(core->range_at(0xfff));
  EXPECT_FALSE(core->truncated());

  bytes.resize(bytes.size() - 4);
  core = Core::parse(bytes);
  EXPECT_TRUE(core->truncated());
  EXPECT_FALSE(core->read_word(0x1010));
  EXPECT_EQ(core->read_word(0x1008), 2u);
}

TEST(ElfCore, FilesAndProcess) {
  Writer files;
  files.u64(4).u64(4096);
  files.u64(0x10000).u64(0x11000).u64(0).u64(0x11000).u64(0x12000).u64(
      1); // a program, first page not in the core
  files.u64(0x20000).u64(0x21000).u64(0).u64(0x30000).u64(0x31000).u64(0); // data; not ELF, as the core shows
  files.text(std::string_view("/bin/a b\0/bin/a b\0/usr/data\0/lib/x.so (deleted)\0", 48));
  Writer process;
  process.zeros(24).u32(77).zeros(12).text("a b", 16).text("a b -x ", 80);
  auto notes = note("CORE", 3, process.bytes);
  for (const auto& more : {note("CORE", 0x46494c45, files.bytes),
                           note("CORE", 6, Writer().u64(9).u64(0x10040).u64(0).u64(0).bytes),
                           note("CORE", 0x53494749, Writer().u32(11).u32(0).u32(1).u32(0).u64(0xdead).bytes)})
    notes.insert(notes.end(), more.begin(), more.end());
  TestElf file{.type = et_core};
  file.segments.push_back({pt_note, 0, 0, notes, 0});
  file.segments.push_back({pt_load, pf_r | pf_x, 0x10000, {}, 0x2000});
  file.segments.push_back({pt_load, pf_r, 0x20000, Writer().text("GIF89a").bytes, 0x1000});
  file.segments.push_back({pt_load, pf_r, 0x30000, {}, 0x1000}); // no code, first page not there
  const auto bytes = file.build();
  auto core = Core::parse(bytes);
  ASSERT_TRUE(core);
  EXPECT_TRUE(core->problems().empty());
  EXPECT_EQ(core->pid(), 77u);
  EXPECT_EQ(core->process_name(), "a b");
  EXPECT_EQ(core->arguments(), "a b -x");
  EXPECT_EQ(core->auxv(9), 0x10040u);
  EXPECT_FALSE(core->auxv(33));
  ASSERT_TRUE(core->signal_info());
  EXPECT_EQ(core->signal_info()->address, 0xdeadu);
  EXPECT_EQ(core->signal(), 11);
  EXPECT_EQ(signal_name(core->signal()), "SIGSEGV");
  ASSERT_EQ(core->mappings().size(), 4u);
  EXPECT_EQ(core->mappings()[1].file_offset, 4096u);
  EXPECT_EQ(core->mappings()[3].path, "/lib/x.so (deleted)");
  ASSERT_EQ(core->modules().size(), 1u);
  const CoreModule& module = core->modules()[0];
  EXPECT_EQ(module.path, "/bin/a b");
  EXPECT_EQ(module.end, 0x12000u);
  EXPECT_FALSE(module.bias);
  EXPECT_EQ(core->module_at(0x11fff), &module);
  EXPECT_FALSE(core->module_at(0x12000));
}

/// Without a list of files, a program is found by its header; else by the memory around its entry point.
TEST(ElfCore, ProgramAroundItsEntryPoint) {
  TestElf program{.type = et_dyn};
  program.segments.push_back({pt_load, pf_r | pf_x, 120, Writer().u64(1).bytes, 0x100}); // after the headers
  constexpr std::uint64_t start = 0x10000, end = start + 120 + 0x100;
  const auto core_with = [&](std::uint64_t entry) {
    TestElf file{.type = et_core};
    const auto auxv = note("CORE", 6, Writer().u64(9).u64(entry).u64(0).u64(0).bytes);
    file.segments.push_back({pt_note, 0, 0, auxv, 0});
    file.segments.push_back({pt_load, pf_r | pf_x, start, program.build(), 0x1000});
    file.segments.push_back({pt_load, pf_r | pf_x, 0x20000, {}, 0x1000});
    return file.build();
  };
  for (const std::uint64_t entry : {start, end - 1}) {
    const auto bytes = core_with(entry);
    const auto core = Core::parse(bytes);
    ASSERT_TRUE(core);
    ASSERT_EQ(core->modules().size(), 1u) << std::hex << entry;
    EXPECT_EQ(core->modules()[0].start, start);
    EXPECT_EQ(core->modules()[0].end, end);
    EXPECT_FALSE(core->modules()[0].assumed);
  }
  for (const std::uint64_t entry : {std::uint64_t(0x20000), std::uint64_t(0x20fff)}) {
    const auto bytes = core_with(entry);
    const auto core = Core::parse(bytes);
    ASSERT_TRUE(core);
    ASSERT_EQ(core->modules().size(), 2u) << std::hex << entry;
    EXPECT_EQ(core->modules()[1].start, 0x20000u);
    EXPECT_EQ(core->modules()[1].end, 0x21000u);
    EXPECT_TRUE(core->modules()[1].assumed);
  }
}

/// The last page of the address space ends at 2^64, which no 64-bit number represents.
TEST(ElfCore, VdsoAtTheTopOfMemory) {
  constexpr std::uint64_t top = 0xffff'ffff'ffff'f000;
  TestElf vdso{.type = et_dyn};
  vdso.segments.push_back({pt_load, pf_r | pf_x, 120, Writer().u64(1).bytes, 0}); // after the headers
  Writer files;
  files.u64(1).u64(4096).u64(0x10000).u64(0x11000).u64(0).text(std::string_view("/bin/a\0", 7));
  auto notes = note("CORE", 0x46494c45, files.bytes);
  const auto auxv = note("CORE", 6, Writer().u64(33).u64(top).u64(0).u64(0).bytes);
  notes.insert(notes.end(), auxv.begin(), auxv.end());
  TestElf file{.type = et_core};
  file.segments.push_back({pt_note, 0, 0, notes, 0});
  file.segments.push_back({pt_load, pf_r | pf_x, 0x10000, {}, 0x1000});
  file.segments.push_back({pt_load, pf_r | pf_x, top, vdso.build(), 0x1000});
  const auto bytes = file.build();
  const auto core = Core::parse(bytes);
  ASSERT_TRUE(core);
  const CoreModule* module = core->module_at(top + 120);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->path, "[vdso]");
  EXPECT_TRUE(module->vdso);
  EXPECT_EQ(module->start, top);
  EXPECT_EQ(module->end, 0xffff'ffff'ffff'ffffu);
  EXPECT_EQ(module->bias, top);
  EXPECT_EQ(core->module_at(0xffff'ffff'ffff'fffe), module);
  EXPECT_NE(core->module_at(0x10000), module);
  ASSERT_TRUE(core->range_at(0xffff'ffff'ffff'ffff));
}

} // namespace core_linux_test
} // namespace sframe::core
