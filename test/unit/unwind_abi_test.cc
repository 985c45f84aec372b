// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The differences between the ABIs, on synthetic memory and cores. Whole cores of AArch64 and s390x are
// walked in test/lit/unwind.

#include "elf_builder.h"
#include "made_up_space.h"
#include "sframe/elf/core.h"
#include "sframe/process/process_state.h"
#include "sframe/steppers/steppers.h"
#include "sframe/unwind/abi.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>

namespace {

using namespace sframe;
using namespace sframe::process;
using namespace sframe::steppers;
using namespace sframe::unwind;
using test::note;
using test::TestElf;
using test::Writer;

bool ends_with_call(Abi abi, std::initializer_list<int> tail) {
  const UnwindAbi& unwind = *find_unwind_abi(abi);
  std::vector<std::byte> bytes(unwind.longest_call > tail.size() ? unwind.longest_call - tail.size() : 0);
  for (const int byte : tail) bytes.push_back(static_cast<std::byte>(byte));
  return unwind.ends_with_call(bytes);
}

TEST(Abi, EachHasUnwindData) {
  for (const AbiTraits* abi : all_abis()) {
    const UnwindAbi* unwind = find_unwind_abi(abi->id);
    ASSERT_TRUE(unwind) << abi->name;
    EXPECT_GT(unwind->register_names.size(), abi->sp);
    EXPECT_LE(unwind->register_names.size(), Registers::count);
    EXPECT_TRUE(unwind->call_saved >> abi->fp & 1) << abi->name;
    EXPECT_FALSE(unwind->call_saved >> abi->sp & 1) << abi->name;
    EXPECT_FALSE(unwind->call_saved >> abi->ra & 1) << abi->name;
    for (const SignalTrampoline& trampoline : unwind->trampolines) {
      EXPECT_GE(trampoline.registers.size(), 16u);
      for (const SavedRegister& saved : trampoline.registers)
        EXPECT_LT(saved.reg, unwind->register_names.size());
    }
  }
}

/// As llvm-mc encodes them.
TEST(Abi, Aarch64CallsAreRecognised) {
  for (const Abi abi : {Abi::aarch64_little, Abi::aarch64_big}) {
    EXPECT_TRUE(ends_with_call(abi, {0x02, 0x00, 0x00, 0x94}));  // bl .+8
    EXPECT_TRUE(ends_with_call(abi, {0xff, 0xff, 0xff, 0x97}));  // bl .-4
    EXPECT_TRUE(ends_with_call(abi, {0x20, 0x00, 0x3f, 0xd6}));  // blr x1
    EXPECT_TRUE(ends_with_call(abi, {0x01, 0x08, 0x3f, 0xd7}));  // blraa x0, x1
    EXPECT_TRUE(ends_with_call(abi, {0x1f, 0x0c, 0x3f, 0xd6}));  // blrabz x0
    EXPECT_FALSE(ends_with_call(abi, {0x02, 0x00, 0x00, 0x14})); // b .+8
    EXPECT_FALSE(ends_with_call(abi, {0x20, 0x00, 0x1f, 0xd6})); // br x1
    EXPECT_FALSE(ends_with_call(abi, {0xc0, 0x03, 0x5f, 0xd6})); // ret
  }
}

TEST(Abi, S390xCallsAreRecognised) {
  EXPECT_TRUE(ends_with_call(Abi::s390x, {0xc0, 0xe5, 0, 0, 0, 4}));  // brasl %r14, .+8
  EXPECT_TRUE(ends_with_call(Abi::s390x, {0xa7, 0xe5, 0, 4}));        // bras %r14, .+8
  EXPECT_TRUE(ends_with_call(Abi::s390x, {0x0d, 0xe1}));              // basr %r14, %r1
  EXPECT_FALSE(ends_with_call(Abi::s390x, {0x0d, 0xd0}));             // basr %r13, 0
  EXPECT_FALSE(ends_with_call(Abi::s390x, {0xc0, 0xf4, 0, 0, 0, 4})); // jg .+8
  EXPECT_FALSE(ends_with_call(Abi::s390x, {0x07, 0xfe}));             // br %r14
}

/// Distances as llvm-mc encodes them; the call ends at 0x1000.
TEST(Abi, TargetsOfDirectCalls) {
  const auto target = [](Abi abi, std::initializer_list<int> call) {
    const UnwindAbi& unwind = *find_unwind_abi(abi);
    std::vector<std::byte> bytes(unwind.longest_call - call.size());
    for (const int byte : call) bytes.push_back(static_cast<std::byte>(byte));
    return unwind.call_target(bytes, 0x1000).value_or(0);
  };
  EXPECT_EQ(target(Abi::amd64, {0xe8, 0xfb, 0xff, 0xff, 0xff}), 0xffbu); // call to itself
  EXPECT_EQ(target(Abi::amd64, {0xe8, 0, 1, 0, 0}), 0x1100u);
  EXPECT_EQ(target(Abi::amd64, {0x90, 0x90, 0x90, 0xff, 0xd0}), 0u);
  EXPECT_EQ(target(Abi::aarch64_little, {0x02, 0x00, 0x00, 0x94}), 0x1004u); // bl .+8
  EXPECT_EQ(target(Abi::aarch64_big, {0xff, 0xff, 0xff, 0x97}), 0xff8u);     // bl .-4
  EXPECT_EQ(target(Abi::aarch64_little, {0x20, 0x00, 0x3f, 0xd6}), 0u);      // blr x1
  EXPECT_EQ(target(Abi::s390x, {0xc0, 0xe5, 0, 0, 0, 4}), 0x1002u);          // brasl %r14, .+8
  EXPECT_EQ(target(Abi::s390x, {0xa7, 0xe5, 0xff, 0xfc}), 0xff4u);           // bras %r14, .-8
  EXPECT_EQ(target(Abi::s390x, {0x0d, 0xe1}), 0u);                           // basr %r14, %r1
}

/// With a stack of zeros in [0x7000, 0x7200).
class AbiSpace final : public test::MadeUpSpace {
public:
  explicit AbiSpace(Abi abi) : MadeUpSpace(traits(abi)) {
    for (std::uint64_t address = 0x7000; address < 0x7200; address += 8) word(address, 0);
  }
};

FrameState frame_at(const AbiSpace& space, std::uint64_t pc, std::uint64_t sp) {
  FrameState frame;
  frame.registers.pc = pc;
  frame.registers.set(space.abi().sp, sp);
  return frame;
}

TEST(Steppers, SignedReturnAddressOfAFrameRecord) {
  constexpr std::uint16_t x29 = 29, sp = 31;
  AbiSpace space(Abi::aarch64_little);
  space.code(0x114c, {0, 0, 0, 0x94}); // bl
  space.word(0x7010, 0x7050);
  space.word(0x7018, 0x002b'0000'0000'1150);
  Memory memory(space);
  const auto stepper = make_frame_pointer_stepper(space.abi());
  FrameState frame = frame_at(space, 0x1500, 0x7000), caller;
  frame.registers.set(x29, 0x7010);
  const StepResult result = stepper->step(frame, memory, caller);
  ASSERT_EQ(result.status, StepStatus::stepped);
  EXPECT_EQ(caller.registers.pc, 0x1150u);
  EXPECT_EQ(caller.registers.get(x29), 0x7050u);
  EXPECT_EQ(caller.registers.get(sp), 0x7050u); // the record may lie anywhere in the frame: a guess
}

/// On AArch64 a return address alone shows nothing of the frame: a frame pointer must be next to it.
TEST(Steppers, ScanFindsFrameRecords) {
  constexpr std::uint16_t x29 = 29, sp = 31;
  AbiSpace space(Abi::aarch64_little);
  Memory memory(space);
  const auto stepper = make_scan_stepper(space.abi());
  const FrameState frame = frame_at(space, 0x1500, 0x7000);
  FrameState caller;
  EXPECT_EQ(stepper->step(frame, memory, caller).status, StepStatus::not_applicable);

  space.code(0x114c, {0, 0, 0, 0x94}); // bl
  space.word(0x7010, 0x6ff0);          // down the stack
  space.word(0x7018, 0x1150);
  space.word(0x7020, 0x7071); // not aligned
  space.word(0x7028, 0x1150);
  space.word(0x7030, 0x7070);
  space.word(0x7038, 0x1154); // after no call
  EXPECT_EQ(stepper->step(frame, memory, caller).status, StepStatus::not_applicable);

  space.word(0x7040, 0x7070);
  space.word(0x7048, 0x002b'0000'0000'1150);
  StepResult result = stepper->step(frame, memory, caller);
  ASSERT_EQ(result.status, StepStatus::stepped);
  EXPECT_EQ(result.trust, Trust::heuristic);
  EXPECT_TRUE(result.may_skip);
  EXPECT_EQ(caller.registers.pc, 0x1150u);
  EXPECT_EQ(caller.registers.get(x29), 0x7070u);
  EXPECT_EQ(caller.registers.get(sp), 0x7070u);

  space.word(0x7040, 0); // the outermost record
  result = stepper->step(frame, memory, caller);
  ASSERT_EQ(result.status, StepStatus::stepped);
  EXPECT_EQ(caller.registers.get(x29), 0u);
  EXPECT_EQ(caller.registers.get(sp), 0x7050u);
}

/// On s390x r14 and r15 are saved side by side in the caller's frame, at 112 and 120 from its r15.
TEST(Steppers, ScanFindsSavedStackPointers) {
  constexpr std::uint16_t r15 = 15;
  AbiSpace space(Abi::s390x);
  Memory memory(space);
  const auto stepper = make_scan_stepper(space.abi());
  const FrameState frame = frame_at(space, 0x1500, 0x7000);
  FrameState caller;
  for (const std::uint64_t after : {0x1150u, 0x1180u})
    space.code(after - 6, {0xc0, 0xe5, 0, 0, 0, 4}); // brasl
  space.word(0x7000 + 112, 0x1150);                  // of a call that the frame has made
  space.word(0x7000 + 120, 0x7000);
  space.word(0x7050 + 112, 0x1150);
  space.word(0x7050 + 120, 0x7051); // another place
  EXPECT_EQ(stepper->step(frame, memory, caller).status, StepStatus::not_applicable);

  space.word(0x70a0 + 112, 0x1180);
  space.word(0x70a0 + 120, 0x70a0);
  const StepResult result = stepper->step(frame, memory, caller);
  ASSERT_EQ(result.status, StepStatus::stepped);
  EXPECT_TRUE(result.may_skip);
  EXPECT_EQ(result.cfa, 0x70a0u + 160);
  EXPECT_EQ(caller.registers.pc, 0x1180u);
  EXPECT_EQ(caller.registers.get(r15), 0x70a0u);
}

TEST(Steppers, FramePointerFollowsTheBackChain) {
  constexpr std::uint16_t r15 = 15;
  AbiSpace space(Abi::s390x);
  Memory memory(space);
  const auto stepper = make_frame_pointer_stepper(space.abi());
  const FrameState frame = frame_at(space, 0x1500, 0x7000);
  FrameState caller;
  space.code(0x1180 - 6, {0xc0, 0xe5, 0, 0, 0, 4}); // brasl
  space.word(0x70a0 + 112, 0x1180);
  space.word(0x70a0 + 120, 0x70a0);
  EXPECT_EQ(stepper->step(frame, memory, caller).status, StepStatus::not_applicable) << "no chain";

  space.word(0x7000, 0x70a0);
  const StepResult result = stepper->step(frame, memory, caller);
  ASSERT_EQ(result.status, StepStatus::stepped);
  EXPECT_EQ(result.trust, Trust::heuristic);
  EXPECT_TRUE(result.may_skip) << "the code could not be read";
  EXPECT_EQ(result.cfa, 0x70a0u + 160);
  EXPECT_EQ(caller.registers.pc, 0x1180u);
  EXPECT_EQ(caller.registers.get(r15), 0x70a0u);

  for (const std::uint64_t wrong : {0x7000u, 0x70a1u, 0x70a8u, 0x9000u}) {
    space.word(0x7000, wrong);
    EXPECT_EQ(stepper->step(frame, memory, caller).status, StepStatus::not_applicable) << wrong;
  }
}

TEST(CoreProcess, FloatingPointRegistersOfS390x) {
  const ByteOrder order = ByteOrder::big;
  Writer body(order), fp(order);
  body.u32(11).u32(0).u32(0).u16(11).u16(0).zeros(16).u32(5).zeros(112 - 36);
  body.u64(0).u64(0x4000);
  for (unsigned i = 0; i < 16; ++i) body.u64(0x100 + i);
  body.zeros(64 + 8 + 8);
  fp.u32(0).u32(0);
  for (unsigned i = 0; i < 16; ++i) fp.u64(0x300 + i); // f0, f1, f2, ...
  auto notes = note("CORE", 1, body.bytes, order);
  const auto registers = note("CORE", 2, fp.bytes, order);
  notes.insert(notes.end(), registers.begin(), registers.end());
  TestElf file{.order = order, .type = elf::et_core, .machine = 22};
  file.segments.push_back({elf::pt_note, 0, 0, notes, 0});
  const auto bytes = file.build();
  const auto core = elf::Core::parse(bytes);
  ASSERT_TRUE(core);
  EXPECT_TRUE(core->problems().empty());
  const auto process = CoreProcess::create(*core, {});
  ASSERT_TRUE(process);
  const Registers& found = (*process)->threads()[0].registers;
  EXPECT_EQ(found.get(15), 0x10fu);
  EXPECT_EQ(found.get(16), 0x300u); // f0
  EXPECT_EQ(found.get(17), 0x302u); // f2: DWARF numbers are not in numerical order
  EXPECT_EQ(found.get(20), 0x301u); // f1
  EXPECT_EQ(found.get(24), 0x308u); // f8
  EXPECT_EQ(found.get(31), 0x30fu); // f15
}

/// On s390x an instruction that raises SIGILL or SIGFPE leaves the pc after it; a signal that was sent, or
/// one for an address that cannot be reached, does not.
TEST(CoreProcess, PcAfterFaultOnS390x) {
  const ByteOrder order = ByteOrder::big;
  const auto lookup_pc = [&](unsigned signal, std::optional<std::uint32_t> code) {
    Writer body(order);
    body.u32(signal).u32(0).u32(0).u16(signal).u16(0).zeros(16).u32(5).zeros(112 - 36);
    body.u64(0).u64(0x4000).zeros(16 * 8 + 64 + 8 + 8);
    auto notes = note("CORE", 1, body.bytes, order);
    if (code) {
      const auto info = note("CORE", 0x53494749,
                             Writer(order).u32(signal).u32(0).u32(*code).u32(0).u64(0x3ffe).bytes, order);
      notes.insert(notes.end(), info.begin(), info.end());
    }
    TestElf file{.order = order, .type = elf::et_core, .machine = 22};
    file.segments.push_back({elf::pt_note, 0, 0, notes, 0});
    const auto bytes = file.build();
    const auto core = elf::Core::parse(bytes);
    return (*CoreProcess::create(*core, {}))->threads()[0].frame().lookup_pc();
  };
  constexpr std::uint32_t ill_illopc = 1, si_user = 0, si_tkill = ~std::uint32_t{5};
  EXPECT_EQ(lookup_pc(4, ill_illopc), 0x3fffu);
  EXPECT_EQ(lookup_pc(4, std::nullopt), 0x3fffu);
  EXPECT_EQ(lookup_pc(8, 1), 0x3fffu);
  EXPECT_EQ(lookup_pc(4, si_user), 0x4000u);
  EXPECT_EQ(lookup_pc(4, si_tkill), 0x4000u);
  EXPECT_EQ(lookup_pc(11, 1), 0x4000u);
}

TEST(CoreProcess, SignedPointersByTheNoteAndByTheMappings) {
  const ByteOrder order = ByteOrder::little;
  Writer body(order);
  body.u32(11).u32(0).u32(0).u16(11).u16(0).zeros(16).u32(5).zeros(112 - 36).zeros(272 + 8);
  auto notes = note("CORE", 1, body.bytes, order);
  TestElf file{.order = order, .type = elf::et_core, .machine = 183};
  file.segments.push_back({elf::pt_note, 0, 0, notes, 0});
  const auto mask_of = [&] {
    const auto bytes = file.build();
    const auto core = elf::Core::parse(bytes);
    return (*CoreProcess::create(*core, {}))->space().code_address_mask();
  };
  EXPECT_EQ(mask_of(), (std::uint64_t{1} << 39) - 1); // no mapping: the smallest address space
  file.segments.push_back({elf::pt_load, elf::pf_r, 0xaaaa'0000'0000, std::vector<std::byte>(16), 16});
  EXPECT_EQ(mask_of(), (std::uint64_t{1} << 48) - 1);
  const auto mask = note("LINUX", 0x406, Writer(order).u64(0xff).u64(0x7f'fe00'0000'0000).bytes, order);
  notes.insert(notes.end(), mask.begin(), mask.end());
  file.segments[0] = {elf::pt_note, 0, 0, notes, 0};
  EXPECT_EQ(mask_of(), ~std::uint64_t{0x7f'fe00'0000'0000});
}

/// The last mapped address counts: a mapping that starts below 2^39 may end above it, and a stack at the top
/// of an address space ends at 2^48.
TEST(CoreProcess, SignedPointersByTheLastAddress) {
  const auto mask_with = [](std::uint64_t start, std::uint64_t size) {
    TestElf file{.order = ByteOrder::little, .type = elf::et_core, .machine = 183};
    Writer body(file.order);
    body.u32(11).u32(0).u32(0).u16(11).u16(0).zeros(16).u32(5).zeros(112 - 36).zeros(272 + 8);
    file.segments.push_back({elf::pt_note, 0, 0, note("CORE", 1, body.bytes, file.order), 0});
    file.segments.push_back({elf::pt_load, elf::pf_r, start, std::vector<std::byte>(16), size});
    const auto bytes = file.build();
    const auto core = elf::Core::parse(bytes);
    return (*CoreProcess::create(*core, {}))->space().code_address_mask();
  };
  EXPECT_EQ(mask_with(0x7f'ffff'f000, 0x1000), (std::uint64_t{1} << 39) - 1);
  EXPECT_EQ(mask_with(0x7f'ffff'f000, 0x2000), (std::uint64_t{1} << 40) - 1);
  EXPECT_EQ(mask_with(0xffff'fffd'f000, 0x2'1000), (std::uint64_t{1} << 48) - 1);
}

TEST(Abi, AddressesOfUsualSize) {
  for (const Abi abi : {Abi::aarch64_little, Abi::aarch64_big}) {
    EXPECT_EQ(code_address_mask(traits(abi), 0, std::nullopt), (std::uint64_t{1} << 48) - 1);
    EXPECT_EQ(code_address_mask(traits(abi), 0, 0), (std::uint64_t{1} << 39) - 1);
    EXPECT_EQ(code_address_mask(traits(abi), 0x7f'fe00'0000'0000, std::nullopt), ~0x7f'fe00'0000'0000u);
  }
  for (const Abi abi : {Abi::amd64, Abi::s390x})
    EXPECT_EQ(code_address_mask(traits(abi), 0, std::nullopt), ~std::uint64_t{0});
}

} // namespace
