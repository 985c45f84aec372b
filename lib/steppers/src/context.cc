// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The innermost frame at a non-executable address: a call through a null or invalid pointer has stored its
// return address, and nothing has run since.

#include "catalogue.h"
#include "guess.h"

namespace sframe::steppers {

namespace {

class ContextStepper final : public CataloguedStepper<context_info> {
public:
  explicit ContextStepper(const AbiTraits& abi) : abi_(abi), unwind_(*unwind::find_unwind_abi(abi.id)) {}

  unwind::StepResult step(const unwind::FrameState& frame, unwind::Memory& memory,
                          unwind::FrameState& caller) override {
    const auto sp = frame.registers.get(abi_.sp);
    if (!frame.pc_exact || !sp || memory.space().is_code(frame.registers.pc))
      return unwind::StepResult::not_applicable();
    const FrameRow entry = abi_.entry_row();
    const std::uint64_t cfa = offset_by(*sp, entry.cfa.offset);
    const auto ra = entry.ra.kind == Rule::Kind::fixed ? memory.word(offset_by(cfa, abi_.fixed_ra_offset))
                                                       : frame.registers.get(abi_.ra);
    if (!ra) return unwind::StepResult::not_applicable();
    const std::uint64_t return_address = memory.code_address(*ra);
    if (!follows_call(unwind_, memory, return_address)) return unwind::StepResult::not_applicable();
    caller = frame; // all registers still have their values
    return guessed_call(caller, abi_, return_address, cfa);
  }

private:
  const AbiTraits& abi_;
  const unwind::UnwindAbi& unwind_;
};

} // namespace

std::unique_ptr<unwind::FrameStepper> make_context_stepper(const AbiTraits& abi) {
  return std::make_unique<ContextStepper>(abi);
}

} // namespace sframe::steppers
