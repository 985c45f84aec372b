// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reader::look() tries the starts that FunctionStarts finds for the pc, in its order: each is analysed as if
// it was called, and the first accepted whose row leads to a plausible caller. Results are kept by RuleKey,
// and checked again for each frame, since another frame at the same pc may have another stack; after
// max_looks failures a pc is given up. Analyses are charged by the size of the function that was tried
// (Resource::guesses).

#include "sframe/steppers/code_frames.h"

#include "function_start.h"
#include "guess.h"
#include "sframe/base/budget.h"
#include "sframe/code/analysis.h"
#include "sframe/code/instruction.h"
#include "sframe/convert.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/registers.h"
#include "sframe/unwind/row_step.h"
#include "sframe/unwind/rule_cache.h"
#include "sframe/unwind/rule_source.h"
#include "sframe/unwind/trampoline.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

namespace sframe::steppers {

namespace {

using code::State;
using code::Value;

/// The process's memory, for jump tables: their addresses are relocated there.
class ProcessData final : public code::Environment {
public:
  explicit ProcessData(unwind::Memory& memory) : memory_(memory) {}

  std::span<const std::byte> constant_data(std::uint64_t address, std::uint64_t size) override {
    const auto bytes = memory_.space().view(address);
    return bytes.size() < size ? std::span<const std::byte>() : bytes.first(size);
  }
  std::optional<std::uint64_t> constant_pointer(std::uint64_t address) override {
    return memory_.word(address);
  }

private:
  unwind::Memory& memory_;
};

/// The value without AArch64's pointer authentication code.
Value plain(Value value) {
  value.flag = false;
  return value;
}

bool has_record(const State& state, const AbiTraits& abi, const unwind::FrameRecord& record) {
  const Value fp = state.reg(abi.fp);
  constexpr std::int32_t far = 1 << 30; // no real frame is larger; the sums below cannot overflow
  if (!fp.is_location() || fp.offset > far || fp.offset < -far) return false;
  const auto word = [&](std::int32_t offset) {
    Value location = fp;
    location.offset += offset;
    return plain(state.word(location));
  };
  return word(record.caller_fp) == Value::entry(abi.fp) &&
         word(record.return_address) == Value::entry(abi.ra);
}

/// True before a call for which the caller makes the frame record: FP already points to it, at the top of the
/// stack, and the callee stores its return address there and restores FP (Common Lisp's SBCL). After the call
/// FP is that of this frame again, which the analysis cannot know.
bool makes_record_of_callee(const State& state, const AbiTraits& abi, const unwind::FrameRecord& record) {
  const Value fp = state.reg(abi.fp);
  if (!fp.is_location() || fp != state.reg(abi.sp)) return false;
  Value return_address = fp;
  return_address.offset += record.return_address;
  return state.word(fp) == Value::entry(abi.fp) && state.word(return_address) == Value::other();
}

FrameSetup setup_of(const State& state, const AbiTraits& abi,
                    const std::optional<unwind::FrameRecord>& record) {
  if (record && has_record(state, abi, *record)) return FrameSetup::complete;
  if (state.reg(abi.fp) != Value::entry(abi.fp)) return FrameSetup::other;
  // What is below SP is left over, as after an epilogue.
  const Value sp = state.reg(abi.sp);
  const auto is_above_sp = [&](const Value& location) {
    return location.base != sp.base || location.id != sp.id || location.offset >= sp.offset;
  };
  for (const code::Slot& slot : state.slots())
    if (slot.value == Value::entry(abi.fp) && is_above_sp(slot.location)) return FrameSetup::saved;
  return FrameSetup::none;
}

FrameKind kind_of(const code::Results& results, const AbiTraits& abi,
                  const std::optional<unwind::FrameRecord>& record) {
  bool found = false;
  if (record)
    results.visit([&](const code::Reached& at) -> bool {
      found = has_record(at.state(), abi, *record);
      return !found;
    });
  return found ? FrameKind::record : FrameKind::no_record;
}

/// Locations of the registers that calls keep, except FP, which is in the row.
void find_registers(const State& state, std::uint64_t call_saved, const AbiTraits& abi, CodeFrame& code) {
  code.kept = 0;
  code.num_stored = 0;
  const std::uint64_t wanted = call_saved & ~(std::uint64_t{1} << abi.fp);
  for (std::uint64_t left = wanted; left; left &= left - 1) {
    const auto reg = static_cast<std::uint16_t>(std::countr_zero(left));
    if (state.reg(reg) == Value::entry(reg)) code.kept |= std::uint64_t{1} << reg;
  }
  for (const code::Slot& slot : state.slots()) {
    const std::uint16_t reg = slot.value.id;
    const bool saves = slot.value.base == Value::Base::entry && slot.location.base == Value::Base::cfa &&
                       reg < unwind::Registers::count && wanted >> reg & 1;
    if (saves && code.num_stored < code.stored.size())
      code.stored[code.num_stored++] = {reg, slot.location.offset};
  }
}

/// The state is the one before the frame's call. Since then, the call itself and the callee have overwritten
/// registers.
void forget_what_calls_change(State& state, std::uint64_t call_saved, const AbiTraits& abi,
                              const unwind::UnwindAbi& unwind) {
  for (std::uint16_t reg = 0; reg < State::max_registers; ++reg) {
    const bool kept = reg == abi.sp || (reg < unwind::Registers::count && call_saved >> reg & 1);
    if (!kept && (reg != abi.ra || unwind.ra_is_register)) state.set_reg(reg, Value::other());
  }
}

} // namespace

class CodeFrames::Reader {
public:
  explicit Reader(const AbiTraits& abi) : abi_(abi), unwind_(*unwind::find_unwind_abi(abi.id)) {}

  const CodeFrame* find(const unwind::FrameState& frame, unwind::Memory& memory) {
    Known& known = cache_.find(unwind::RuleKey(frame, memory.space().generation()),
                               [&](Known& made) { made.found = false, made.looks = 0; });
    if (known.found && leads_to_caller(known, frame, memory)) return &known.code;
    // A pc accepted for one frame may be wrong for the next one there, whose stack may have more evidence.
    if (known.looks == max_looks) return nullptr;
    ++known.looks;
    Known found;
    if (!look(frame, memory, found)) return nullptr;
    known.found = true;
    known.guessed = found.guessed;
    known.code = found.code;
    return &known.code;
  }

private:
  static constexpr std::uint8_t max_looks = 3;
  struct Known {
    bool found = false;
    bool guessed = false; ///< whether the function's start is a guess
    std::uint8_t looks = 0;
    CodeFrame code;
  };

  bool look(const unwind::FrameState& frame, unwind::Memory& memory, Known& known);
  bool analyse(const FunctionRange& range, const unwind::FrameState& frame, unwind::Memory& memory,
               CodeFrame& code);
  bool leads_to_caller(const Known& known, const unwind::FrameState& frame, unwind::Memory& memory);
  bool is_called_from(std::uint64_t return_address, const Known& known, unwind::Memory& memory);
  bool jumps_on(std::uint64_t target, unwind::Memory& memory);
  std::span<const std::byte> read(const FunctionRange& range, unwind::AddressSpace& space);

  const AbiTraits& abi_;
  const unwind::UnwindAbi& unwind_;
  unwind::RuleCache<Known> cache_;
  FunctionStarts starts_{max_function_size};
  std::optional<code::Analyzer> analyzer_; ///< made when needed, which is rare
  std::unique_ptr<code::Decoder> decoder_; ///< made when needed
  std::vector<code::Effect> effects_;
  std::vector<std::byte> buffer_;
  Budget own_budget_{Limits::standard, std::uint64_t{12} << 20}; ///< 16 MiB of guesses
};

bool CodeFrames::Reader::look(const unwind::FrameState& frame, unwind::Memory& memory, Known& known) {
  if (!memory.space().is_code(frame.lookup_pc()) || !memory.space().may_guess(FunctionStarts::cost))
    return false;
  starts_.find(frame, unwind_, memory);
  for (const FunctionRange& range : starts_.ranges()) {
    known.guessed = range.guessed;
    if (analyse(range, frame, memory, known.code) && leads_to_caller(known, frame, memory)) return true;
  }
  return false;
}

std::span<const std::byte> CodeFrames::Reader::read(const FunctionRange& range, unwind::AddressSpace& space) {
  if (const auto bytes = space.view(range.start); bytes.size() >= range.size) return bytes.first(range.size);
  buffer_.resize(range.size);
  return std::span(buffer_).first(space.read(range.start, buffer_));
}

bool CodeFrames::Reader::analyse(const FunctionRange& range, const unwind::FrameState& frame,
                                 unwind::Memory& memory, CodeFrame& code) {
  Budget* const budget = memory.space().budget() ? memory.space().budget() : &own_budget_;
  if (!budget->take(Resource::guesses, range.size)) return false;
  if (!analyzer_) analyzer_.emplace(abi_);
  ProcessData data(memory);
  const code::Results& results = analyzer_->run({.start = range.start,
                                                 .bytes = read(range, memory.space()),
                                                 .entry = abi_.entry_row(),
                                                 .environment = &data,
                                                 .budget = budget});
  const auto before = results.row_at(frame.lookup_pc());
  const State* found = before ? results.state_at(range.start + before->offset) : nullptr;
  if (!found) return false;
  if (!frame.pc_exact && unwind_.frame_record && makes_record_of_callee(*found, abi_, *unwind_.frame_record))
    return false;
  State state = *found;
  unwind::RuleSource* const rules = memory.space().rules_at(range.start);
  const std::uint64_t call_saved =
      rules && rules->calls_keep_no_registers() ? std::uint64_t{1} << abi_.fp : unwind_.call_saved;
  if (!frame.pc_exact) forget_what_calls_change(state, call_saved, abi_, unwind_);
  const auto row = code::row_of(state, abi_);
  if (!row) return false;
  code.function = range.start;
  code.row = resolve_fixed(*row, abi_.fixed_ra_offset, abi_.fixed_fp_offset);
  code.setup = setup_of(state, abi_, unwind_.frame_record);
  find_registers(state, call_saved, abi_, code);
  code.kind = kind_of(results, abi_, unwind_.frame_record);
  return true;
}

/// Checks the guess for each frame again: another frame at the same pc may have another stack.
bool CodeFrames::Reader::leads_to_caller(const Known& known, const unwind::FrameState& frame,
                                         unwind::Memory& memory) {
  unwind::FrameState caller;
  const unwind::StepResult result = step_by_row(known.code.row, false, abi_, frame, memory, caller);
  if (result.status != unwind::StepStatus::stepped) return false;
  const std::uint64_t pc = memory.code_address(caller.registers.pc);
  if (follows_call(unwind_, memory, pc)) return is_called_from(pc, known, memory);
  // Signal handlers return to the trampoline, which does not follow a call.
  if (find_trampoline(unwind_, memory, pc)) return true;
  // Nor do the addresses to which interpreters make their callees return: there the caller must have a frame
  // record.
  const auto fp = caller.registers.get(abi_.fp);
  return !known.guessed && unwind_.frame_record && fp && memory.space().is_code(pc) &&
         is_frame_record(*fp, offset_by(result.cfa, abi_.sp_from_cfa), *unwind_.frame_record, unwind_,
                         memory);
}

/// If the return address follows a direct call to another function that does not jump on from there, as a
/// PLT does, a guessed start is wrong.
bool CodeFrames::Reader::is_called_from(std::uint64_t return_address, const Known& known,
                                        unwind::Memory& memory) {
  if (!known.guessed) return true;
  const auto target = target_of_call(unwind_, memory, return_address);
  return !target || *target == known.code.function || jumps_on(*target, memory);
}

bool CodeFrames::Reader::jumps_on(std::uint64_t target, unwind::Memory& memory) {
  constexpr int longest_stub = 6; // instructions
  if (!decoder_) decoder_ = code::make_decoder(abi_);
  for (int i = 0; decoder_ && i < longest_stub; ++i) {
    std::array<std::byte, 16> bytes;
    std::size_t size = std::min<std::size_t>(code::machine(abi_).max_length, bytes.size());
    while (size && !memory.bytes(target, std::span(bytes).first(size))) --size;
    code::Instruction instruction;
    effects_.clear();
    if (!decoder_->decode(std::span(bytes).first(size), target, instruction, effects_)) return false;
    if (instruction.flow == code::Flow::jump || instruction.flow == code::Flow::indirect_jump) return true;
    if (instruction.flow != code::Flow::next) return false;
    target += instruction.length;
  }
  return false;
}

CodeFrames::CodeFrames(const AbiTraits& abi) : abi_(&abi) {}
CodeFrames::~CodeFrames() = default;
CodeFrames::CodeFrames(CodeFrames&&) noexcept = default;
CodeFrames& CodeFrames::operator=(CodeFrames&&) noexcept = default;

const CodeFrame* CodeFrames::find(const unwind::FrameState& frame, unwind::Memory& memory) {
  if (!reader_) reader_ = std::make_unique<Reader>(*abi_);
  return reader_->find(frame, memory);
}

unwind::StepResult CodeFrames::step(const CodeFrame& code, const unwind::FrameState& frame,
                                    unwind::Memory& memory, unwind::FrameState& caller) {
  const AbiTraits& abi = memory.space().abi();
  unwind::StepResult result = step_by_row(code.row, false, abi, frame, memory, caller);
  if (result.status != unwind::StepStatus::stepped) return result;
  result.trust = unwind::Trust::heuristic;
  for (std::uint64_t left = code.kept & frame.registers.known; left; left &= left - 1) {
    const auto reg = static_cast<std::uint16_t>(std::countr_zero(left));
    caller.registers.set(reg, frame.registers.values[reg]);
  }
  for (std::size_t i = 0; i < code.num_stored; ++i)
    if (const auto value = memory.word(offset_by(result.cfa, code.stored[i].offset)))
      caller.registers.set(code.stored[i].reg, *value);
  return result;
}

} // namespace sframe::steppers
