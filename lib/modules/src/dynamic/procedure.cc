// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The row of a procedure described by operations (libunwind-dynamic(3)): they are interpreted from its start
// to the address. The state is that of a DWARF row, with offsets from the CFA.

#include "sframe/base/budget.h"
#include "sframe/modules/generated_code.h"
#include "sframe/modules/module.h"
#include "sframe/modules/tables.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/address_space.h"
#include "sframe/unwind/registers.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>
#include <vector>

namespace sframe::modules {

namespace {

using Rule = cfi::RegisterRule;
using Tag = ProcedureOperation::Tag;

constexpr std::int64_t largest_offset = std::int64_t{1} << 47; ///< no stack is larger
constexpr std::size_t max_labels = 256, max_frames = 256;
constexpr std::uint64_t region_end = ~std::uint64_t{0}; ///< all instructions of a region
constexpr std::uint32_t no_frame = ~std::uint32_t{0};

struct State {
  std::uint16_t cfa_register = 0;
  std::int64_t cfa_offset = 0; ///< CFA = cfa_register + this
  std::int64_t sp_offset = 0;  ///< CFA = SP + this
  std::uint32_t frame = no_frame;
  std::array<Rule, unwind::Registers::count> rules{};
};

bool is_offset(std::int64_t value) {
  return value >= -largest_offset && value <= largest_offset;
}

class Interpreter {
public:
  Interpreter(const AbiTraits& abi, Budget* budget)
      : abi_(abi), unit_(unwind::find_unwind_abi(abi.id)->instruction_size), budget_(budget) {
    entry_.cfa_register = abi.sp;
    entry_.cfa_offset = entry_.sp_offset = abi.entry_cfa_offset;
    if (abi.fixed_ra_offset) entry_.rules[abi.ra] = {Rule::Kind::offset, 0, abi.fixed_ra_offset};
    state_ = entry_;
  }

  /// False if an operation cannot be interpreted, or too many have been.
  bool run(const Procedure& procedure, std::uint64_t address);

  const State& state() const { return state_; }
  /// The address whose row is used instead.
  std::optional<std::uint64_t> alias() const { return alias_; }

private:
  bool run(const ProcedureRegion& region, std::uint64_t instruction, std::uint64_t offset);
  bool apply(const ProcedureOperation& operation);
  bool spill(std::uint16_t reg, std::int64_t value, std::int64_t base_from_cfa);
  bool add(std::uint16_t reg, std::int64_t value);
  void pop(std::uint64_t count);
  bool copy(std::uint64_t label);
  /// Operations and labels cost like CFI instructions.
  bool take(std::uint64_t count) { return !budget_ || budget_->take(Resource::cfi_instructions, count); }
  bool is_sp_kept() const { return state_.cfa_register != abi_.sp; }

  const AbiTraits& abi_;
  std::uint64_t unit_;
  Budget* budget_;
  State entry_, state_;
  State region_start_;
  bool allocated_ = false;    ///< this region has allocated stack
  std::vector<State> frames_; ///< at the starts of regions that allocated stack
  std::vector<std::pair<std::uint64_t, State>> labels_;
  std::optional<std::uint64_t> alias_;
};

bool Interpreter::run(const Procedure& procedure, std::uint64_t address) {
  std::uint64_t begin = procedure.start;
  for (const ProcedureRegion& region : procedure.regions) {
    if (!take(1)) return false;
    const bool last = region.instructions < 0;
    const std::uint64_t size =
        static_cast<std::uint64_t>(std::abs(std::int64_t{region.instructions})) * unit_;
    if (last) {
      if (&region != &procedure.regions.back() || begin > procedure.end || size > procedure.end - begin)
        return false;
      begin = procedure.end - size;
    }
    if (address < begin) return true; // between the others and the last
    if (address - begin < size) return run(region, (address - begin) / unit_, address - begin);
    if (!run(region, region_end, 0)) return false;
    alias_.reset();
    begin += size;
  }
  return true;
}

/// Interprets the operations that apply at the instruction: those of the instructions before it.
bool Interpreter::run(const ProcedureRegion& region, std::uint64_t instruction, std::uint64_t offset) {
  region_start_ = state_;
  allocated_ = false;
  for (const ProcedureOperation& operation : region.operations) {
    if (operation.when >= 0 && static_cast<std::uint64_t>(operation.when) >= instruction) return true;
    if (!take(1)) return false;
    if (operation.tag == Tag::alias)
      alias_ = operation.value + offset;
    else if (!apply(operation))
      return false;
  }
  return true;
}

bool Interpreter::apply(const ProcedureOperation& operation) {
  const auto value = static_cast<std::int64_t>(operation.value);
  const std::uint16_t reg = operation.reg;
  switch (operation.tag) {
  case Tag::save_reg:
    if (operation.value >= unwind::Registers::count) return false;
    if (reg == abi_.sp) {
      state_.cfa_register = static_cast<std::uint16_t>(value);
      state_.cfa_offset = state_.sp_offset;
    } else if (reg < unwind::Registers::count) {
      state_.rules[reg] = {Rule::Kind::reg, static_cast<std::uint32_t>(value), 0};
    }
    return true;
  case Tag::spill_fp_rel: // the target of the frame pointer must be known
    return is_sp_kept() && spill(reg, value, -state_.cfa_offset);
  case Tag::spill_sp_rel: return spill(reg, value, -state_.sp_offset);
  case Tag::add: return add(reg, value);
  case Tag::pop_frames: pop(operation.value); return true;
  case Tag::label_state:
    if (labels_.size() == max_labels) return false;
    labels_.emplace_back(operation.value, state_);
    return true;
  case Tag::copy_state: return copy(operation.value);
  default: return false;
  }
}

bool Interpreter::spill(std::uint16_t reg, std::int64_t value, std::int64_t base_from_cfa) {
  if (!is_offset(value)) return false;
  if (reg < unwind::Registers::count) state_.rules[reg] = {Rule::Kind::offset, 0, base_from_cfa + value};
  return true;
}

bool Interpreter::add(std::uint16_t reg, std::int64_t value) {
  if (reg != abi_.sp || !is_offset(value) || !is_offset(state_.sp_offset - value)) return false;
  if (value < 0 && !std::exchange(allocated_, true)) {
    if (frames_.size() == max_frames) return false;
    frames_.push_back(region_start_);
    state_.frame = static_cast<std::uint32_t>(frames_.size() - 1);
  }
  state_.sp_offset -= value;
  if (!is_sp_kept()) state_.cfa_offset = state_.sp_offset;
  // Popped registers are restored.
  for (Rule& rule : state_.rules)
    if (rule.kind == Rule::Kind::offset && value > 0 && rule.offset < -state_.sp_offset) rule = {};
  return true;
}

/// Registers saved in other registers stay there.
void Interpreter::pop(std::uint64_t count) {
  State to = state_;
  for (; count && to.frame != no_frame; --count) to = State(frames_[to.frame]);
  if (count) to = entry_;
  for (std::size_t reg = 0; reg < to.rules.size(); ++reg)
    if (state_.rules[reg].kind == Rule::Kind::reg) to.rules[reg] = state_.rules[reg];
  state_ = to;
  allocated_ = false;
}

bool Interpreter::copy(std::uint64_t label) {
  for (const auto& [number, state] : labels_) {
    if (!take(1)) return false;
    if (number == label) {
      state_ = region_start_ = state;
      return true;
    }
  }
  return false;
}

/// A row of other code. Two procedures may be aliases of each other.
bool find_alias(unwind::AddressSpace* space, std::uint64_t address, unwind::CfiMatch& answer) {
  thread_local int depth = 0;
  constexpr int deepest = 8;
  if (!space || depth == deepest) return false;
  ++depth;
  unwind::RuleSource* source = space->rules_at(address);
  const bool found = source && source->find_cfi(address, answer);
  --depth;
  return found;
}

} // namespace

bool Procedure::find(std::uint64_t address, const AbiTraits& abi, unwind::CfiMatch& answer) const {
  if (address < start || address >= end) return false;
  Interpreter interpreter(abi, space ? space->budget() : nullptr);
  if (!interpreter.run(*this, address)) return false;
  if (const auto alias = interpreter.alias()) return find_alias(space, *alias, answer);
  const State& state = interpreter.state();
  answer = {};
  answer.row.begin = answer.row.fde_start = start;
  answer.row.end = end;
  answer.row.return_register = abi.ra;
  answer.row.cfa = {cfi::CfaRule::Kind::register_offset, state.cfa_register, state.cfa_offset};
  std::ranges::copy(state.rules, answer.row.rules.begin());
  answer.ends_here = address + 1 == end;
  return true;
}

} // namespace sframe::modules
