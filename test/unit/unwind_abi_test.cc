// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The differences between the ABIs, on synthetic memory and cores. Whole cores of AArch64 and s390x are
// walked in test/lit/unwind.

#include "elf_builder.h"
#include "made_up_space.h"
#include "sframe/code/signal_return.h"
#include "sframe/core/core.h"
#include "sframe/process/process_state.h"
#include "sframe/steppers/steppers.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/trampoline.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

namespace unwind_abi_test {

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

/// Rows from code lead where a walk by the bytes of the same code does.
TEST(Abi, SignalReturnsAreTheTrampolines) {
  for (const AbiTraits* abi : all_abis()) {
    const auto row = code::signal_return_row(*abi);
    EXPECT_EQ(row.has_value(), abi->sp_from_cfa == 0) << abi->name;
    code::SignalReturns returns(*abi);
    int recognised = 0;
    for (const SignalTrampoline& trampoline : find_unwind_abi(abi->id)->trampolines) {
      if (returns.size(std::as_bytes(trampoline.code), 0x1000) != trampoline.code.size()) continue;
      ++recognised;
      if (!row) continue;
      EXPECT_EQ(row->ra, Rule::stored(abi->sp, trampoline.pc_offset)) << abi->name;
      int compared = 0;
      for (const SavedRegister& saved : trampoline.registers) {
        if (saved.reg != abi->sp && saved.reg != abi->fp) continue;
        EXPECT_EQ(saved.reg == abi->sp ? row->cfa : row->fp, Rule::stored(abi->sp, saved.offset))
            << abi->name;
        ++compared;
      }
      EXPECT_EQ(compared, 2) << abi->name;
    }
    EXPECT_EQ(recognised, abi->id == Abi::amd64 ? 2 : 1) << abi->name;
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
  EXPECT_TRUE(ends_with_call(Abi::s390x, {0x05, 0xe1}));              // balr %r14, %r1
  EXPECT_TRUE(ends_with_call(Abi::s390x, {0x4d, 0xe0, 0x10, 0x00}));  // bas %r14, 0(%r1)
  EXPECT_TRUE(ends_with_call(Abi::s390x, {0x45, 0xe0, 0x10, 0x00}));  // bal %r14, 0(%r1)
  EXPECT_FALSE(ends_with_call(Abi::s390x, {0x05, 0xe0}));             // balr %r14, 0
  EXPECT_FALSE(ends_with_call(Abi::s390x, {0xa7, 0xf4, 0, 4}));       // j .+8
  EXPECT_FALSE(ends_with_call(Abi::s390x, {0x0d, 0xd0}));             // basr %r13, 0
  EXPECT_FALSE(ends_with_call(Abi::s390x, {0xc0, 0xf4, 0, 0, 0, 4})); // jg .+8
  EXPECT_FALSE(ends_with_call(Abi::s390x, {0x07, 0xfe}));             // br %r14
}

/// As the psABIs list them.
TEST(Abi, CallSavedRegisters) {
  const auto names = [](Abi id) {
    const UnwindAbi& abi = *find_unwind_abi(id);
    std::string all;
    for (std::size_t reg = 0; reg < 64; ++reg)
      if (abi.call_saved >> reg & 1)
        all += std::string(reg == Registers::vector_granule ? "vg" : abi.register_names[reg]) + ' ';
    return all;
  };
  EXPECT_EQ(names(Abi::amd64), "rbx rbp r12 r13 r14 r15 ");
  EXPECT_EQ(names(Abi::aarch64_little), "x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29 vg ");
  EXPECT_EQ(names(Abi::s390x), "r6 r7 r8 r9 r10 r11 r12 r13 f8 f10 f12 f14 f9 f11 f13 f15 ");
}

TEST(Abi, CodeAddressMask) {
  const AbiTraits &amd64 = traits(Abi::amd64), &aarch64 = traits(Abi::aarch64_little);
  EXPECT_EQ(code_address_mask(amd64, 0xff00, 0xffff), ~std::uint64_t{0});
  EXPECT_EQ(code_address_mask(aarch64, std::uint64_t{0x7f} << 48, 0xffff), ~(std::uint64_t{0x7f} << 48));
  EXPECT_EQ(code_address_mask(aarch64, 0, 0), (std::uint64_t{1} << 39) - 1);
  EXPECT_EQ(code_address_mask(aarch64, 0, std::uint64_t{1} << 39), (std::uint64_t{1} << 40) - 1);
  EXPECT_EQ(code_address_mask(aarch64, 0, ~std::uint64_t{0} >> 1), ~std::uint64_t{0} >> 1);
  EXPECT_EQ(code_address_mask(aarch64, 0, ~std::uint64_t{0}), ~std::uint64_t{0});
}

/// At the start of memory, fewer bytes are known than the longest call has.
TEST(Abi, CallsAtTheStartOfMemory) {
  const auto at_start = [](Abi abi, std::initializer_list<int> values) {
    std::vector<std::byte> bytes;
    for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
    const UnwindAbi& unwind = *find_unwind_abi(abi);
    // In memory of their own: a byte before the first would be detected.
    const auto copy = std::make_unique<std::byte[]>(bytes.size());
    std::ranges::copy(bytes, copy.get());
    const std::span<const std::byte> exact(copy.get(), bytes.size());
    const bool calls = unwind.ends_with_call(exact);
    if (!calls) {
      EXPECT_FALSE(unwind.call_target(exact, 0x1000));
    }
    return calls;
  };
  for (const AbiTraits* abi : all_abis()) EXPECT_FALSE(at_start(abi->id, {}));
  EXPECT_TRUE(at_start(Abi::amd64, {0xe8, 0, 0, 0, 0}));
  EXPECT_FALSE(at_start(Abi::amd64, {0, 0, 0, 0}));
  EXPECT_FALSE(at_start(Abi::amd64, {0xe8, 0, 0, 0}));
  EXPECT_TRUE(at_start(Abi::amd64, {0xff, 0xd0}));
  EXPECT_FALSE(at_start(Abi::amd64, {0xd0}));
  EXPECT_TRUE(at_start(Abi::amd64, {0xff, 0x14, 0x25, 1, 2, 3, 4}));
  EXPECT_TRUE(at_start(Abi::aarch64_little, {0, 0, 0, 0x94}));
  EXPECT_FALSE(at_start(Abi::aarch64_little, {0, 0, 0x94}));
  EXPECT_TRUE(at_start(Abi::s390x, {0x0d, 0xe1}));
  EXPECT_FALSE(at_start(Abi::s390x, {0xe1}));
  EXPECT_TRUE(at_start(Abi::s390x, {0xa7, 0xe5, 0, 4}));
  EXPECT_TRUE(at_start(Abi::s390x, {0xc0, 0xe5, 0, 0, 0, 4}));
}

/// Encodings as in the manuals; `before` are the bytes of an instruction in front of them.
TEST(Abi, EndsOfFunctions) {
  const auto ends = [](Abi abi, std::initializer_list<int> tail) {
    bool first = false;
    for (const bool before : {false, true}) {
      std::vector<std::byte> bytes(before ? 16 - tail.size() : 0, std::byte{0x11});
      for (const int byte : tail) bytes.push_back(static_cast<std::byte>(byte));
      const bool found = find_unwind_abi(abi)->ends_function(bytes);
      if (before) {
        EXPECT_EQ(found, first) << "it depends on what comes before";
      }
      first = found;
    }
    return first;
  };
  for (const AbiTraits* abi : all_abis()) EXPECT_FALSE(ends(abi->id, {}));
  using enum Abi;
  EXPECT_TRUE(ends(amd64, {0xc3}));       // ret
  EXPECT_TRUE(ends(amd64, {0xcc}));       // int3
  EXPECT_TRUE(ends(amd64, {0x90}));       // nop
  EXPECT_TRUE(ends(amd64, {0x66, 0x90})); // and its longer forms
  EXPECT_TRUE(ends(amd64, {0x0f, 0x1f, 0x00}));
  EXPECT_TRUE(ends(amd64, {0x0f, 0x1f, 0x40, 0x00}));
  EXPECT_TRUE(ends(amd64, {0x0f, 0x1f, 0x44, 0x00, 0x00}));
  EXPECT_TRUE(ends(amd64, {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}));
  EXPECT_TRUE(ends(amd64, {0x0f, 0x1f, 0x80, 0, 0, 0, 0}));
  EXPECT_TRUE(ends(amd64, {0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(ends(amd64, {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(ends(amd64, {0, 0, 0, 0}));
  EXPECT_FALSE(ends(amd64, {0x0f, 0x1f, 0x01})); // nopl (%rcx)
  EXPECT_FALSE(ends(amd64, {0x0f, 0x1f, 0x41, 0x00}));
  EXPECT_FALSE(ends(amd64, {0x0f, 0x1f, 0x44, 0x01, 0x00}));
  EXPECT_FALSE(ends(amd64, {0x0f, 0x1f, 0x80, 0, 1, 0, 0}));
  EXPECT_FALSE(ends(amd64, {0x0f, 0x1f, 0x84, 0, 0, 0, 1, 0}));
  EXPECT_FALSE(ends(amd64, {0xe8, 0, 0, 0, 0})); // call
  EXPECT_FALSE(ends(amd64, {0x1f, 0x00}));
  for (const Abi abi : {aarch64_little, aarch64_big}) {
    EXPECT_TRUE(ends(abi, {0xc0, 0x03, 0x5f, 0xd6})); // ret
    EXPECT_TRUE(ends(abi, {0xff, 0x0b, 0x5f, 0xd6})); // retaa
    EXPECT_TRUE(ends(abi, {0xff, 0x0f, 0x5f, 0xd6})); // retab
    EXPECT_TRUE(ends(abi, {0x1f, 0x20, 0x03, 0xd5})); // nop
    EXPECT_TRUE(ends(abi, {0, 0, 0, 0}));             // udf #0
    EXPECT_FALSE(ends(abi, {0, 0, 0}));
    EXPECT_FALSE(ends(abi, {0x20, 0x00, 0x5f, 0xd6})); // ret x1
    EXPECT_FALSE(ends(abi, {0x02, 0x00, 0x00, 0x94})); // bl
  }
  EXPECT_TRUE(ends(s390x, {0x07, 0xfe})); // br %r14
  EXPECT_TRUE(ends(s390x, {0x07, 0x00})); // nopr
  EXPECT_TRUE(ends(s390x, {0x07, 0x0f}));
  EXPECT_FALSE(ends(s390x, {0x07, 0xf1})); // br %r1
  EXPECT_FALSE(ends(s390x, {0x07, 0x1e})); // bor %r14
  EXPECT_FALSE(ends(s390x, {0x0d, 0xfe}));
  EXPECT_FALSE(ends(s390x, {0x07}));
  EXPECT_FALSE(ends(s390x, {0xfe}));
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
  EXPECT_EQ(target(Abi::amd64, {0xe8, 4, 3, 2, 1}), 0x1000u + 0x1020304);
  EXPECT_EQ(target(Abi::amd64, {0x90, 0x90, 0x90, 0xff, 0xd0}), 0u);
  EXPECT_EQ(target(Abi::aarch64_little, {0x02, 0x00, 0x00, 0x94}), 0x1004u); // bl .+8
  EXPECT_EQ(target(Abi::aarch64_big, {0xff, 0xff, 0xff, 0x97}), 0xff8u);     // bl .-4
  EXPECT_EQ(target(Abi::aarch64_little, {0x56, 0x34, 0x12, 0x94}), 0xffcu + 4 * 0x123456);
  EXPECT_EQ(target(Abi::aarch64_little, {0x20, 0x00, 0x3f, 0xd6}), 0u); // blr x1
  EXPECT_EQ(target(Abi::s390x, {0xc0, 0xe5, 0, 0, 0, 4}), 0x1002u);     // brasl %r14, .+8
  EXPECT_EQ(target(Abi::s390x, {0xa7, 0xe5, 0xff, 0xfc}), 0xff4u);      // bras %r14, .-8
  EXPECT_EQ(target(Abi::s390x, {0xc0, 0xe5, 1, 2, 3, 4}), 0xffau + 2 * 0x1020304);
  EXPECT_EQ(target(Abi::s390x, {0xa7, 0xe5, 1, 2}), 0xffcu + 2 * 0x102);
  EXPECT_EQ(target(Abi::s390x, {0xc0, 0xf4, 0, 0, 0, 4}), 0u); // jg .+8
  EXPECT_EQ(target(Abi::s390x, {0xa7, 0xf4, 0, 4}), 0u);       // j .+8
  EXPECT_EQ(target(Abi::s390x, {0x0d, 0xe1}), 0u);             // basr %r14, %r1
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

/// A signal trampoline, and the offsets of registers in its frame, in the order of the kernel's structure.
struct Trampoline {
  Abi abi;
  std::vector<int> code;
  std::vector<std::uint64_t> stops;
  std::uint64_t first;        ///< offset of the first register
  std::vector<int> registers; ///< DWARF numbers, 8 bytes each; -1: none
  std::uint64_t pc;
};

std::vector<Trampoline> trampolines() {
  // asm/sigcontext.h, asm/ucontext.h. AArch64: siginfo of 128 bytes; ucontext of flags, link, stack (24) and
  // a signal set with reserve (128), aligned to 16; then the fault address.
  const std::vector<int> amd64 = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7};
  std::vector<int> aarch64, s390x;
  for (int reg = 0; reg < 32; ++reg) aarch64.push_back(reg);
  // s390x: r0 to r15, 8 words of access registers, fpc; then f0 to f15, whose DWARF numbers are not in order.
  for (int reg = 0; reg < 16; ++reg) s390x.push_back(reg);
  s390x.insert(s390x.end(), 9, -1);
  s390x.insert(s390x.end(), {16, 20, 17, 21, 18, 22, 19, 23, 24, 28, 25, 29, 26, 30, 27, 31});
  constexpr std::uint64_t mcontext = 128 + 176, rt_registers = 160 + 8 + 128 + 40, old_registers = 160 + 16;
  const std::vector<int> svc = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4}; // mov x8, #139; svc #0
  return {
      {Abi::amd64, {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}, {0, 7}, 40, amd64, 168},
      {Abi::amd64, {0xb8, 15, 0, 0, 0, 0x0f, 0x05}, {0, 5}, 40, amd64, 168},
      {Abi::aarch64_little, svc, {0, 4}, mcontext + 8, aarch64, mcontext + 8 + 32 * 8},
      {Abi::aarch64_big, svc, {0, 4}, mcontext + 8, aarch64, mcontext + 8 + 32 * 8},
      {Abi::s390x, {0x0a, 173}, {0}, rt_registers + 16, s390x, rt_registers + 8},
      {Abi::s390x, {0x0a, 119}, {0}, old_registers + 16, s390x, old_registers + 8},
  };
}

/// The space of a thread in it, with a value for each register in the signal frame but `without`.
AbiSpace space_of(const Trampoline& trampoline, std::uint64_t sp, std::optional<std::uint64_t> without = {}) {
  AbiSpace space(trampoline.abi);
  for (std::uint64_t i = 0; i < trampoline.code.size(); ++i) space.code(0x1200 + i, {trampoline.code[i]});
  for (std::uint64_t i = 0; i < trampoline.registers.size(); ++i)
    if (const std::uint64_t at = trampoline.first + 8 * i; at != without) space.word(sp + at, 0x10000 + at);
  if (trampoline.pc != without) space.word(sp + trampoline.pc, 0x1400);
  return space;
}

TEST(Steppers, SignalFramesOfEachAbi) {
  for (const Trampoline& trampoline : trampolines()) {
    const UnwindAbi& unwind = *find_unwind_abi(trampoline.abi);
    AbiSpace space = space_of(trampoline, 0x9000);
    Memory memory(space);
    for (std::uint64_t at = 0; at <= trampoline.code.size(); ++at) {
      const bool stops = std::ranges::find(trampoline.stops, at) != trampoline.stops.end();
      EXPECT_EQ(find_trampoline(unwind, memory, 0x1200 + at) != nullptr, stops) << at;
    }
    const FrameState frame = frame_at(space, 0x1200, 0x9000);
    FrameState caller;
    const auto stepper = make_signal_stepper(space.abi());
    const StepResult result = stepper->step(frame, memory, caller);
    ASSERT_EQ(result.status, StepStatus::stepped);
    EXPECT_TRUE(result.signal_frame);
    EXPECT_TRUE(result.has_cfa);
    EXPECT_TRUE(caller.pc_exact);
    EXPECT_EQ(caller.registers.pc, 0x1400u);
    std::uint64_t known = 0;
    for (std::uint64_t i = 0; i < trampoline.registers.size(); ++i) {
      const int reg = trampoline.registers[i];
      if (reg < 0) continue;
      known |= std::uint64_t{1} << reg;
      EXPECT_EQ(caller.registers.get(static_cast<std::uint64_t>(reg)), 0x10000 + trampoline.first + 8 * i)
          << reg;
    }
    EXPECT_EQ(caller.registers.known, known);
    const auto sp = caller.registers.get(space.abi().sp).value();
    EXPECT_EQ(result.cfa, trampoline.abi == Abi::s390x ? sp + 160 : sp);
  }
}

TEST(Steppers, SignalFrameThatCannotBeRead) {
  for (const Trampoline& trampoline : trampolines()) {
    const std::uint16_t sp = traits(trampoline.abi).sp;
    const auto place = std::ranges::find(trampoline.registers, int{sp}) - trampoline.registers.begin();
    for (const std::uint64_t without :
         {trampoline.pc, trampoline.first + 8 * static_cast<std::uint64_t>(place)}) {
      AbiSpace space = space_of(trampoline, 0x9000, without);
      Memory memory(space);
      FrameState frame = frame_at(space, 0x1200, 0x9000), caller;
      const auto stepper = make_signal_stepper(space.abi());
      StepResult result = stepper->step(frame, memory, caller);
      EXPECT_EQ(result.status, StepStatus::error);
      EXPECT_EQ(result.reason, StopReason::unreadable_memory);
      EXPECT_EQ(result.detail, without == trampoline.pc ? 0x9000 + without : 0x9000);
      frame.registers.forget(sp);
      result = stepper->step(frame, memory, caller);
      EXPECT_EQ(result.reason, StopReason::unknown_register);
      EXPECT_EQ(result.detail, sp);
    }
  }
}

/// Views of 16 bytes each, with the address's low byte in every byte; [0x1000, 0x1040) can be read.
class Views final : public AddressSpace {
public:
  const AbiTraits& abi() const override { return traits(Abi::amd64); }
  bool is_code(std::uint64_t) override { return false; }
  std::span<const std::byte> view(std::uint64_t address) override {
    ++views;
    if (address < 0x1000 || address >= 0x1040) return {};
    for (std::size_t i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<std::byte>(i);
    const std::size_t at = address - 0x1000;
    return {bytes + at, 16 - at % 16};
  }
  int views = 0;

private:
  std::byte bytes[0x40];
};

TEST(Memory, ReadsAcrossViews) {
  Views space;
  std::byte read[0x40] = {};
  const auto is_copy = [&](std::size_t first, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
      if (read[i] != std::byte(first + i)) return false;
    return std::ranges::all_of(std::span(read).subspan(size),
                               [](std::byte byte) { return byte == std::byte(0xee); });
  };
  const auto clear = [&] { std::ranges::fill(read, std::byte(0xee)); };
  clear();
  EXPECT_EQ(space.read(0x1008, std::span(read).first(0x20)), 0x20u);
  EXPECT_TRUE(is_copy(8, 0x20));
  clear();
  EXPECT_EQ(space.read(0x1030, read), 0x10u);
  EXPECT_TRUE(is_copy(0x30, 0x10));
  clear();
  EXPECT_EQ(space.read(0xfff, read), 0u);

  Memory memory(space);
  clear();
  EXPECT_TRUE(memory.bytes(0x1004, std::span(read).first(12)));
  EXPECT_TRUE(is_copy(4, 12));
  clear();
  EXPECT_TRUE(memory.bytes(0x1004, std::span(read).first(13))) << "the last byte is in the next view";
  EXPECT_TRUE(is_copy(4, 13));
  clear();
  EXPECT_TRUE(memory.bytes(0x1000, std::span(read).first(8))) << "before the last view";
  EXPECT_TRUE(is_copy(0, 8));
  EXPECT_FALSE(memory.bytes(0x1038, std::span(read).first(9)));
  EXPECT_TRUE(memory.bytes(0x1038, std::span(read).first(8)));
  EXPECT_FALSE(memory.bytes(0x1040, std::span(read).first(1)));
  EXPECT_FALSE(memory.bytes(0xfff, std::span(read).first(2)));
  EXPECT_EQ(memory.word(0x1009), 0x100f0e0d0c0b0a09u);

  EXPECT_EQ(memory.word(0x1020), 0x2726252423222120u);
  const int before = space.views;
  for (std::uint64_t at = 0x1020; at <= 0x1028; ++at) EXPECT_TRUE(memory.word(at));
  EXPECT_EQ(space.views, before) << "the last view is kept";
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
  const auto core = core::Core::parse(bytes);
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
    const auto core = core::Core::parse(bytes);
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
    const auto core = core::Core::parse(bytes);
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
    const auto core = core::Core::parse(bytes);
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

} // namespace unwind_abi_test
