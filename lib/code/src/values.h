// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on symbolic values.

#pragma once

#include "sframe/code/state.h"

#include <cstdint>
#include <limits>

namespace sframe::code {

inline bool fits_offset(std::int64_t value) {
  return value >= std::numeric_limits<std::int32_t>::min() &&
         value <= std::numeric_limits<std::int32_t>::max();
}

/// value + offset. If the result is more than 2 GiB from its base, or the value has no base, the result is
/// other.
inline Value plus(Value value, std::int64_t offset) {
  using Base = Value::Base;
  if (offset == 0 || value.base == Base::unknown) return value;
  if (!value.is_location() && value.base != Base::constant && value.base != Base::code) return Value::other();
  if (!fits_offset(offset) || !fits_offset(value.offset + offset)) return Value::other();
  value.offset = static_cast<std::int32_t>(value.offset + offset);
  return value;
}

/// Of an entry value, in its offset: it will be signed, or is signed (`flag`), with the address of the
/// signing instruction. No row can say so, so such a value is none that a row finds.
inline constexpr std::int32_t with_address = 1;

inline Value signed_value(Value value, bool is_signed = true) {
  if (!is_signed && !value.flag && value.base == Value::Base::entry) value.offset = 0; // only will be
  value.flag = is_signed;
  return value;
}

/// Without a code, as an instruction that returns or authenticates leaves it.
inline Value authenticated(Value value) {
  if (value.base == Value::Base::entry) value.offset = 0;
  value.flag = false;
  return value;
}

inline bool is_signed_with_address(const Value& value) {
  return value.base == Value::Base::entry && value.flag && value.offset == with_address;
}

/// A number as a constant or, if it is too large for one, as an address near the function.
inline Value number(std::int64_t value, std::uint64_t function_start) {
  if (fits_offset(value)) return {Value::Base::constant, false, 0, static_cast<std::int32_t>(value)};
  const auto distance = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) - function_start);
  if (fits_offset(distance)) return {Value::Base::code, false, 0, static_cast<std::int32_t>(distance)};
  return Value::other();
}

/// A bounded index's factor, and the name that its copies share.
constexpr std::uint16_t bounded_names = 512;
inline std::uint16_t step_of(const Value& bounded) {
  return bounded.id % bounded_names;
}
inline std::uint16_t name_of(const Value& bounded) {
  return bounded.id / bounded_names;
}
inline Value named(Value bounded, std::uint16_t name) {
  bounded.id = static_cast<std::uint16_t>(step_of(bounded) + name * bounded_names);
  return bounded;
}

/// Indexes of jump tables are below this; larger limits are not bounds.
inline constexpr std::int64_t max_index = 1 << 20;
/// Bytes from one entry to the next.
inline constexpr std::int64_t max_step = 256;

/// An index: 0 to `limit`, times `step`. Other if that is none.
inline Value bounded(std::int64_t limit, bool is_firm, std::int64_t step = 1) {
  if (limit < 0 || limit > max_index || step <= 0 || step > max_step) return Value::other();
  return {Value::Base::bounded, is_firm, static_cast<std::uint16_t>(step), static_cast<std::int32_t>(limit)};
}

/// A bounded index with a name, made of a number, that is unique in the state.
inline Value newly_named(const Value& bounded, std::uint64_t number, State& state,
                         std::uint16_t num_registers) {
  constexpr std::uint64_t num_names = 0xffff / bounded_names;
  const auto name = static_cast<std::uint16_t>(1 + number % num_names);
  for (std::uint16_t reg = 0; reg < num_registers; ++reg)
    if (const Value old = state.reg(reg); old.base == Value::Base::bounded && name_of(old) == name)
      state.set_reg(reg, named(old, 0));
  return named(bounded, name);
}

/// The first `size` bytes of a value, extended to a register.
inline Value narrowed(const Value& value, std::uint32_t size, bool is_signed) {
  using Base = Value::Base;
  constexpr std::int64_t byte_values = 256;
  const std::int64_t limit = std::int64_t{1} << (8 * size - (is_signed ? 1 : 0));
  if (value.base == Base::constant && value.offset >= 0 && value.offset < limit) return value;
  if (value.base == Base::bounded && std::int64_t{value.offset} * step_of(value) < limit) return value;
  if (size == 1 && !is_signed) return {Base::bounded, false, 1, static_cast<std::int32_t>(byte_values - 1)};
  return Value::other();
}

} // namespace sframe::code
