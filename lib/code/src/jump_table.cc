// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the targets of indirect jumps. The data flow has already determined what is jumped to: an entry read
// from constant data, with or without an added base, and the limit of its index. That covers the tables of
// gcc and clang on all ABIs, since they differ only in how the sum is written.
//
// If an index has no bound, or only that of its type (the compiler proved one), the table is read while its
// entries point to instructions of the function. Such targets are guesses: they add code that nothing else
// reaches, and change nothing elsewhere.

#include "engine.h"
#include "values.h"

#include "sframe/bytes.h"

#include <algorithm>

namespace sframe::code {
namespace {

constexpr std::uint32_t max_guessed_entries = 4096;

std::uint64_t entry_value(std::span<const std::byte> bytes, ByteOrder order, bool is_signed) {
  std::uint64_t value = load_all(bytes, order);
  const std::size_t bits = 8 * bytes.size();
  if (is_signed && bits < 64 && value >> (bits - 1)) value |= ~std::uint64_t{0} << bits;
  return value;
}

} // namespace

std::optional<std::uint64_t> Analysis::read_target(const JumpTable& table, std::uint64_t address) {
  Environment& environment = *function_.environment;
  if (table.size == 8 && table.base == 0) return environment.constant_pointer(address);
  const auto bytes = environment.constant_data(address, table.size);
  if (bytes.size() != table.size) return std::nullopt;
  const std::uint64_t entry = entry_value(bytes, abi_->byte_order, table.is_signed);
  return table.base + entry * static_cast<std::uint64_t>(table.factor);
}

/// The start of the next table that this function reads; a table without a bound ends there at the latest.
std::uint64_t Analysis::next_table(const JumpTable& table) const {
  std::uint64_t next = std::numeric_limits<std::uint64_t>::max();
  for (const JumpTable& other : tables_)
    if (other.address > table.address) next = std::min(next, other.address);
  return next;
}

/// True if decoding the function sequentially from its start reaches the address. Compilers keep data out of
/// code, so this detects false targets.
bool Analysis::starts_instruction(std::uint64_t address) {
  if (in_line_.empty()) {
    in_line_.resize(size_);
    for (std::uint64_t at = 0; at < size_;) {
      in_line_[at] = true;
      const std::uint32_t index = index_of_[at] == no_index ? decode_at(at) : index_of_[at];
      at += code_[index].instruction.length;
    }
  }
  return in_line_[address - function_.start];
}

/// Fills targets_, sorted and unique. False if the table cannot be right.
bool Analysis::read_targets(const JumpTable& table, bool& is_guess) {
  targets_.clear();
  if (!function_.environment || !table.step) return false;
  is_guess = !table.is_bound_firm;
  const std::uint64_t end = is_guess ? next_table(table) : 0;
  work_ += is_guess ? tables_.size() : 0;
  const bool has_pointers = table.size == 8 && table.base == 0;
  const std::uint64_t count =
      table.max_index == no_index ? max_guessed_entries : std::uint64_t{table.max_index} + 1;
  for (std::uint64_t i = 0; i < count; ++i) {
    ++work_;
    const std::uint64_t address = table.address + i * table.step;
    if (is_guess && address >= end) break;
    const auto target = read_target(table, address);
    const bool inside = target && contains(*target) && *target % machine_->alignment == 0 &&
                        (!is_guess || starts_instruction(*target));
    // Whole pointers to elsewhere are still part of the table; distances are not.
    if (is_guess && !inside && (!target || !has_pointers || table.max_index == no_index)) break;
    if (!target) return false;
    // The bound is right but not the tightest: this is another table, whose entries are relative to another
    // base.
    if (inside && !is_guess && !starts_instruction(*target)) {
      JumpTable shorter = table;
      shorter.is_bound_firm = false;
      return read_targets(shorter, is_guess);
    }
    // An entry that points elsewhere goes to the function's cold part.
    if (inside) targets_.push_back(*target);
  }
  std::ranges::sort(targets_);
  const auto repeated = std::ranges::unique(targets_);
  targets_.erase(repeated.begin(), repeated.end());
  return !targets_.empty();
}

void Analysis::jump_indirectly(std::uint32_t index, const State& state) {
  const std::uint8_t reg = code_[index].instruction.jump_register;
  const Value to = reg == Effect::none ? Value::unknown() : state.reg(reg);
  if (returns_by_jump(code_[index].instruction, state)) {
    code_[index].unresolved = false;
    return;
  }
  if (is_number(to) && contains(number_of(to, function_.start))) {
    code_[index].unresolved = false;
    return propagate(number_of(to, function_.start), state, index, Edge::jump);
  }
  bool is_guess = true;
  const bool found = to.base == Value::Base::table && read_targets(tables_[to.id], is_guess);
  code_[index].unresolved = !found && !is_entry_like(state, *abi_);
  if (!found) return;
  if (is_guess) return guess(index, state, targets_);
  for (const std::uint64_t target : targets_) propagate(target, state, index, Edge::jump);
}

} // namespace sframe::code
