// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "go_code.h"

#include "sframe/code/row_check.h"

#include <algorithm>

namespace sframe::tables {

namespace {

using code::Certainty;
using code::Value;

/// Bytes of a function that are looked at: up to the first change of SP, which comes after the check of the
/// stack's limit, and after it.
constexpr std::uint64_t longest_check = 256, after_change = 32;

} // namespace

GoCode::GoCode(const elf::Image& image, const elf::GoFunctions& functions)
    : image_(image), functions_(functions), abi_(*image.abi()), callees_(image, {}), analyzer_(abi_),
      decoder_(code::make_decoder(abi_)) {}

code::Function GoCode::code_of(const elf::GoFunction& function, std::uint64_t size) const {
  const auto bytes = image_.read(function.extent.start, std::min(size, function.extent.size));
  return {.start = function.extent.start,
          .bytes = bytes.value_or(std::span<const std::byte>()),
          .entry = abi_.entry_row(),
          .kept_below_sp = functions_.frames().kept_below_sp,
          .budget = image_.budget()};
}

/// The word that holds a register's value at the function's entry, if one does.
std::optional<Rule> GoCode::place_of(std::uint16_t reg, const code::State& state) const {
  for (const code::Slot& slot : state.slots())
    if (slot.value == Value::entry(reg) && slot.location.base == Value::Base::cfa)
      return Rule::at_cfa(slot.location.offset);
  return std::nullopt;
}

std::optional<GoSaved> GoCode::saved(const elf::GoFunction& function, const elf::GoFrameSize& first) {
  const std::uint64_t before = first.range.start - function.extent.start;
  if (before > longest_check) return std::nullopt;
  std::optional<GoSaved> found;
  analyzer_.run(code_of(function, before + after_change)).visit([&](const code::Reached& at) {
    if (at.instruction.address < first.range.start) return true;
    const code::State& state = at.state();
    const bool in_frame =
        at.certainty == Certainty::certain && at.instruction.address < first.range.end() &&
        state.reg(abi_.sp) == Value::cfa(-abi_.entry_cfa_offset - static_cast<std::int32_t>(first.size));
    if (!in_frame) return false;
    const auto ra = abi_.fixed_ra_offset ? Rule::fixed() : place_of(abi_.ra, state);
    const auto fp = functions_.frames().save_fp ? place_of(abi_.fp, state) : Rule::same();
    if (ra && fp) found = {at.instruction.address, *ra, *fp};
    // Until both are saved, one row says that FP is unchanged.
    return !found && ra && state.reg(abi_.fp) == Value::entry(abi_.fp);
  });
  return found;
}

std::span<const GoInstruction>
GoCode::instructions(const elf::GoFunction& function,
                     const std::function<std::optional<FrameRow>(std::uint64_t)>& by_table) {
  instructions_.clear();
  code::Function code = code_of(function, code::Analyzer::max_function_size);
  code.environment = &callees_;
  const bool has_fp = functions_.frames().save_fp;
  analyzer_.run(code).visit([&](const code::Reached& at) {
    if (at.certainty != Certainty::certain) return;
    const auto by_code = code::row_of(at.state(), abi_);
    auto row = by_table ? by_table(at.instruction.address) : std::nullopt;
    if (row && !has_fp) row->fp = by_code ? by_code->fp : Rule::undefined();
    // A state has room for so many words.
    const auto is_confirmed = [&] {
      const code::Agreement worst = code::check(*row, at.state(), abi_).worst();
      return worst == code::Agreement::agrees ||
             (worst == code::Agreement::unknown && row->cfa != abi_.entry_row().cfa);
    };
    if (!row || !is_confirmed()) row = by_code;
    if (row && !has_fp && row->fp.kind == Rule::Kind::undefined) row->fp = Rule::same();
    const bool has_left_stack = at.state().reg(abi_.sp).base == Value::Base::symbol;
    instructions_.push_back({{at.instruction.address, at.instruction.length}, row, has_left_stack});
  });
  return instructions_;
}

std::uint64_t GoCode::continuation_of_start() {
  constexpr unsigned most = 16; // instructions
  if (continuation_) return *continuation_;
  continuation_ = 0;
  std::uint64_t at = image_.entry();
  const auto start = functions_.find(at);
  if (!start || !start->is_top) return 0; // C code's: it calls
  code::Instruction instruction;
  for (unsigned i = 0; i < most && instruction.flow == code::Flow::next && start->extent.contains(at); ++i) {
    effects_.clear();
    const std::uint64_t room =
        std::min<std::uint64_t>(start->extent.end() - at, code::machine(abi_).max_length);
    const auto bytes = image_.read(at, room);
    if (!bytes || !decoder_ || !decoder_->decode(*bytes, at, instruction, effects_)) return 0;
    at += instruction.length;
  }
  if (instruction.flow == code::Flow::jump) continuation_ = instruction.target;
  return *continuation_;
}

bool GoCode::computes_fp(std::uint64_t address) {
  const code::Machine& machine = code::machine(abi_);
  const std::uint64_t length = machine.max_length;
  if (machine.alignment != length || address < 2 * length) return false;
  const auto bytes = image_.read(address - 2 * length, 3 * length);
  effects_.clear();
  code::Instruction instruction;
  for (std::uint64_t at = 0; decoder_ && bytes && at < bytes->size(); at += length)
    decoder_->decode(bytes->subspan(at, length), address - 2 * length + at, instruction, effects_);
  return std::ranges::any_of(effects_, [&](const code::Effect& effect) {
    return effect.kind == code::Effect::Kind::set && effect.reg == abi_.fp && effect.source == abi_.sp;
  });
}

} // namespace sframe::tables
