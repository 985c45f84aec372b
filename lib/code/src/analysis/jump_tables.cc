// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "jump_tables.h"

#include "values.h"

#include "sframe/bytes.h"

#include <algorithm>

namespace sframe::code {
namespace {

constexpr std::uint32_t max_guessed_entries = 4096;
/// Code that is written by hand takes the logarithm of a size for an index, and has no entries for the sizes
/// that do not occur: the table starts so many entries after its address, at most.
constexpr std::uint32_t max_missing_entries = 8;

std::uint64_t entry_value(std::span<const std::byte> bytes, ByteOrder order, bool is_signed) {
  std::uint64_t value = load_all(bytes, order);
  const std::size_t bits = 8 * bytes.size();
  if (is_signed && bits < 64 && value >> (bits - 1)) value |= ~std::uint64_t{0} << bits;
  return value;
}

} // namespace

Value JumpTables::load(const Effect& effect, Decoded& decoded, const Value& base, const Value& index) {
  if (decoded.table == no_index) {
    if (tables_.size() > std::numeric_limits<std::uint16_t>::max()) return Value::other();
    decoded.table = static_cast<std::uint32_t>(tables_.size());
    tables_.emplace_back();
  }
  const bool is_bounded = index.base == Value::Base::bounded;
  tables_[decoded.table] = {.address = number_of(base, subject_.function.start) +
                                       static_cast<std::uint64_t>(effect.value),
                            .max_index = is_bounded ? static_cast<std::uint32_t>(index.offset) : no_index,
                            .step = is_bounded ? std::uint32_t{step_of(index)} * effect.scale
                                               : std::max<std::uint32_t>(effect.scale, effect.size),
                            .size = effect.size ? effect.size : std::uint8_t{8},
                            .is_signed = effect.is_signed,
                            .is_bound_firm = is_bounded && index.flag};
  return {Value::Base::table, false, static_cast<std::uint16_t>(decoded.table), 0};
}

Value JumpTables::add_base(const Value& entry, const Value& base, std::int64_t factor) {
  Table& table = tables_[entry.id];
  table.base = number_of(base, subject_.function.start);
  table.factor = factor;
  return entry;
}

Value JumpTables::extend(const Value& entry, std::uint32_t size, bool is_signed) {
  Table& table = tables_[entry.id];
  if (size < table.size || entry.offset != 0) return Value::other();
  if (size == table.size && is_signed) table.is_signed = true;
  return entry;
}

std::optional<std::uint64_t> JumpTables::read_target(const Table& table, std::uint64_t address) {
  Environment& environment = *subject_.function.environment;
  if (table.size == 8 && table.base == 0) return environment.constant_pointer(address);
  const auto bytes = environment.constant_data(address, table.size);
  if (bytes.size() != table.size) return std::nullopt;
  const std::uint64_t entry = entry_value(bytes, subject_.abi.byte_order, table.is_signed);
  return table.base + entry * static_cast<std::uint64_t>(table.factor);
}

/// The start of the next table that this function reads; a table without a bound ends there at the latest.
std::uint64_t JumpTables::next_table(const Table& table) const {
  std::uint64_t next = std::numeric_limits<std::uint64_t>::max();
  for (const Table& other : tables_)
    if (other.address > table.address) next = std::min(next, other.address);
  return next;
}

void JumpTables::note_outside(std::uint64_t target) {
  const Function& function = subject_.function;
  if (target >= function.start && target < function.last_end) leads_to_ = std::max(leads_to_, target);
}

/// Keeps the entries read since the last one that leads elsewhere, if they are more than between others.
void JumpTables::keep_longer_run() {
  if (targets_.size() > longest_run_.size()) std::swap(targets_, longest_run_);
  targets_.clear();
}

std::optional<JumpTables::Targets> JumpTables::read(const Table& table) {
  targets_.clear();
  longest_run_.clear();
  if (!subject_.function.environment || !table.step) return std::nullopt;
  const bool is_guess = !table.is_bound_firm;
  effort_.add(is_guess ? tables_.size() : 0);
  const bool has_pointers = table.size == 8 && table.base == 0;
  const std::uint32_t missing =
      table.max_index == no_index && !has_pointers && !subject_.has_rows() ? max_missing_entries : 0;
  const std::uint64_t end = is_guess ? next_table(table) : 0;
  const std::uint64_t count =
      table.max_index == no_index ? max_guessed_entries : std::uint64_t{table.max_index} + 1;
  for (std::uint64_t i = 0; i < count; ++i) {
    effort_.add();
    const std::uint64_t address = table.address + i * table.step;
    if (is_guess && address >= end && address - end >= std::uint64_t{missing} * table.step) break;
    const auto target = read_target(table, address);
    const bool inside = target && subject_.contains(*target) && *target % subject_.machine.alignment == 0 &&
                        (!is_guess || code_.is_in_line(*target));
    // Pointers may be those of other functions. What is after a table without a bound is anything, but where
    // it starts is not known: an entry that leads elsewhere may still be before it.
    if (target && !inside && !has_pointers && (!is_guess || i == 0 || missing != 0)) note_outside(*target);
    if (!inside && i < missing) {
      keep_longer_run();
      continue;
    }
    // Whole pointers to elsewhere are still part of the table; distances are not.
    if (is_guess && !inside && (!target || !has_pointers || table.max_index == no_index)) break;
    if (!target) return std::nullopt;
    // The bound is right but not the tightest: this is another table, whose entries are relative to another
    // base.
    if (inside && !is_guess && !code_.is_in_line(*target)) {
      Table shorter = table;
      shorter.is_bound_firm = false;
      return read(shorter);
    }
    // An entry that points elsewhere goes to the function's cold part.
    if (inside) targets_.push_back(*target);
  }
  if (missing != 0) {
    keep_longer_run();
    std::swap(targets_, longest_run_);
  }
  std::ranges::sort(targets_);
  const auto repeated = std::ranges::unique(targets_);
  targets_.erase(repeated.begin(), repeated.end());
  if (targets_.empty()) return std::nullopt;
  return Targets{targets_, is_guess};
}

std::optional<JumpTables::Targets> JumpTables::targets(const Value& entry) {
  if (entry.base != Value::Base::table) return std::nullopt;
  Table table = tables_[entry.id];
  if (entry.offset != 0) {
    if (table.base == 0) return std::nullopt;
    table.base += static_cast<std::uint64_t>(std::int64_t{entry.offset});
  }
  return read(table);
}

} // namespace sframe::code
