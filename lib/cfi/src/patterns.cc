// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two forms of expressions that a row can represent.

#include "operations.h"
#include "sframe/cfi/frame_row.h"
#include "sframe/cfi/vector_granule.h"

#include <algorithm>
#include <bit>

namespace sframe::cfi {
namespace {

std::optional<std::uint64_t> constant(DwarfReader& reader) {
  return read_constant(reader, reader.u8());
}

/// A constant and the binary operation that uses it.
std::optional<std::uint64_t> constant_for(DwarfReader& reader, Operation operation) {
  const auto value = constant(reader);
  return value && reader.u8() == operation ? value : std::nullopt;
}

std::optional<BasedOperand> breg(DwarfReader& reader) {
  return read_breg(reader, reader.u8());
}

bool known_mask(std::uint64_t mask) {
  return mask >= 1 && mask <= 255 && std::has_single_bit(mask + 1);
}

} // namespace

std::optional<PltCfa> plt_cfa(std::span<const std::byte> expression, const AbiTraits& abi) {
  constexpr std::uint64_t max_shift = 15;
  DwarfReader reader(expression, 0, expression.size(), abi.byte_order);
  const auto base = breg(reader);
  const auto pc = breg(reader);
  const auto mask = constant_for(reader, op_and);
  const auto threshold = constant_for(reader, op_ge);
  const auto shift = constant_for(reader, op_shl);
  const bool complete = reader.u8() == op_plus && reader.left() == 0 && !reader.failed();
  if (!complete || !base || !pc || !mask || !threshold || !shift) return std::nullopt;
  if (pc->reg != abi.ra || pc->offset != 0 || base->reg >= Rule::cfa_base) return std::nullopt;
  if (base->offset != static_cast<std::int32_t>(base->offset)) return std::nullopt;
  if (!known_mask(*mask) || *threshold < 1 || *threshold > *mask || *shift > max_shift) return std::nullopt;
  return PltCfa{static_cast<std::uint16_t>(base->reg), static_cast<std::int32_t>(base->offset),
                static_cast<std::uint32_t>(*mask), static_cast<std::uint32_t>(*threshold),
                std::int32_t{1} << *shift};
}

std::optional<LinearExpression> linear_expression(std::span<const std::byte> expression, const AbiTraits& abi,
                                                  bool cfa_on_stack) {
  if (expression.size() > max_linear_expression) return std::nullopt;
  DwarfReader reader(expression, 0, expression.size(), abi.byte_order);
  LinearExpression linear{.base = Rule::cfa_base};
  std::uint64_t offset = 0;
  bool begun = false;
  while (reader.left()) {
    const std::uint8_t operation = reader.u8();
    if (operation == op_nop) continue;
    if (linear.deref) return std::nullopt;
    if (const auto base = begun ? std::nullopt : read_breg(reader, operation)) {
      if (base->reg >= Rule::cfa_base) return std::nullopt;
      linear.base = static_cast<std::uint16_t>(base->reg);
      offset = static_cast<std::uint64_t>(base->offset);
    } else if (!begun && !cfa_on_stack) {
      return std::nullopt;
    } else if (operation == op_deref) {
      linear.deref = true;
    } else if (operation == op_plus_uconst) {
      offset += reader.uleb();
    } else if (const auto value = read_constant(reader, operation)) {
      const std::uint8_t with = reader.u8();
      if (with != op_plus && with != op_minus) return std::nullopt;
      offset += with == op_plus ? *value : -*value;
    } else {
      return std::nullopt;
    }
    begun = true;
  }
  if (reader.failed() || (!begun && !cfa_on_stack)) return std::nullopt;
  linear.offset = static_cast<std::int64_t>(offset);
  return linear;
}

namespace {

/// Reads the operands of an operation that names no register. False if it is not known.
bool skip_operands(DwarfReader& reader, std::uint8_t operation) {
  if (read_constant(reader, operation)) return true;
  switch (operation) {
  case op_plus_uconst: reader.uleb(); return true;
  case op_deref_size:
  case op_pick: reader.u8(); return true;
  case op_skip:
  case op_bra: reader.fixed<std::uint16_t>(); return true;
  case op_deref:
  case op_call_frame_cfa:
  case op_nop: return true;
  default:
    return (operation >= op_dup && operation <= op_ne) || (operation >= op_reg0 && operation <= op_reg31);
  }
}

} // namespace

bool names_vector_granule(std::span<const std::byte> expression, const AbiTraits& abi) {
  const auto granule = vector_granule(abi);
  if (!granule) return false;
  const std::size_t size = std::min(expression.size(), max_linear_expression);
  DwarfReader reader(expression, 0, size, abi.byte_order);
  while (reader.left() && !reader.failed()) {
    const std::uint8_t operation = reader.u8();
    if (operation == op_regx) {
      if (reader.uleb() == *granule) return !reader.failed();
    } else if (const auto base = read_breg(reader, operation)) {
      if (base->reg == *granule) return !reader.failed();
    } else if (!skip_operands(reader, operation)) {
      return false;
    }
  }
  return false;
}

} // namespace sframe::cfi
