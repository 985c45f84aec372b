// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state before an instruction: the value of every tracked register and of the relevant stack words,
// relative to the function's entry.
//
// All values are symbolic. The CFA is a name, not a number: SP = cfa - 16 means that SP is 16 bytes below it.
// A register's value at the function's entry is a name too. If SP cannot be followed (alignment, alloca), it
// gets a new name, a symbol; what is pushed below is known relative to that symbol.

#pragma once

#include "sframe/abi.h"
#include "sframe/code/instruction.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace sframe::code {

/// A symbolic value: a base and an offset in bytes. Trivially copyable, 8 bytes.
struct Value {
  enum class Base : std::uint8_t {
    /// a computed or loaded value that is apparently none of the kinds below; copies of it have the same `id`
    /// if that is not 0
    other,
    unknown, ///< nothing is known: it may be any of the kinds below
    cfa,     ///< CFA + offset
    /// the value of register `id` at the function's entry (for RA: the return address); `offset` 1: it will
    /// be
    /// signed, or is (`flag`), with the address of the signing instruction (PAuth-LR)
    entry,
    symbol,   ///< the unknown value that SP got at one place (`id`), + offset
    conflict, ///< values that differ between paths: Results::conflicts()[id]; + offset
    constant, ///< offset
    code,     ///< an address: the function's start + offset
    /// an index: 0 to `offset`, times `id % 512`; copies of it have the same `id / 512` if that is not 0;
    /// `flag`: bounded by a compare, not by the size of its type
    bounded,
    table, ///< read from a jump table, or an address computed from one; used only by the analysis (`id`)
    /// CFA + `id` (a signed number) eighths of a scalable vector's length + offset; `id` is not 0
    scaled,
    mask,   ///< all bits; 0 where the processor speculates wrongly
    shadow, ///< the value at the function's entry of register `id`, which may point to a shadow call stack, +
            ///< offset
  };

  Base base = Base::other;
  /// Of RA, AArch64: it has a pointer authentication code. Of FP: it has the mark of Swift's asynchronous
  /// frames. Of a symbol: SP was decreased to it (alignment,
  /// alloca), so the words above it are new and do not alias words of the frame.
  bool flag = false;
  std::uint16_t id = 0;
  std::int32_t offset = 0;

  static constexpr Value other() { return {}; }
  static constexpr Value unknown() { return {Base::unknown, false, 0, 0}; }
  static constexpr Value cfa(std::int32_t offset) { return {Base::cfa, false, 0, offset}; }
  static constexpr Value entry(std::uint16_t reg) { return {Base::entry, false, reg, 0}; }

  /// True if the value is a location in the frame (CFA, symbol or conflict) or on a shadow call stack, plus
  /// an offset.
  constexpr bool is_location() const {
    return base == Base::cfa || base == Base::scaled || base == Base::symbol || base == Base::conflict ||
           base == Base::shadow;
  }

  friend constexpr bool operator==(const Value& a, const Value& b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); // hot: compared very often
  }
};

/// True if the value is known as a number: a constant, or an address.
inline bool is_number(const Value& value) {
  return value.base == Value::Base::constant || value.base == Value::Base::code;
}

/// The number that a constant or address represents in a function that starts at `function_start`.
inline std::uint64_t number_of(const Value& value, std::uint64_t function_start) {
  const auto offset = static_cast<std::uint64_t>(std::int64_t{value.offset});
  return value.base == Value::Base::code ? function_start + offset : offset;
}

/// A word on the stack and what it holds.
struct Slot {
  Value location; ///< is_location()
  Value value;

  friend constexpr bool operator==(const Slot&, const Slot&) = default;
};

/// The state before an instruction. Trivially copyable, about 700 bytes.
class State {
public:
  static constexpr std::uint32_t max_registers = 36;
  static constexpr std::uint32_t max_slots = 24;

  /// The state at a function's first instruction, as described by its first row. Call-saved registers, FP and
  /// RA hold the values that the caller expects back. `row` need not be canonical: cold parts and PLTs start
  /// with a frame already set up. An outermost row gives the canonical entry without a return address.
  static State at_entry(const FrameRow& row, const AbiTraits& abi, const Machine& machine);

  /// The value of a register (DWARF number); other() if it is not tracked.
  const Value& reg(std::uint16_t reg) const { return reg < max_registers ? registers_[reg] : untracked; }
  /// The value of the word stored at a place; other() if nothing relevant was stored there. unknown() if
  /// words were dropped because the state was full, if `place` is not a place, or if it may be anywhere in
  /// the frame (a conflict; a symbol that SP was not decreased to), or on a shadow call stack.
  Value word(Value location) const;
  /// The known words, unordered.
  std::span<const Slot> slots() const { return {slots_.data(), count_}; }

  /// In a set of parts of a state: a register, and all words.
  static constexpr std::uint64_t bit(std::uint16_t reg) {
    return reg < max_registers ? std::uint64_t{1} << reg : 0;
  }
  static constexpr std::uint64_t words_bit = std::uint64_t{1} << 63;

  // For the analysis.
  void set_reg(std::uint16_t reg, Value value) {
    if (reg >= max_registers) return;
    if (registers_[reg] != value) changed_ |= bit(reg);
    registers_[reg] = value;
  }
  /// Stores a word and forgets the words that it overlaps. Does nothing if `place` is not a place.
  void store(Value location, Value value);
  /// True if `size` bytes at `place` overlap a word that holds the entry value of a register.
  bool has_saved_register(Value location, std::uint32_t size) const;
  /// True if `size` bytes at `place` overlap a word of the frame (at SP or above) that holds the entry value
  /// of a register other than `saved`, and no register holds that value.
  bool has_only_copy(Value location, std::uint32_t size, Value sp, std::uint16_t saved) const;
  /// Forgets the words that `size` bytes at `place` overlap.
  void overwrite(Value location, std::uint32_t size);
  /// Forgets the words below `place` (same base and symbol): SP was increased, or a call may use that memory.
  void drop_below(Value location);
  /// The same, of those that hold `value`.
  void drop_below(Value location, Value value);
  /// Forgets everything relative to a symbol or conflict that is about to be redefined.
  void forget(Value::Base base, std::uint16_t id);
  bool forgot_words() const { return forgot_; }
  void set_forgot_words() {
    forgot_ = true;
    changed_ |= words_bit;
  }
  void remove_slot(std::size_t index) {
    slots_[index] = slots_[--count_];
    changed_ |= words_bit;
  }
  void set_slot(std::size_t index, Value value) {
    slots_[index].value = value;
    changed_ |= words_bit;
  }
  /// The parts with another value than before, since the last call.
  std::uint64_t take_changed() { return std::exchange(changed_, 0); }

  /// True if both states know the same words, in the same order: a fast check for joins.
  bool same_words(const State& other) const {
    return forgot_ == other.forgot_ && std::ranges::equal(slots(), other.slots());
  }
  /// True if all registers have the same values.
  bool same_registers(const State& other) const {
    return std::memcmp(registers_.data(), other.registers_.data(), sizeof registers_) == 0;
  }

  /// The last compare that a branch may test.
  struct Compare {
    std::uint8_t reg = Effect::none; ///< none: not known
    std::uint8_t source = Effect::none;
    std::int64_t value = 0;

    friend constexpr bool operator==(const Compare&, const Compare&) = default;
  };
  Compare compare;

  /// The last place written in this block; other() if there is none.
  Value last_store;

private:
  static constexpr Value untracked{};

  std::array<Value, max_registers> registers_{};
  std::array<Slot, max_slots> slots_; ///< the first count_
  std::uint64_t changed_ = 0;
  std::uint8_t count_ = 0;
  bool forgot_ = false;
};

} // namespace sframe::code
