// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Address spaces through callbacks: the result of a walk, its requests and their number, and its reaction to
// wrong answers. Expected numbers are derived by hand from remote_target.h.

#include "elf_builder.h"
#include "remote_target.h"

#include "sframe/builder.h"
#include "sframe/modules/module.h"
#include "sframe/remote/targets.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <memory>
#include <thread>
#include <vector>

namespace remote_cursor_test {

using namespace sframe;
using namespace sframe::modules;
using namespace sframe::remote;
using namespace sframe::unwind;
using namespace sframe::test;
using namespace sframe::test::target;
using sframe::test::target::rbx, sframe::test::target::rsp, sframe::test::target::start;

struct Remote : testing::Test {
  explicit Remote(unsigned depth = 2) : target(depth), space(target, traits(Abi::amd64)) {
    target.space = &space;
  }

  /// The pcs from the innermost frame on; ends at 1,000.
  std::vector<std::uint64_t> walk() {
    std::vector<std::uint64_t> pcs;
    if (cursor.start(space, nullptr) != RemoteStatus::ok) return pcs;
    do pcs.push_back(cursor.frame().registers.pc);
    while (pcs.size() < 1000 && (end = cursor.step()) == StepStatus::stepped);
    return pcs;
  }

  CountingTarget target;
  CallbackSpace space;
  RemoteCursor cursor;
  StepStatus end = StepStatus::error;
};

const std::vector<std::uint64_t> all = {leaf + 0x10, middle + 0x10, middle + 0x10, start + 0x10};

TEST_F(Remote, WalksToTheBottom) {
  EXPECT_EQ(walk(), all);
  EXPECT_EQ(end, StepStatus::bottom);
  EXPECT_TRUE(cursor.complete());
  EXPECT_EQ(cursor.frame().registers.get(rsp), stack_at + 48);
  EXPECT_EQ(cursor.frame().registers.get(rbx), 0xb03u);
  EXPECT_EQ(cursor.stepper(), "procedure");
  EXPECT_EQ(target.unaligned, 0);
  EXPECT_EQ(cursor.step(), StepStatus::bottom) << "and stays there";
}

/// Registers a procedure of 0x100 bytes as a program does with _U_dyn_register(): its first instruction, of
/// one byte, pushes rbx.
void register_procedure(TargetMemory& memory, std::uint64_t code) {
  constexpr std::uint64_t entry = dynamic_list_at + 0x100, region = entry + 0x100, name = region + 0x100;
  constexpr std::uint64_t format_dynamic = 0;
  enum : std::uint8_t { stop = 0, spill_sp_rel = 3, add = 4 };
  const auto operation = [](std::uint8_t tag, std::uint16_t reg, std::int64_t value) {
    return Bytes().u8(tag).u8(0).u16(reg).u32(0).u64(static_cast<std::uint64_t>(value));
  };
  memory.write(dynamic_list_at, Bytes().u32(0).u32(1).u64(entry));
  memory.write(entry, Bytes()
                          .u64(0)
                          .u64(0)
                          .u64(code)
                          .u64(code + 0x100)
                          .u64(0)
                          .u64(format_dynamic)
                          .u64(0)
                          .u64(name)
                          .u64(0)
                          .u64(0)
                          .u64(region));
  memory.write(region, Bytes().u64(0).u32(0x100).u32(3));
  memory.write(region + 16, operation(add, rsp, -8));
  memory.write(region + 32, operation(spill_sp_rel, rbx, 0));
  memory.write(region + 48, operation(stop, 0, 0));
  memory.write(name, Bytes().text("registered").u64(0));
  memory.word(code + 0x10, 0);
}

TEST_F(Remote, WalksRegisteredCode) {
  constexpr std::uint64_t code = 0x30000;
  for (const auto policy : {CachingPolicy::none, CachingPolicy::global, CachingPolicy::per_thread}) {
    space.set_caching(policy);
    register_procedure(target.memory, code);
    target.registers[pc_register] = code + 0x10;
    EXPECT_EQ(walk(), (std::vector{code + 0x10, middle + 0x10, middle + 0x10, start + 0x10}));
    EXPECT_TRUE(cursor.complete());

    ASSERT_EQ(cursor.start(space, nullptr), RemoteStatus::ok);
    std::array<char, 32> name{};
    std::uint64_t offset = 0;
    EXPECT_EQ(cursor.find_name(name, offset), RemoteStatus::ok);
    EXPECT_STREQ(name.data(), "registered");
    EXPECT_EQ(offset, 0x10u);
    ProcedureInfo info;
    EXPECT_EQ(cursor.find_procedure(info), RemoteStatus::ok);
    EXPECT_EQ(info.start, code);
    EXPECT_EQ(info.end, code + 0x100);
    EXPECT_EQ(cursor.step(), StepStatus::stepped);
    EXPECT_EQ(cursor.status(), RemoteStatus::ok);
    EXPECT_EQ(cursor.stepper(), "cfi");
    EXPECT_EQ(cursor.frame().registers.get(rbx), 0xb01u);

    target.memory.word(dynamic_list_at + 8, 0); // it is taken off the list
    ASSERT_EQ(cursor.start(space, nullptr), RemoteStatus::ok);
    EXPECT_EQ(cursor.find_name(name, offset), RemoteStatus::no_info);
  }
}

TEST_F(Remote, ReleasesEachProcedureOnce) {
  for (const auto policy : {CachingPolicy::none, CachingPolicy::global, CachingPolicy::per_thread}) {
    space.set_caching(policy);
    walk();
    EXPECT_GT(target.finds, 0);
    EXPECT_EQ(target.held, 0);
    EXPECT_EQ(target.wrong_owners, 0);
  }
  ProcedureInfo info;
  EXPECT_EQ(cursor.find_procedure(info), RemoteStatus::ok);
  EXPECT_EQ(target.finds_without_rules, 1);
  EXPECT_EQ(target.held, 0) << "nothing to release without rules";
  EXPECT_EQ(info.start, start);
  EXPECT_EQ(info.end, start + 0x100);
}

TEST_F(Remote, CachingPolicies) {
  walk(), walk();
  EXPECT_EQ(target.finds, 8) << "none: once for each step";

  // Two frames of the same pc share their rules: 3 of 4 are asked for.
  space.set_caching(CachingPolicy::global);
  target.finds = 0;
  walk(), walk();
  std::thread([&] { Remote::walk(); }).join();
  EXPECT_EQ(target.finds, 3) << "global: once for all";

  space.set_caching(CachingPolicy::per_thread);
  target.finds = 0;
  walk(), walk();
  EXPECT_EQ(target.finds, 3);
  std::thread([&] { Remote::walk(); }).join();
  EXPECT_EQ(target.finds, 6) << "per thread: once for each";
}

TEST_F(Remote, FlushOfRangeAndAll) {
  space.set_caching(CachingPolicy::global);
  walk();
  target.finds = 0;
  space.flush(middle, middle + 0x100);
  walk();
  EXPECT_EQ(target.finds, 1);
  space.flush(start + 0x100, start + 0x200);
  walk();
  EXPECT_EQ(target.finds, 1) << "nothing was cached there";
  target.finds = 0;
  space.flush(0, middle);
  walk();
  EXPECT_EQ(target.finds, 1) << "a range from 0 on is not all";
  target.finds = 1;
  space.flush();
  walk();
  EXPECT_EQ(target.finds, 4);
}

/// The return address is the first byte after the range, but the call is in it.
TEST_F(Remote, FlushDuringWalk) {
  space.set_caching(CachingPolicy::global);
  walk();
  target.finds = 0;
  space.flush(middle, middle + 0x10);
  walk();
  EXPECT_EQ(target.finds, 1) << "the return address is the first one after the range, the call is in it";
  space.flush(middle + 0x11, middle + 0x100);
  walk();
  EXPECT_EQ(target.finds, 1) << "the call is before this range";
}

/// At the first byte of `start`: the outermost frame; or after a fault that the last instruction of `middle`
/// raised, a frame of `middle`; or, by a return address, the same.
TEST_F(Remote, FrameAfterFaultHasSeparateRules) {
  CallbackView view(space, nullptr);
  Memory memory(view);
  const auto stepper = make_procedure_stepper(space.abi());
  FrameState frame, caller;
  frame.registers.pc = start;
  frame.registers.set(rsp, stack_at);
  for (const auto policy : {CachingPolicy::none, CachingPolicy::global, CachingPolicy::per_thread}) {
    space.set_caching(policy);
    frame.after_fault = false;
    EXPECT_EQ(stepper->step(frame, memory, caller).status, StepStatus::bottom);
    frame.after_fault = true;
    EXPECT_EQ(stepper->step(frame, memory, caller).status, StepStatus::stepped);
    EXPECT_EQ(caller.registers.pc, middle + 0x10);
  }
}

/// A target whose tables are the host's: each answer is a copy of its own, which is gone once it is released.
class HostTables final : public Accessors {
public:
  explicit HostTables(unsigned depth) : target(depth) {
    // One FDE for `leaf` and `middle`: CFA = rsp+16 by an expression, rbx at CFA-16 by another one.
    const std::size_t cie = cfi_.cie(
        cfi_.body().u8(1).text("").uleb(1).sleb(-8).u8(16).raw({0x0c, 7, 8, 0x90, 1, 0, 0, 0, 0, 0}));
    fde_ = cfi_.fde(cie, cfi_.body()
                             .u64(leaf)
                             .u64(start - leaf)
                             .raw({0x0f, 2, 0x77, 16, /* rbx: */ 0x10, 3, 2, 0x77, 0, 0, 0, 0}));
  }

  RemoteStatus find_procedure(std::uint64_t ip, bool need_rules, void* arg, ProcedureInfo& info) override {
    if (ip >= start) return target.find_procedure(ip, need_rules, arg, info);
    info.start = leaf;
    info.end = start;
    if (!need_rules) return RemoteStatus::ok;
    auto* copy = new std::vector<std::byte>(cfi_.bytes().get());
    info.rules = ProcedureInfo::Rules::cfi;
    info.cfi = {.host = copy->data(), .size = copy->size(), .section = cfi_at, .fde = cfi_at + fde_};
    info.owner = copy;
    ++finds;
    return RemoteStatus::ok;
  }
  void release_procedure(ProcedureInfo& info, void* arg) override {
    if (info.owner == &target) return target.release_procedure(info, arg);
    auto* copy = static_cast<std::vector<std::byte>*>(info.owner);
    std::ranges::fill(*copy, std::byte{0xff}); // which a sanitizer does not report either
    released_.emplace_back(copy);
  }
  RemoteStatus access_memory(std::uint64_t address, std::uint64_t& value, bool write, void* arg) override {
    return target.access_memory(address, value, write, arg);
  }
  RemoteStatus access_register(std::uint16_t reg, std::uint64_t& value, bool write, void* arg) override {
    return target.access_register(reg, value, write, arg);
  }

  CountingTarget target;
  int finds = 0;

private:
  CfiAssembler cfi_;
  std::size_t fde_ = 0;
  std::vector<std::unique_ptr<std::vector<std::byte>>> released_;
};

TEST(RemoteTables, HostTablesMayBeFreedAfterRelease) {
  for (const auto policy : {CachingPolicy::none, CachingPolicy::global, CachingPolicy::per_thread}) {
    HostTables tables(2);
    CallbackSpace space(tables, traits(Abi::amd64));
    tables.target.space = &space;
    space.set_caching(policy);
    for (int i = 0; i < 2; ++i) {
      RemoteCursor cursor;
      ASSERT_EQ(cursor.start(space, nullptr), RemoteStatus::ok);
      for (unsigned frame = 1; frame <= 3; ++frame) {
        ASSERT_EQ(cursor.step(), StepStatus::stepped) << static_cast<int>(cursor.status());
        EXPECT_EQ(cursor.frame().registers.pc, frame == 3 ? start + 0x10 : middle + 0x10);
        EXPECT_EQ(cursor.frame().registers.get(rbx), 0xb00u + frame);
        EXPECT_EQ(cursor.save_location(rbx).where, stack_at + 16 * (frame - 1));
      }
      EXPECT_EQ(cursor.step(), StepStatus::bottom);
    }
    EXPECT_EQ(tables.finds, policy == CachingPolicy::none ? 6 : 2);
  }
}

/// The answer of find_procedure(), and memory for it.
class GivenProcedure final : public Accessors {
public:
  explicit GivenProcedure(Abi abi = Abi::amd64) : space(*this, traits(abi)) {}
  RemoteStatus find_procedure(std::uint64_t ip, bool, void* arg, ProcedureInfo& info) override {
    if (sframe) {
      info.rules = ProcedureInfo::Rules::sframe;
      info.sframe = *sframe;
      return RemoteStatus::ok;
    }
    CallbackView view(space, arg);
    return describe_procedure(view, location, ip, info);
  }
  RemoteStatus access_memory(std::uint64_t address, std::uint64_t& value, bool, void*) override {
    if (!memory.read(address, value)) return RemoteStatus::invalid;
    if (space.abi().byte_order == ByteOrder::big) value = std::byteswap(value);
    return RemoteStatus::ok;
  }
  RemoteStatus access_register(std::uint16_t, std::uint64_t&, bool, void*) override {
    return RemoteStatus::bad_register;
  }
  StepResult step(const FrameState& frame, FrameState& caller) {
    CallbackView view(space, nullptr);
    Memory words(view);
    return make_procedure_stepper(space.abi())->step(frame, words, caller);
  }

  TargetMemory memory{2};
  CallbackSpace space;
  CfiLocation location;
  std::optional<SframeMatch> sframe;
};

FrameState frame_at(std::uint64_t pc, bool exact = true) {
  FrameState frame;
  frame.registers.pc = pc;
  frame.registers.set(rsp, stack_at);
  frame.pc_exact = exact;
  return frame;
}

/// Both byte orders and kinds of sections, with lengths of 4 and of 8 bytes. The CIE is not the first entry;
/// its personality is a pointer to a pointer.
TEST(RemoteTables, EntriesOfEachForm) {
  constexpr std::uint64_t bias = 0x1000, pointer = 0x60000;
  for (const auto& [abi, kind] : {std::pair{Abi::amd64, cfi::SectionKind::eh_frame},
                                  {Abi::amd64, cfi::SectionKind::debug_frame},
                                  {Abi::s390x, cfi::SectionKind::eh_frame},
                                  {Abi::s390x, cfi::SectionKind::debug_frame}})
    for (const bool wide : {false, true}) {
      CfiAssembler cfi(kind, traits(abi).byte_order, wide);
      cfi.cie(cfi.body().u8(1).text("").uleb(1).sleb(-8).u8(16));
      const auto body = cfi.body().u8(1).text("zPL").uleb(1).sleb(-8).u8(16).uleb(10);
      const auto cie =
          cfi.cie(Bytes(body).u8(cfi::pe_indirect).u64(pointer - bias).u8(0).raw({0x0c, 7, 16, 0x90, 1}));
      const auto fde =
          cfi.fde(cie, cfi.body().u64(leaf - bias).u64(0x100).uleb(8).u64(0x5555).raw({0x83, 2, 0, 0}));
      const auto without_data =
          cfi.fde(cie, cfi.body().u64(middle - bias).u64(0x100).uleb(8).u64(0).raw({0x83, 2, 0, 0}));
      GivenProcedure target(abi);
      target.memory.write(cfi_at, Bytes(cfi.bytes()).u64(0));
      target.memory.write(pointer, cfi.body().u64(0x7777));
      target.location = {.kind = kind, .section = cfi_at, .fde = cfi_at + fde, .bias = bias};
      CallbackView view(target.space, nullptr);
      ProcedureInfo info;
      ASSERT_EQ(describe_procedure(view, target.location, leaf, info), RemoteStatus::ok);
      EXPECT_EQ(info.start, leaf);
      EXPECT_EQ(info.end, leaf + 0x100);
      EXPECT_EQ(info.lsda, 0x5555 + bias);
      EXPECT_EQ(info.handler, 0x7777u);
      EXPECT_EQ(describe_procedure(view, target.location, leaf + 0xff, info), RemoteStatus::ok);
      EXPECT_EQ(describe_procedure(view, target.location, leaf + 0x100, info), RemoteStatus::no_info);
      EXPECT_EQ(describe_procedure(view, target.location, leaf - 1, info), RemoteStatus::no_info);
      CfiLocation second = target.location;
      second.fde = cfi_at + without_data;
      ASSERT_EQ(describe_procedure(view, second, middle, info), RemoteStatus::ok);
      EXPECT_EQ(info.lsda, 0u) << "a pointer of 0 is none, whatever the bias";
      EXPECT_EQ(info.handler, 0x7777u);

      if (abi != Abi::amd64) continue; // the rules are for its registers
      FrameState caller;
      ASSERT_EQ(target.step(frame_at(leaf + 0x10), caller).status, StepStatus::stepped);
      EXPECT_EQ(caller.registers.pc, middle + 0x10);
      EXPECT_EQ(caller.registers.get(rbx), 0xb01u);
    }
}

/// 64 KiB after the length.
TEST(RemoteTables, LongestEntry) {
  for (const std::uint64_t length : {0x10000u, 0x10001u}) {
    CfiAssembler cfi;
    const auto cie = cfi.cie(cfi.body().u8(1).text("").uleb(1).sleb(-8).u8(16).raw({0x0c, 7, 16, 0x90, 1}));
    Bytes body = cfi.body().u64(leaf).u64(0x100);
    while (body.size() + 4 < length) body.u8(0);
    const auto fde = cfi.fde(cie, body);
    GivenProcedure target;
    target.memory.write(cfi_at, Bytes(cfi.bytes()).u64(0));
    target.location = {.fde = cfi_at + fde};
    CallbackView view(target.space, nullptr);
    ProcedureInfo info;
    EXPECT_EQ(describe_procedure(view, target.location, leaf, info),
              length == 0x10000 ? RemoteStatus::ok : RemoteStatus::bad_version);
  }
}

/// A return address after the end of a function may be that of a signal handler, which no instruction calls.
TEST(RemoteTables, FunctionsNextToATrampoline) {
  const Bytes restorer = Bytes().raw({0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 5});
  GivenProcedure target;
  CfiAssembler cfi;
  const auto cie = cfi.cie(cfi.body().u8(1).text("").uleb(1).sleb(-8).u8(16).raw({0x0c, 7, 16, 0x90, 1}));
  const auto fde = cfi.fde(cie, cfi.body().u64(leaf).u64(0x100).u64(0));
  target.memory.write(cfi_at, Bytes(cfi.bytes()).u64(0));
  target.location = {.fde = cfi_at + fde};
  const auto status = [&](std::uint64_t pc, bool exact) {
    FrameState caller;
    return target.step(frame_at(pc, exact), caller).status;
  };
  EXPECT_EQ(status(leaf + 0x100, false), StepStatus::stepped);
  for (const std::uint64_t at : {leaf + 0x80, leaf + 0x100})
    target.memory.write(at, Bytes(restorer).raw({0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(status(leaf + 0x100, false), StepStatus::not_applicable);
  EXPECT_EQ(status(leaf + 0x80, false), StepStatus::stepped) << "not at the function's end";
  EXPECT_EQ(status(leaf + 0xff, true), StepStatus::stepped) << "no return address";

  for (const bool ends_here : {false, true})
    for (const bool signal_frame : {false, true}) {
      target.sframe = {.row = {0, Rule::value(rsp, 16), Rule::at_cfa(-8), Rule::same(), false},
                       .signal_frame = signal_frame,
                       .ends_here = ends_here};
      EXPECT_EQ(status(leaf + 0x100, false),
                ends_here && !signal_frame ? StepStatus::not_applicable : StepStatus::stepped);
      EXPECT_EQ(status(leaf + 0x100, true), StepStatus::stepped);
    }
}

/// A module as the owner of a target gives it: one procedure, whose frames have `size` bytes in addition to
/// the return address.
struct OneProcedure final : ByteSource {
  explicit OneProcedure(std::uint64_t size)
      : module(info(), traits(Abi::amd64), files, *this, std::make_shared<GeneratedCode>(code(size))) {}
  static ModuleInfo info() {
    ModuleInfo info;
    info.start = leaf;
    info.end = start;
    info.bias = 0;
    return info;
  }
  static GeneratedCode code(std::uint64_t size) {
    GeneratedCode code;
    code.procedure = {
        leaf,
        start,
        {{static_cast<std::int32_t>(start - leaf), {{ProcedureOperation::Tag::add, rsp, -1, 0 - size}}}},
        nullptr};
    return code;
  }
  std::span<const std::byte> memory_at(std::uint64_t) override { return {}; }

  FileOptions files{.open_files = false};
  Module module;
};

/// Another module came to the place of the first.
class ChangingModules final : public Accessors {
public:
  RemoteStatus find_procedure(std::uint64_t, bool, void*, ProcedureInfo&) override {
    return RemoteStatus::no_info;
  }
  RemoteStatus access_memory(std::uint64_t address, std::uint64_t& value, bool write, void* arg) override {
    return target.access_memory(address, value, write, arg);
  }
  RemoteStatus access_register(std::uint16_t reg, std::uint64_t& value, bool write, void* arg) override {
    return target.access_register(reg, value, write, arg);
  }
  Module* module_at(std::uint64_t address, void*) override {
    return address >= leaf && address < start ? &now->module : nullptr;
  }
  bool is_code(std::uint64_t address, void*) override { return address >= leaf && address < start; }

  CountingTarget target{2};
  OneProcedure* now = nullptr;
};

TEST(RemoteModules, AreRefreshedAfterFlush) {
  OneProcedure first(8), second(24);
  for (const auto policy : {CachingPolicy::global, CachingPolicy::per_thread}) {
    ChangingModules target;
    CallbackSpace space(target, traits(Abi::amd64));
    space.set_caching(policy);
    const auto caller_sp = [&] {
      RemoteCursor cursor;
      EXPECT_EQ(cursor.start(space, nullptr), RemoteStatus::ok);
      EXPECT_EQ(cursor.step(), StepStatus::stepped);
      EXPECT_EQ(cursor.stepper(), "cfi");
      return cursor.frame().registers.get(rsp);
    };
    target.now = &first;
    EXPECT_EQ(caller_sp(), stack_at + 16);
    target.now = &second;
    space.flush(leaf, start);
    EXPECT_EQ(caller_sp(), stack_at + 32);
  }
}

/// step() does what peek() reported, by any stepper.
/// A target whose one module has SFrame for `leaf`, and no CFI.
class SframeTarget final : public ModuleAccessors {
public:
  const AbiTraits& abi() const override { return space_.abi(); }
  ModuleSpace& space() override { return space_; }
  Module* module_at(std::uint64_t address, void*) override { return space_.module_at(address); }
  RemoteStatus access_memory(std::uint64_t, std::uint64_t&, bool, void*) override {
    return RemoteStatus::invalid;
  }
  RemoteStatus access_register(std::uint16_t, std::uint64_t&, bool, void*) override {
    return RemoteStatus::bad_register;
  }

private:
  static ModuleInfo info() {
    ModuleInfo info;
    info.start = leaf;
    info.end = leaf + 0x1000;
    info.bias = 0;
    return info;
  }
  static GeneratedCode code() {
    constexpr std::uint64_t sframe_at = leaf + 0x800;
    Builder builder({.abi = Abi::amd64});
    FrameRow row = traits(Abi::amd64).entry_row();
    row.cfa.offset += 24;
    EXPECT_TRUE(builder.add({.start = leaf, .size = 0x100}, std::vector{row}));
    TestElf file{.type = elf::et_dyn, .sections = {}, .segments = {}};
    file.sections.push_back({.name = ".sframe",
                             .type = elf::sht_gnu_sframe,
                             .flags = elf::shf_alloc,
                             .address = sframe_at,
                             .bytes = builder.finish(sframe_at).value()});
    GeneratedCode code;
    code.image = file.build();
    return code;
  }

  struct Space final : ModuleSpace, ByteSource {
    const AbiTraits& abi() const override { return traits(Abi::amd64); }
    bool is_code(std::uint64_t address) override { return module_at(address); }
    Module* module_at(std::uint64_t address) override { return address - leaf < 0x1000 ? &module : nullptr; }
    std::span<const std::byte> memory_at(std::uint64_t) override { return {}; }
    FileOptions files{.open_files = false};
    Module module{info(), traits(Abi::amd64), files, *this, std::make_shared<GeneratedCode>(code())};
  };
  Space space_;
};

TEST(RemoteModules, ProceduresWithSframeAlone) {
  SframeTarget target;
  for (const bool need_rules : {true, false})
    for (const std::uint64_t ip : {leaf, leaf + 0xff}) {
      ProcedureInfo info;
      ASSERT_EQ(target.find_procedure(ip, need_rules, nullptr, info), RemoteStatus::ok);
      EXPECT_EQ(info.start, leaf);
      EXPECT_EQ(info.end, leaf + 0x100);
      EXPECT_EQ(info.rules, need_rules ? ProcedureInfo::Rules::sframe : ProcedureInfo::Rules::none);
      if (need_rules) {
        EXPECT_EQ(info.sframe.row.cfa, Rule::value(rsp, 32)); // the call's 8 bytes, and 24
      }
    }
  ProcedureInfo info;
  EXPECT_EQ(target.find_procedure(leaf + 0x100, true, nullptr, info), RemoteStatus::no_info);
  EXPECT_EQ(target.find_procedure(leaf - 1, true, nullptr, info), RemoteStatus::no_info);
}

TEST_F(Remote, PeekMatchesStep) {
  register_procedure(target.memory, 0x30000);
  target.memory.word(stack_at, middle + 0x10); // a guess could find the caller here, too
  for (const auto pc : {leaf + 0x10, std::uint64_t{0x30010}, std::uint64_t{0x90000}})
    for (const auto status : {RemoteStatus::ok, RemoteStatus::stop_unwind, RemoteStatus::no_info,
                              RemoteStatus::bad_version, RemoteStatus::invalid}) {
      target.registers[pc_register] = pc;
      target.registers[6] = stack_at; // rbp, for those that guess
      target.find_status = status;
      ASSERT_EQ(cursor.start(space, nullptr), RemoteStatus::ok);
      const StepResult seen = cursor.peek();
      EXPECT_EQ(seen.status, cursor.step()) << std::hex << pc << " status " << static_cast<int>(status);
    }
  // A caller further down the stack is no caller.
  target.find_status = RemoteStatus::ok;
  target.registers[pc_register] = leaf + 0x10;
  ASSERT_EQ(cursor.start(space, nullptr), RemoteStatus::ok);
  EXPECT_TRUE(cursor.peek().has_cfa);
  EXPECT_EQ(cursor.peek().cfa, stack_at + 16);
}

TEST_F(Remote, FailuresAreNotCached) {
  space.set_caching(CachingPolicy::global);
  target.find_status = RemoteStatus::invalid;
  EXPECT_EQ(walk().size(), 1u);
  target.find_status = RemoteStatus::ok;
  EXPECT_EQ(walk(), all);
}

TEST_F(Remote, DynamicListIsCached) {
  CallbackView view(space, nullptr);
  EXPECT_EQ(view.dynamic_info_list(), dynamic_list_at);
  EXPECT_EQ(view.dynamic_info_list(), dynamic_list_at);
  EXPECT_EQ(target.dynamic_asked, 2);
  space.set_caching(CachingPolicy::global);
  view.dynamic_info_list(), view.dynamic_info_list();
  EXPECT_EQ(target.dynamic_asked, 3);
  space.flush(1, 2);
  view.dynamic_info_list();
  EXPECT_EQ(target.dynamic_asked, 4);
}

TEST_F(Remote, StepsOfAWalkerAreTheSame) {
  CallbackView view(space, nullptr);
  Memory memory(view);
  const auto stepper = make_procedure_stepper(space.abi());
  ASSERT_EQ(cursor.start(space, nullptr), RemoteStatus::ok);
  FrameState caller;
  const StepResult result = stepper->step(cursor.frame(), memory, caller);
  EXPECT_EQ(result.status, StepStatus::stepped);
  EXPECT_EQ(result.cfa, stack_at + 16);
  EXPECT_EQ(caller.registers.pc, middle + 0x10);
  EXPECT_TRUE(stepper->recovers_all_registers());
  target.find_status = RemoteStatus::stop_unwind;
  EXPECT_EQ(stepper->step(cursor.frame(), memory, caller).status, StepStatus::bottom);
  target.find_status = RemoteStatus::no_info;
  EXPECT_EQ(stepper->step(cursor.frame(), memory, caller).status, StepStatus::not_applicable);
}

TEST_F(Remote, SaveLocations) {
  ASSERT_EQ(cursor.start(space, nullptr), RemoteStatus::ok);
  EXPECT_EQ(cursor.save_location(rbx).kind, SaveLocation::Kind::reg);
  EXPECT_EQ(cursor.save_location(rbx).where, rbx);
  cursor.step(), cursor.step();
  const SaveLocation saved = cursor.save_location(rbx), pc = cursor.save_location(pc_register);
  EXPECT_EQ(saved.kind, SaveLocation::Kind::memory);
  EXPECT_EQ(saved.where, stack_at + 16);
  EXPECT_EQ(pc.kind, SaveLocation::Kind::memory);
  EXPECT_EQ(pc.where, stack_at + 24);
  EXPECT_EQ(cursor.save_location(rsp).kind, SaveLocation::Kind::none);
}

TEST_F(Remote, WritesRegistersToSaveLocations) {
  ASSERT_EQ(cursor.start(space, nullptr), RemoteStatus::ok);
  EXPECT_EQ(cursor.set_register(rbx, 0x77), RemoteStatus::ok);
  EXPECT_EQ(target.registers[rbx], 0x77u);
  EXPECT_EQ(cursor.frame().registers.get(rbx), 0x77u);
  cursor.step();
  EXPECT_EQ(cursor.set_register(rbx, 0x78), RemoteStatus::ok);
  EXPECT_EQ(cursor.frame().registers.get(rbx), 0x78u);
  std::uint64_t word = 0;
  EXPECT_TRUE(target.memory.read(stack_at, word));
  EXPECT_EQ(word, 0x78u);
  EXPECT_EQ(cursor.set_register(200, 1), RemoteStatus::bad_register);
  EXPECT_EQ(cursor.set_register(pc_register, start), RemoteStatus::ok);
  EXPECT_EQ(cursor.frame().registers.pc, start);
  EXPECT_TRUE(target.memory.read(stack_at + 8, word));
  EXPECT_EQ(word, start);
  target.read_only = true;
  EXPECT_EQ(cursor.set_register(rbx, 0x79), RemoteStatus::invalid);
  EXPECT_EQ(cursor.frame().registers.get(rbx), 0x78u) << "as in the target";
}

TEST_F(Remote, ResumesInAnOuterFrame) {
  ASSERT_EQ(cursor.start(space, nullptr), RemoteStatus::ok);
  cursor.step();
  EXPECT_EQ(cursor.resume(), RemoteStatus::ok);
  EXPECT_EQ(target.resumed, 1);
  EXPECT_EQ(target.registers[pc_register], middle + 0x10);
  EXPECT_EQ(target.registers[rsp], stack_at + 16);
  EXPECT_EQ(target.registers[rbx], 0xb01u);
}

TEST_F(Remote, NamesByCallAddress) {
  ASSERT_EQ(cursor.start(space, nullptr), RemoteStatus::ok);
  char name[8];
  std::uint64_t offset = 0;
  EXPECT_EQ(cursor.find_name(name, offset), RemoteStatus::ok);
  EXPECT_STREQ(name, "leaf");
  EXPECT_EQ(offset, 0x10u);
  cursor.step();
  EXPECT_EQ(cursor.find_name(name, offset), RemoteStatus::ok);
  EXPECT_EQ(offset, 0x10u) << "0xf is looked up, the offset is the pc's";
  EXPECT_EQ(cursor.find_name(std::span(name, 4), offset), RemoteStatus::no_memory);
  EXPECT_STREQ(name, "mid");
}

TEST_F(Remote, OwnerCanStopWalk) {
  target.find_status = RemoteStatus::stop_unwind;
  EXPECT_EQ(walk().size(), 1u);
  EXPECT_EQ(end, StepStatus::bottom);
  EXPECT_EQ(cursor.status(), RemoteStatus::stop_unwind);
}

TEST_F(Remote, PassesOnUnknownStatus) {
  target.find_status = static_cast<RemoteStatus>(22); // a callback that returns -EINVAL of errno
  EXPECT_EQ(walk().size(), 1u);
  EXPECT_EQ(end, StepStatus::error);
  EXPECT_EQ(static_cast<int>(cursor.status()), 22);
}

TEST_F(Remote, NeedsPcAndStackPointer) {
  target.registers.erase(rbx);
  EXPECT_EQ(walk(), all) << "others may be missing";
  target.registers.erase(rsp);
  EXPECT_EQ(cursor.start(space, nullptr), RemoteStatus::bad_register);
  target.registers[rsp] = stack_at;
  EXPECT_EQ(cursor.start(space, nullptr), RemoteStatus::ok);
  target.registers.erase(pc_register);
  EXPECT_EQ(cursor.start(space, nullptr), RemoteStatus::bad_register);
}

TEST_F(Remote, UnalignedReads) {
  // The table four bytes further, as linkers lay it out: pairs straddle words.
  const std::uint64_t moved = 0x30004;
  std::uint64_t word = 0;
  for (std::uint64_t i = 0; i < 24; i += 8) {
    ASSERT_TRUE(target.memory.read(table_at + i, word));
    target.memory.word(moved + i, word);
  }
  target.table.address = moved; // its first and last words are there by half only
  EXPECT_EQ(walk(), all);
}

/// Unless the owner knows better, what can be read is code; it is read in whole words.
TEST_F(Remote, CodeIsWhatCanBeRead) {
  for (const std::uint64_t byte : {0, 1, 7, 8, 15}) EXPECT_TRUE(target.is_code(stack_at + byte, nullptr));
  EXPECT_FALSE(target.is_code(stack_at - 1, nullptr));
  EXPECT_EQ(target.unaligned, 0);
}

// ---- Wrong answers ----

TEST_F(Remote, WrongTables) {
  target.table.size = ~std::uint64_t{0};
  EXPECT_EQ(walk().size(), 1u);
  target.table.size = 7;
  EXPECT_EQ(walk().size(), 1u) << "no whole pair";
  target.table = {0x999000, 24, table_at, table_at};
  EXPECT_EQ(walk().size(), 1u);
  target.table = {table_at, 24, table_at, stack_at};
  EXPECT_EQ(walk().size(), 1u) << "FDEs that are none";
  EXPECT_EQ(target.held, 0);
}

TEST_F(Remote, WrongTableEntries) {
  const auto with = [&](const Bytes& fde) {
    target.memory.write(0x40000, fde);
    target.memory.write(0x50000, Bytes().u32(leaf - 0x50000).u32(0x40000 - 0x50000));
    target.table = {0x50000, 8, 0x50000, 0x50000};
    target.words = 0;
    EXPECT_EQ(walk().size(), 1u);
    EXPECT_NE(end, StepStatus::stepped);
    EXPECT_LT(target.words, 20'000) << "64 KiB an entry, at most";
  };
  with(Bytes().u32(0xfffffff0).u32(4).u64(0));
  with(Bytes().u32(0xffffffff).u64(~std::uint64_t{0}).u64(0));
  with(Bytes().u32(0).u32(0));
  with(Bytes().u32(3).u32(4).u64(0));           // shorter than the pointer to its CIE
  with(Bytes().u32(12).u32(0).u64(0));          // a CIE
  with(Bytes().u32(12).u32(4).u64(0));          // its own CIE
  with(Bytes().u32(12).u32(0x7fffffff).u64(0)); // a CIE that is not there
  Bytes long_entry;
  long_entry.u32(0x10000 - 8).u32(4);
  while (long_entry.size() < 0x10000) long_entry.u64(0);
  with(long_entry);
}

TEST_F(Remote, EndlessStacks) {
  for (std::uint64_t sp = stack_at; sp < stack_at + 16 * 1200; sp += 16)
    target.memory.word(sp + 8, middle + 1);
  EXPECT_EQ(walk().size(), 1000u) << "as many as we ask for";
  for (std::uint64_t sp = stack_at; sp < stack_at + 16 * 1200; sp += 16) target.memory.word(sp, 0);
  // A frame that is its own caller: CFA = rsp is impossible with these rules, so the stack must end.
  target.memory.word(stack_at + 8, 0);
  EXPECT_EQ(walk().size(), 1u);
  EXPECT_EQ(cursor.reason(), StopReason::zero_pc);
}

/// Memory, registers and tables of pseudo-random words.
class Rubbish final : public Accessors {
public:
  explicit Rubbish(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  RemoteStatus find_procedure(std::uint64_t ip, bool need_rules, void* arg, ProcedureInfo& info) override {
    RemoteStatus status = RemoteStatus::ok;
    if (next() % 2) {
      CallbackView view(*space, arg);
      status = search(view, {next(), next() % 4096, ip - next() % 64, next()}, ip, info);
    } else {
      info.start = next(), info.end = next();
      info.rules = ProcedureInfo::Rules::cfi;
      info.cfi = {.kind = next() % 2 ? cfi::SectionKind::eh_frame : cfi::SectionKind::debug_frame,
                  .section = next(),
                  .fde = next(),
                  .bias = next() % 3 ? 0 : next()};
    }
    held += status == RemoteStatus::ok && need_rules;
    return status;
  }
  void release_procedure(ProcedureInfo&, void*) override { --held; }
  RemoteStatus access_memory(std::uint64_t, std::uint64_t& value, bool, void*) override {
    value = next();
    // Often small numbers, which lengths and counts need to be to lead anywhere.
    if (next() % 2) value &= 0x000000ff0000007f;
    return next() % 16 ? RemoteStatus::ok : static_cast<RemoteStatus>(next() % 12);
  }
  RemoteStatus access_register(std::uint16_t, std::uint64_t& value, bool, void*) override {
    value = next();
    return RemoteStatus::ok;
  }
  CallbackSpace* space = nullptr;
  int held = 0;

private:
  std::uint64_t next() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_;
  }
  std::uint64_t state_;
};

TEST(RemoteHostile, RandomDataIsSafe) {
  for (const AbiTraits* abi : all_abis())
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      Rubbish rubbish(seed);
      CallbackSpace space(rubbish, *abi);
      rubbish.space = &space;
      RemoteCursor cursor;
      if (cursor.start(space, nullptr) != RemoteStatus::ok) continue;
      for (int i = 0; i < 5 && cursor.step() == StepStatus::stepped; ++i) cursor.peek();
      EXPECT_EQ(rubbish.held, 0);
    }
}

// ---- Threads ----

TEST(RemoteThreads, ConcurrentUse) {
  CountingTarget shared_target(20);
  CallbackSpace shared(shared_target, traits(Abi::amd64));
  shared_target.space = &shared;
  const auto walk_in = [](CallbackSpace& space) {
    RemoteCursor cursor;
    int frames = cursor.start(space, nullptr) == RemoteStatus::ok;
    while (frames < 1000 && cursor.step() == StepStatus::stepped) ++frames;
    return frames;
  };
  std::atomic<int> wrong = 0;
  const auto work = [&](int number) {
    for (int i = 0; i < 20; ++i) {
      CountingTarget target(static_cast<unsigned>(number));
      CallbackSpace own(target, traits(Abi::amd64));
      target.space = &own;
      own.set_caching(static_cast<CachingPolicy>(i % 3));
      wrong += walk_in(own) != number + 2;
      if (i % 5 == number % 5) shared.set_caching(static_cast<CachingPolicy>(number % 3));
      if (i % 7 == 0) shared.flush(leaf, leaf + static_cast<unsigned>(i));
      wrong += walk_in(shared) != 22;
    }
  };
  std::vector<std::thread> threads;
  for (int number = 1; number <= 8; ++number) threads.emplace_back(work, number);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(shared_target.held, 0);
}

} // namespace remote_cursor_test
