// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts a CFI row to the project's common row (sframe/row.h), or reports why that is impossible.
//
// The common row represents what SFrame version 3 can. The builder decides what a version or an FDE type can
// represent.

#pragma once

#include "sframe/cfi/rows.h"
#include "sframe/expected.h"
#include "sframe/row.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#pragma GCC visibility push(default)

namespace sframe::cfi {

/// Why a CFI row cannot be a FrameRow.
enum class Unrepresentable : std::uint8_t {
  cfa_unspecified, ///< no instruction has defined the CFA
  cfa_expression,  ///< an expression other than register + offset or the word stored there
  cfa_plt,         ///< an expression on the low bits of pc (plt_cfa()): needs rows for a repeating block
  ra_expression,   ///< an expression other than register + offset or the word stored there
  fp_expression,
  ra_val_offset,     ///< RA is an address in the frame
  fp_val_offset,     ///< FP is an address in the frame
  ra_unsaved,        ///< RA has no register on this ABI and is not saved
  ra_column,         ///< the CIE's return address column is SP or FP
  ra_signed_with_pc, ///< AArch64: the signature covers the signing instruction's address
  sp_rule,           ///< the caller's SP is not the CFA (s390x: CFA - 160), and moving the CFA does not help
  register_range,    ///< a register number of more than 16 bits
  offset_range,      ///< an offset of more than 32 bits, or a row 4 GiB after its function's start
  scalable,          ///< an expression over the length of vectors (vector_granule())
};

/// Static text: "CFA is a DWARF expression".
const char* message(Unrepresentable reason);

/// A short name for reports and JSON: "cfa-expression".
const char* reason_name(Unrepresentable reason);

/// The row's rules as a FrameRow whose offset is from the FDE's start. Constant cost, no allocation
/// (expressions: linear in their size).
///
/// - RA undefined: FrameRow::outermost(); other rules are ignored.
/// - RA at the ABI's fixed offset from the CFA: Rule::fixed().
/// - RA unspecified or same_value: Rule::same(); if the CIE names another column than the ABI's,
///   Rule::in_register(column).
/// - FP unspecified, same_value or undefined: Rule::same(). For an undefined register unwinders keep the old
///   value.
/// - An expression [breg, constant additions] is Rule::value (CFA, val_expression) or Rule::stored
///   (expression); with a final DW_OP_deref, Rule::stored (CFA, val_expression).
/// - SP unspecified or undefined: the CFA by convention. Any other rule must be equivalent: val_offset by its
///   number, same_value if the CFA is SP and the ABI's bias, expressions by equality with the CFA's. On ABIs
///   whose CFA is not the caller's SP (s390x) SP is saved like any other register, and a rule for its
///   location needs no check; there val_offset with another number gives the row with its CFA moved, so that
///   SP is correct (Go).
expected<FrameRow, Unrepresentable> to_frame_row(const MinimalRow& row, const AbiTraits& abi);

/// Makes FrameRows of many rows, with the results of to_frame_row(). Most rows have the same rules for RA, FP
/// and SP as the previous one; then only the CFA is computed again.
class FrameRowMaker {
public:
  /// `abi` must outlive the maker.
  explicit FrameRowMaker(const AbiTraits& abi) : abi_(&abi) {}

  /// Valid until the next call; nullptr if the row cannot be a FrameRow. (`expected` would be slower: it
  /// is copied as a whole right after its fields were stored, and waits for them.)
  const FrameRow* make(const MinimalRow& row) {
    if (!is_like_last(row)) return convert(row);
    row_.offset = static_cast<std::uint32_t>(row.begin - row.fde_start);
    row_.cfa.base = static_cast<std::uint16_t>(row.cfa.number);
    row_.cfa.offset = static_cast<std::int32_t>(row.cfa.offset);
    row_.ra_signed = row.ra_signed;
    return &row_;
  }

  /// Why the last call of make() returned nullptr.
  Unrepresentable reason() const { return reason_; }

private:
  /// True if only the signature and the CFA differ from row_, and the CFA's numbers fit.
  bool is_like_last(const MinimalRow& row) const {
    return has_last_ && row.rules == rules_ && row.return_register == return_register_ &&
           !row.ra_signed_with_pc && row.cfa.kind == CfaRule::Kind::register_offset &&
           row.cfa.number < Rule::cfa_base && row.cfa.offset == static_cast<std::int32_t>(row.cfa.offset) &&
           row.begin - row.fde_start <= UINT32_MAX;
  }
  const FrameRow* convert(const MinimalRow& row);

  const AbiTraits* abi_;
  bool has_last_ = false; ///< row_ was made from rules that is_like_last() can compare
  std::uint32_t return_register_ = 0;
  std::array<RegisterRule, MinimalRegisters::slots> rules_;
  FrameRow row_;
  Unrepresentable reason_{};
};

/// Same, for a row with all registers.
expected<FrameRow, Unrepresentable> to_frame_row(const FullRow& row, const AbiTraits& abi);

/// The row without the registers that a stack trace does not need.
MinimalRow minimal_row(const FullRow& row, const AbiTraits& abi);

/// The CFA expression that x86 linkers write for lazy PLT entries: the CFA is `base` + `offset`, plus `step`
/// if (pc & mask) >= threshold. The mask is one less than the size of an entry.
struct PltCfa {
  std::uint16_t base = 0;      ///< register number
  std::int32_t offset = 0;     ///< bytes
  std::uint32_t mask = 0;      ///< 15
  std::uint32_t threshold = 0; ///< 11; 10 or 9 in entries for branch protection
  std::int32_t step = 0;       ///< bytes: 8

  std::uint32_t block_size() const { return mask + 1; }

  friend bool operator==(const PltCfa&, const PltCfa&) = default;
};

/// Recognises `breg B,offset; breg pc,0; lit mask; and; lit threshold; ge; lit shift; shl; plus`, with
/// constants in any form, where `mask` is one less than a power of two up to 256, threshold is in 1..mask,
/// and `pc` is the ABI's RA column.
std::optional<PltCfa> plt_cfa(std::span<const std::byte> expression, const AbiTraits& abi);

/// An expression equivalent to base + offset, or to the word stored there.
struct LinearExpression {
  std::uint16_t base =
      0; ///< register number below 0xffff, or Rule::cfa_base if it starts from the CFA on the stack
  std::int64_t offset = 0;
  bool deref = false;

  friend bool operator==(const LinearExpression&, const LinearExpression&) = default;
};

/// Bytes; real ones have up to 20. An expression is looked at again for each row that has it.
inline constexpr std::size_t max_linear_expression = 256;

/// Recognises `[breg] {plus_uconst | constant plus | constant minus} [deref]`. Without a breg the value
/// starts from the CFA if `cfa_on_stack`. Nothing for any other expression, even an equivalent one, and for a
/// longer one than max_linear_expression. Linear in the expression.
std::optional<LinearExpression> linear_expression(std::span<const std::byte> expression, const AbiTraits& abi,
                                                  bool cfa_on_stack);

/// True if the expression has the value of VG among its operands. False from the first operation on that is
/// not for call frame information, after max_linear_expression bytes, and on other machines than AArch64.
bool names_vector_granule(std::span<const std::byte> expression, const AbiTraits& abi);

} // namespace sframe::cfi

#pragma GCC visibility pop
