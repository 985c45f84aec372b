// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Guesses for frames without tables. The frame pointer: code that keeps one has a frame record where it
// points to. The context: a call to an address that is no code has left its return address on the stack, and
// nothing else has happened. Both believe a return address only if it follows a call.

#include "steppers/catalogue.h"
#include "steppers/follows_call.h"

#include <array>

namespace sframe::walk {

bool follows_call(const UnwindAbi& abi, Memory& memory, std::uint64_t address) {
  if (!memory.space().is_code(address - 1)) return false;
  std::array<std::byte, 16> bytes;
  // Fewer bytes where a mapping starts just before.
  for (std::uint32_t size = abi.longest_call; size >= 2; --size)
    if (memory.bytes(address - size, std::span(bytes).first(size)))
      return abi.ends_with_call(std::span(bytes).first(size));
  return false;
}

namespace {

class FramePointerStepper final : public CataloguedStepper<frame_pointer_info> {
public:
  explicit FramePointerStepper(const AbiTraits& abi) : abi_(abi), unwind_(*find_unwind_abi(abi.id)) {}

  StepResult step(const FrameState& frame, Memory& memory, FrameState& caller) override {
    const auto fp = frame.registers.get(abi_.fp), sp = frame.registers.get(abi_.sp);
    // A frame pointer below SP, or not aligned, is a register used for something else.
    if (!fp || !sp || *fp < *sp || *fp % sizeof(std::uint64_t)) return StepResult::not_mine();
    const auto at = [&](std::int32_t offset) {
      return *fp + static_cast<std::uint64_t>(std::int64_t{offset});
    };
    const FrameRecord& record = unwind_.frame_record;
    const auto ra = memory.word(at(record.return_address)), caller_fp = memory.word(at(record.caller_fp));
    if (!ra || !caller_fp || !follows_call(unwind_, memory, *ra)) return StepResult::not_mine();
    const std::uint64_t cfa = at(record.cfa);
    caller.registers.known = 0;
    caller.registers.set(abi_.fp, *caller_fp);
    caller.registers.set(abi_.sp, cfa + static_cast<std::uint64_t>(std::int64_t{abi_.sp_from_cfa}));
    caller.registers.pc = *ra;
    caller.pc_exact = false;
    return {.status = StepStatus::stepped, .trust = Trust::heuristic, .has_cfa = true, .cfa = cfa};
  }

private:
  const AbiTraits& abi_;
  const UnwindAbi& unwind_;
};

class ContextStepper final : public CataloguedStepper<context_info> {
public:
  explicit ContextStepper(const AbiTraits& abi) : abi_(abi), unwind_(*find_unwind_abi(abi.id)) {}

  StepResult step(const FrameState& frame, Memory& memory, FrameState& caller) override {
    const auto sp = frame.registers.get(abi_.sp);
    if (!frame.pc_exact || !sp || memory.space().is_code(frame.registers.pc)) return StepResult::not_mine();
    const FrameRow entry = abi_.entry_row();
    const std::uint64_t cfa = *sp + static_cast<std::uint64_t>(std::int64_t{entry.cfa.offset});
    const auto ra = entry.ra.kind == Rule::Kind::fixed
                        ? memory.word(cfa + static_cast<std::uint64_t>(std::int64_t{abi_.fixed_ra_offset}))
                        : frame.registers.get(abi_.ra);
    if (!ra || !follows_call(unwind_, memory, *ra)) return StepResult::not_mine();
    caller = frame; // nothing has run since the call: every register still has its value
    caller.registers.set(abi_.sp, cfa + static_cast<std::uint64_t>(std::int64_t{abi_.sp_from_cfa}));
    caller.registers.pc = *ra;
    caller.pc_exact = false;
    return {.status = StepStatus::stepped, .trust = Trust::heuristic, .has_cfa = true, .cfa = cfa};
  }

private:
  const AbiTraits& abi_;
  const UnwindAbi& unwind_;
};

} // namespace

std::unique_ptr<FrameStepper> make_frame_pointer_stepper(const AbiTraits& abi) {
  return std::make_unique<FramePointerStepper>(abi);
}
std::unique_ptr<FrameStepper> make_context_stepper(const AbiTraits& abi) {
  return std::make_unique<ContextStepper>(abi);
}

} // namespace sframe::walk
