// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Goroutines and panics of made-up runtimes (src/runtime/runtime2.go, src/internal/abi/type.go). The places
// of the data are stated by debug information, so that any will do.

#include "dwarf_assembler.h"
#include "made_up_process.h"
#include "made_up_space.h"

#include "sframe/languages/go.h"
#include "sframe/modules/debug_info_cache.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace languages_go_test {

using namespace sframe;
using namespace sframe::languages;
using namespace sframe::test::dwarf;

/// Where the objects are; those of which there are several are `apart` from each other.
constexpr std::uint64_t allgs = 0x20000, allm = 0x20100, reasons = 0x20200, moduledata = 0x20400,
                        version_at = 0x20600, list = 0x21000, gs = 0x30000, ms = 0x40000, panics = 0x50000,
                        types = 0x60000, texts = 0x70000, values = 0x80000, apart = 0x100;

/// Offsets in the structures.
enum G {
  stack_low = 0,
  stack_high = 8,
  panic = 0x10,
  m_of_g = 0x18,
  sched_sp = 0x20,
  sched_pc = 0x28,
  sched_bp = 0x30,
  status = 0x3c,
  id = 0x40,
  wait_since = 0x48,
  wait_reason = 0x50,
  locked_m = 0x58,
  sig = 0x60,
  sigcode1 = 0x68,
  sigpc = 0x70,
  gopc = 0x78,
  startpc = 0x80
};
enum M { g0 = 0, curg = 8, procid = 0x10, alllink = 0x18 };
enum Panic { argument = 0, link = 0x10, recovered = 0x18, goexit = 0x19 };

constexpr std::uint64_t no_place = ~std::uint64_t{0};

void members(Dwarf& dwarf, std::initializer_list<std::tuple<const char*, const char*, std::uint64_t>> all) {
  for (const auto& [called, of, offset] : all) {
    dwarf.open(member).text(name, called).to(type, of);
    if (offset != no_place) dwarf.number(data_member_location, offset);
  }
  dwarf.close();
}

/// The debug information of the runtime; `old`: with the names before Go 1.19 and 1.21.
Dwarf runtime_of(bool old = false, std::uint64_t start_at = startpc) {
  Dwarf dwarf;
  constexpr int is_unsigned = 7;
  for (const auto& [called, size] : {std::pair("uint8", 1), {"uint32", 4}, {"uintptr", 8}})
    dwarf.open(base_type)
        .label(called)
        .text(name, called)
        .number(encoding, is_unsigned)
        .number(byte_size, static_cast<std::uint64_t>(size));
  dwarf.open(type_definition).label("guintptr").text(name, "guintptr").to(type, "uintptr");
  const auto structure = [&](const char* label, std::uint64_t size) {
    dwarf.open(structure_type).label(label).text(name, label).number(byte_size, size).end_attributes();
  };
  structure("stack", 16);
  members(dwarf, {{"lo", "uintptr", 0}, {"hi", "uintptr", 8}});
  structure("gobuf", 24);
  members(dwarf, {{"sp", "uintptr", 0}, {"pc", "uintptr", 8}, {"bp", "uintptr", 16}});
  structure("Uint32", 8);
  members(dwarf, {{"value", "uint32", 4}});
  structure("_type", 8);
  if (old)
    members(dwarf, {{"kind", "uint8", 0}, {"tflag", "uint8", 1}, {"str", "uint32", 4}});
  else
    members(dwarf, {{"Kind_", "uint8", 0}, {"TFlag", "uint8", 1}, {"Str", "uint32", 4}});
  dwarf.open(pointer_type).label("*_type").to(type, "_type");
  structure("eface", 16);
  members(dwarf, {{"_type", "*_type", 0}, {"data", "uintptr", 8}});
  dwarf.open(pointer_type).label("*_panic").to(type, "_panic");
  structure("_panic", 0x20);
  members(dwarf, {{"arg", "eface", argument},
                  {"link", "*_panic", link},
                  {"recovered", "uint8", recovered},
                  {"goexit", "uint8", goexit}});
  structure("g", 0x100);
  members(dwarf, {{"stack", "stack", 0},
                  {"_panic", "*_panic", panic},
                  {"m", "uintptr", m_of_g},
                  {"sched", "gobuf", sched_sp},
                  {"atomicstatus", old ? "uint32" : "Uint32", old ? std::uint64_t{status} : status - 4u},
                  {"goid", "uintptr", id},
                  {"waitsince", "uintptr", wait_since},
                  {"waitreason", "uint8", wait_reason},
                  {"lockedm", "guintptr", locked_m},
                  {"sig", "uint32", sig},
                  {"sigcode1", "uintptr", sigcode1},
                  {"sigpc", "uintptr", sigpc},
                  {"gopc", "uintptr", gopc},
                  {"startpc", "uintptr", start_at}});
  structure("m", 0x20);
  members(dwarf, {{"g0", "uintptr", g0},
                  {"curg", "uintptr", curg},
                  {"procid", "uintptr", procid},
                  {"alllink", "uintptr", alllink}});
  structure("moduledata", 0x18);
  members(dwarf, {{"types", "uintptr", 0}, {"etypes", "uintptr", 8}, {"next", "uintptr", 16}});
  dwarf.open(array_type)
      .label("strings")
      .to(type, "stack")
      .number(byte_size, 16 * 4)
      .end_attributes()
      .close();
  for (const auto& [called, of] : {std::pair("runtime.g0", "g"),
                                   {"runtime.m0", "m"},
                                   {"runtime.firstmoduledata", "moduledata"},
                                   {"runtime.waitReasonStrings", "strings"}})
    dwarf.open(variable).text(name, called).to(type, of);
  return dwarf;
}

/// A Go program with some threads, at its own addresses.
class Program final : public test::MadeUpProcess {
public:
  explicit Program(Dwarf dwarf = runtime_of(), const char* section = ".gopclntab", bool symbols = true)
      : MadeUpProcess(Abi::amd64), fd_(::memfd_create("program", MFD_CLOEXEC)) {
    constexpr unsigned object = 0x11, function = 0x12;
    if (symbols)
      for (const auto& [called, at] : {std::pair("runtime.allgs", allgs),
                                       {"runtime.allm", allm},
                                       {"runtime.waitReasonStrings", reasons},
                                       {"runtime.firstmoduledata", moduledata},
                                       {"runtime.buildVersion", version_at}})
        dwarf.add_symbol(called, object, 0xfff1, at, 8); // SHN_ABS
    std::uint64_t at = 0x1000;
    for (const char* const called : {"runtime.gopark", "runtime.systemstack.abi0", "runtime.systemstack",
                                     "runtime.mcall", "runtime.asmcgocall", "main.main"})
      dwarf.add_symbol(called, function, 1, std::exchange(at, at + 0x20), 0x20);
    test::TestElf elf = dwarf.build(62);
    elf.sections.push_back({section, elf::sht_progbits, 0, 0, std::vector<std::byte>(8)});
    const auto bytes = elf.build();
    EXPECT_EQ(::write(fd_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    files_.open_files = true;
    modules::ModuleInfo info;
    info.path = info.file = "/proc/self/fd/" + std::to_string(fd_);
    info.start = 0x1000;
    info.end = 0x2000;
    info.bias = 0;
    modules_.emplace_back(info, abi(), files_, *this);
    words(allgs, {list, 0});
    words(allm, {0});
    put(list, std::vector<std::byte>(8 * 16));
    put(texts, bytes_of("chan receivego1.19.8\x07string"));
    words(version_at, {texts + 12, 8});
    words(reasons, {0, 0, 0, 0, 0, 0, texts, 12});
    words(moduledata, {types, types + 0x1000, 0});
    put(types, std::vector<std::byte>(0x1000));
  }
  ~Program() override { ::close(fd_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  bool is_code(std::uint64_t address) override { return address >= 0x1000 && address < 0x1100; }

  static std::vector<std::byte> bytes_of(std::string_view text) { return test::Writer().text(text).bytes; }

  /// Goroutine `number`, the last in the list.
  std::uint64_t add_g(std::uint64_t number, std::uint64_t state,
                      std::initializer_list<std::pair<int, std::uint64_t>> fields = {}) {
    const std::uint64_t at = gs + number * apart;
    put(at, std::vector<std::byte>(apart));
    set(at + id, number);
    set(at + status, state, 4);
    for (const auto& [offset, value] : fields) set(at + static_cast<std::uint64_t>(offset), value);
    set(list + 8 * count_, at);
    words(allgs, {list, ++count_});
    return at;
  }
  /// Thread `number`, before those that were added.
  std::uint64_t add_m(std::uint64_t number, std::uint32_t tid, std::uint64_t current = 0,
                      std::uint64_t system = 0) {
    const std::uint64_t at = ms + number * apart;
    words(at, {system, current, tid, *test::Memory(*this).number(allm, 8)});
    words(allm, {at});
    return at;
  }

  std::shared_ptr<GoProgram> open() {
    modules::DebugInfoCache cache;
    return GoProgram::open(*this, &modules_.front(), cache);
  }
  std::vector<Goroutine> goroutines() {
    const auto program = open();
    EXPECT_EQ(program->problem(), "");
    return program->goroutines();
  }

  /// A type with this name, at an offset in the module's types; its name is 0x80 further.
  std::uint64_t add_type(std::uint64_t offset, unsigned kind, std::string_view called, unsigned flags = 0) {
    set(types + offset, kind, 1);
    set(types + offset + 1, flags, 1);
    set(types + offset + 4, offset + 0x80, 4);
    std::uint64_t at = types + offset + 0x81;
    if (called.size() >= 0x80) set(at++, 0x80 | (called.size() & 0x7f), 1);
    set(at++, called.size() >= 0x80 ? called.size() >> 7 : called.size(), 1);
    for (const char c : called) set(at++, static_cast<unsigned char>(c), 1);
    return types + offset;
  }
  /// Panic `number` of a value of this type, at `values`.
  std::uint64_t add_panic(std::uint64_t number, std::uint64_t of, std::uint64_t next = 0,
                          unsigned is_recovered = 0, unsigned is_goexit = 0, std::uint64_t data = values) {
    const std::uint64_t at = panics + number * apart;
    words(at, {of, data, next, is_recovered | is_goexit << 8});
    return at;
  }
  /// What the thread that runs a goroutine with this panic died of.
  std::string thrown(std::uint64_t of_panic) {
    const std::uint64_t g = add_g(1, 2, {{panic, of_panic}});
    add_m(0, 100, g);
    const auto found = open()->panic_of(100);
    return found ? found->message : "nothing";
  }

private:
  int fd_;
  std::uint64_t count_ = 0;
};

TEST(LanguagesGo, Goroutines) {
  for (const bool old : {false, true}) {
    Program program(runtime_of(old));
    program.add_m(1, 101);
    program.add_m(0, 100);
    program.add_g(1, 2, {{m_of_g, ms}, {gopc, 0x1111}, {startpc, 0x10a0}});
    program.add_g(2, 4,
                  {{wait_reason, 3},
                   {wait_since, 12345},
                   {gopc, 0x1111},
                   {sched_pc, 0x1040},
                   {sched_sp, 0x9000},
                   {sched_bp, 0x9100},
                   {m_of_g, ms},
                   {locked_m, ms + apart}});
    program.add_g(3, 6);                                              // dead
    program.add_g(4, 0x1001, {{sched_pc, 0x1041}, {wait_reason, 3}}); // runnable, while it is scanned
    program.add_g(5, 3, {{m_of_g, ms + apart}});
    program.add_g(6, 10, {{wait_reason, 3}, {sched_pc, 0x1040}}); // found to wait forever
    program.add_g(7, 11);                                         // dead, for threads of C
    const auto found = program.goroutines();
    ASSERT_EQ(found.size(), 5u);
    EXPECT_EQ(program.open()->version(), "go1.19.8");
    const Goroutine &first = found[0], &second = found[1], &third = found[2], &call = found[3],
                    &last = found[4];
    EXPECT_EQ(first.id, 1u);
    EXPECT_EQ(first.address, gs + apart);
    EXPECT_EQ(first.status, "running");
    EXPECT_EQ(first.tid, 100u);
    EXPECT_EQ(first.creator_pc, 0u); // it was made by the program's start
    EXPECT_EQ(first.start_pc, 0x10a0u);
    EXPECT_EQ(first.wait_reason, "");
    EXPECT_EQ(second.status, "waiting");
    EXPECT_EQ(second.wait_reason, "chan receive");
    EXPECT_EQ(second.wait_since, 12345u);
    EXPECT_EQ(second.creator_pc, 0x1111u);
    EXPECT_EQ(second.tid, 0u);
    EXPECT_EQ(second.locked_tid, 101u);
    EXPECT_EQ(second.pc, 0x1040u);
    EXPECT_EQ(second.sp, 0x9000u);
    EXPECT_EQ(second.fp, 0x9100u);
    EXPECT_TRUE(second.pc_exact); // at the start of a function
    const unwind::FrameState frame = second.frame(program.abi());
    EXPECT_TRUE(frame.pc_exact);
    EXPECT_EQ(frame.registers.pc, 0x1040u);
    EXPECT_EQ(frame.registers.get(test::rsp), 0x9000u);
    EXPECT_EQ(frame.registers.get(test::rbp), 0x9100u);
    EXPECT_EQ(third.status, "runnable");
    EXPECT_EQ(third.wait_reason, "");
    EXPECT_FALSE(third.pc_exact);
    EXPECT_EQ(call.status, "system call");
    EXPECT_EQ(call.tid, 101u);
    EXPECT_EQ(last.status, "leaked");
    EXPECT_EQ(last.wait_reason, "chan receive (leaked)");
    EXPECT_EQ(last.pc, 0x1040u);
  }
}

TEST(LanguagesGo, DamagedLists) {
  Program program;
  program.add_m(0, 100);
  program.add_g(1, 4, {{wait_reason, 4}, {m_of_g, 0x999}, {locked_m, 0x999}});
  program.add_g(2, 2, {{m_of_g, 0x999}});
  program.set(ms + alllink, ms); // a circle
  auto found = program.goroutines();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].wait_reason, "");
  EXPECT_EQ(found[0].locked_tid, 0u);
  EXPECT_EQ(found[1].tid, 0u);
  EXPECT_FALSE(program.open()->panic_of(99));
  // One that cannot be read, and a list that ends early.
  program.set(list, 0x99000);
  EXPECT_EQ(program.goroutines().size(), 1u);
  program.words(allgs, {list, std::uint64_t{1} << 60});
  EXPECT_EQ(program.goroutines().size(), 1u);
  program.words(allgs, {0x99000, 5});
  EXPECT_TRUE(program.goroutines().empty());
  program.words(allgs, {list});
  EXPECT_TRUE(program.goroutines().empty());
}

TEST(LanguagesGo, ProgramsWithoutTheData) {
  EXPECT_EQ(Program(runtime_of(), ".go.buildinfo").open()->problem(), "");
  EXPECT_EQ(Program(runtime_of(), ".data.rel.ro.gopclntab").open()->problem(), "");
  EXPECT_FALSE(Program(runtime_of(), ".other").open());
  Program without_symbols(runtime_of(), ".gopclntab", false);
  EXPECT_EQ(without_symbols.open()->problem(), "the program has no symbols");
  EXPECT_EQ(without_symbols.open()->version(), "");
  EXPECT_TRUE(without_symbols.open()->goroutines().empty());
  EXPECT_EQ(Program(Dwarf()).open()->problem(), "the program has no debug information");
  // A field is missing, and one is larger than a number.
  Dwarf other;
  other.open(structure_type).label("g").number(byte_size, 8).end_attributes().close();
  for (const char* const called :
       {"runtime.g0", "runtime.m0", "runtime.firstmoduledata", "runtime.waitReasonStrings"})
    other.open(variable).text(name, called).to(type, "g");
  EXPECT_EQ(Program(other).open()->problem(), "the program has no debug information");
  EXPECT_EQ(Program(runtime_of(false, no_place)).open()->problem(), "the program has no debug information");
  modules::DebugInfoCache cache;
  Program program;
  EXPECT_FALSE(GoProgram::open(program, nullptr, cache));
}

/// As printpanicval() of src/runtime/error.go prints them.
TEST(LanguagesGo, PanicValues) {
  const auto value = [](unsigned kind, std::string_view called, std::initializer_list<std::uint64_t> words,
                        unsigned flags = 0) {
    Program program;
    program.words(values, words);
    return program.thrown(program.add_panic(0, program.add_type(0x100, kind, called, flags)));
  };
  constexpr std::uint64_t ones = ~std::uint64_t{0};
  EXPECT_EQ(value(1, "bool", {1}), "true");
  EXPECT_EQ(value(1, "bool", {0x100}), "false");
  EXPECT_EQ(value(2, "int", {ones}), "-1");
  EXPECT_EQ(value(3, "int8", {0xff80}), "-128");
  EXPECT_EQ(value(4, "int16", {0xf8000}), "-32768");
  EXPECT_EQ(value(5, "int32", {0xffffffffe}), "-2");
  EXPECT_EQ(value(6, "int64", {7}), "7");
  EXPECT_EQ(value(7, "uint", {ones}), "18446744073709551615");
  EXPECT_EQ(value(8, "uint8", {0x1ff}), "255");
  EXPECT_EQ(value(9, "uint16", {0x1ffff}), "65535");
  EXPECT_EQ(value(10, "uint32", {0x1ffffffff}), "4294967295");
  EXPECT_EQ(value(11, "uint64", {ones}), "18446744073709551615");
  EXPECT_EQ(value(12, "uintptr", {5}), "5");
  EXPECT_EQ(value(13, "float32", {0x3fc00000}), "1.5");
  EXPECT_EQ(value(14, "float64", {0x3fb999999999999a}), "0.1");
  EXPECT_EQ(value(2, "main.Code", {3}), "main.Code(3)");
  EXPECT_EQ(value(0x20 | 2, "int", {3}), "3"); // a flag beside the kind
  EXPECT_EQ(value(24, "string", {texts, 4}), "chan");
  EXPECT_EQ(value(24, "main.Text", {texts, 12}), "main.Text(\"chan receive\")");
  EXPECT_EQ(value(25, "main.T", {0}), "(main.T) 0x80000");
  // The name has a star that the type has not.
  EXPECT_EQ(value(25, "*main.T", {0}, 2), "(main.T) 0x80000");
  EXPECT_EQ(value(25, "*main.T", {0}), "(*main.T) 0x80000");
  // Names of 128 bytes and more have a length of two bytes, and are cut at 200.
  EXPECT_EQ(value(25, std::string(199, 'n'), {0}), "(" + std::string(199, 'n') + ") 0x80000");
  EXPECT_EQ(value(25, std::string(201, 'n'), {0}), "(" + std::string(200, 'n') + "...) 0x80000");
}

TEST(LanguagesGo, PanicsInTheirOrder) {
  Program program;
  program.words(values, {7});
  program.words(values + 8, {8});
  const std::uint64_t number = program.add_type(0x100, 2, "int");
  const std::uint64_t oldest = program.add_panic(0, number, 0, 1);
  const std::uint64_t left = program.add_panic(1, number, oldest, 0, 1); // runtime.Goexit()
  const std::uint64_t newest = program.add_panic(2, number, left, 0, 0, values + 8);
  const std::uint64_t g = program.add_g(1, 2, {{panic, newest}});
  program.add_m(0, 100, g);
  program.add_m(1, 101);
  auto found = program.open()->panic_of(100);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->language, "Go");
  EXPECT_EQ(found->type, "");
  EXPECT_EQ(found->message, "7 [recovered]; panic: 8");
  EXPECT_FALSE(program.open()->panic_of(101)); // runs none
  EXPECT_FALSE(program.open()->panic_of(102));
  program.set(g + sig, 11, 4);
  program.set(g + sigcode1, 0x18);
  program.set(g + sigpc, 0x1043);
  EXPECT_EQ(program.open()->panic_of(100)->message,
            "7 [recovered]; panic: 8 [signal SIGSEGV: address 0x18, pc 0x1043]");
  program.set(g + panic, 0);
  EXPECT_FALSE(program.open()->panic_of(100));
  program.set(g + panic, left);
  program.set(left + link, 0);
  EXPECT_FALSE(program.open()->panic_of(100));
}

TEST(LanguagesGo, DamagedPanics) {
  {
    Program program;
    program.words(values, {7});
    const std::uint64_t type = program.add_type(0x100, 2, "int");
    const std::uint64_t one = program.add_panic(0, type, panics); // a circle
    std::string expected = "7";
    for (int i = 1; i < 16; ++i) expected = "7; panic: " + expected;
    EXPECT_EQ(program.thrown(one), expected);
  }
  const auto thrown = [](std::uint64_t type, std::uint64_t data, std::uint64_t kind) {
    Program program;
    program.words(values, {texts, 4});
    program.add_type(0x100, static_cast<unsigned>(kind), "T");
    return program.thrown(program.add_panic(0, type, 0, 0, 0, data));
  };
  EXPECT_EQ(thrown(0, values, 2), "nil");
  EXPECT_EQ(thrown(types + 0x100, 0x99000, 2), "?");
  EXPECT_EQ(thrown(types + 0x100, 0x99000, 24), "?");
  EXPECT_EQ(thrown(types + 0x1000, values, 2), "?"); // no module has the type
  EXPECT_EQ(thrown(types - 1, values, 2), "?");
  EXPECT_EQ(thrown(types + 0x100, values, 2), "T(" + std::to_string(texts) + ")");
  EXPECT_EQ(Program().thrown(0x99000), "?");
}

/// Types of a further module, a plugin's.
TEST(LanguagesGo, TypesOfModules) {
  Program program;
  program.words(values, {7});
  const std::uint64_t type = program.add_type(0x800, 2, "int");
  const std::uint64_t second = moduledata + 0x80;
  program.words(moduledata, {types, types + 0x10, second});
  program.words(second, {types + 0x400, types + 0x900, 0});
  program.set(type + 4, 0x480, 4); // counts from the module's types
  EXPECT_EQ(program.thrown(program.add_panic(0, type)), "7");
}

/// From a function that switched to the thread's system stack, to where the goroutine was.
TEST(LanguagesGo, StepsToTheGoroutine) {
  Program program;
  const std::uint64_t system = program.add_g(0, 2, {{stack_low, 0x7000}, {stack_high, 0x8000}});
  const std::uint64_t g = program.add_g(1, 2,
                                        {{stack_low, 0xa000},
                                         {stack_high, 0xb000},
                                         {sched_pc, 0x1010},
                                         {sched_sp, 0xa800},
                                         {sched_bp, 0xa900}});
  const std::uint64_t m = program.add_m(0, 100, g, system);
  unwind::StepperGroup group;
  GoProgram::add_stepper(program.open(), group);
  unwind::Memory memory(program);
  const auto step = [&](std::uint64_t pc, std::uint64_t sp) -> std::string {
    unwind::FrameStepper* const stepper = group.find_for(pc);
    if (!stepper) return "no stepper";
    EXPECT_EQ(stepper->name(), "go");
    unwind::FrameState frame, caller;
    frame.registers = test::start(pc, sp);
    const auto result = stepper->step(frame, memory, caller);
    if (result.status == unwind::StepStatus::bottom) return "bottom";
    if (result.status != unwind::StepStatus::stepped) return "nothing";
    EXPECT_TRUE(result.other_stack);
    return sframe::hex(caller.registers.pc) + " " + sframe::hex(*caller.registers.get(test::rsp)) + " " +
           sframe::hex(*caller.registers.get(test::rbp)) + (caller.pc_exact ? " exact" : "");
  };
  const std::string expected = "0x1010 0xa800 0xa900";
  // The functions in assembly, not the wrappers that have the name without the suffix.
  for (const std::uint64_t pc : {0x1020, 0x103f, 0x1060, 0x107f}) EXPECT_EQ(step(pc, 0x7800), expected) << pc;
  for (const std::uint64_t pc : {0x101f, 0x1040, 0x10a0}) EXPECT_EQ(step(pc, 0x7800), "no stepper") << pc;
  for (const std::uint64_t sp : {0x7000, 0x8000}) EXPECT_EQ(step(0x1020, sp), expected);
  for (const std::uint64_t sp : {0x6fff, 0x8001, 0xa800}) EXPECT_EQ(step(0x1020, sp), "nothing");
  // asmcgocall() may be on the system stack already; else it has saved the goroutine there.
  EXPECT_EQ(step(0x1080, 0x7800), "nothing");
  program.words(0x7800, {0, 0, 0, 0, 0, 0, 0, g, g});
  EXPECT_EQ(step(0x1080, 0x7800), expected);
  program.words(0x7800, {0, 0, 0, 0, 0, 0, 0, 0, g});
  EXPECT_EQ(step(0x1080, 0x7800), "nothing");
  program.set(g + sched_pc, 0x1060);
  EXPECT_EQ(step(0x1020, 0x7800), "0x1060 0xa800 0xa900 exact");
  for (const std::uint64_t saved : {0x9fff, 0xb001}) {
    program.set(g + sched_sp, saved);
    EXPECT_EQ(step(0x1020, 0x7800), "nothing");
  }
  program.set(g + sched_sp, 0xb000);
  EXPECT_EQ(step(0x1020, 0x7800), "0x1060 0xb000 0xa900 exact");
  program.set(g + sched_pc, 0);
  EXPECT_EQ(step(0x1020, 0x7800), "nothing");
  program.set(m + curg, 0);
  EXPECT_EQ(step(0x1020, 0x7800), "bottom");
}

} // namespace languages_go_test
