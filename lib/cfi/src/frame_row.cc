// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each of the three rules is converted alone; the first that cannot be represented is the reason. A common
// row has no rule for SP: its users assume SP = CFA + AbiTraits::sp_from_cfa, so a CFI row with another SP is
// refused, or its CFA is moved (with_sp()). An example on AMD64, where RA is always at CFA-8:
//
//   DW_CFA_def_cfa rsp 16, RA at CFA-8, rbp at CFA-16     CFA sp+16, RA fixed, FP c-16
//
// Of expressions, those are represented that linear_expression() understands: base + offset, and the word
// there. A conversion allocates nothing.

#include "sframe/cfi/frame_row.h"

#include <algorithm>

namespace sframe::cfi {
namespace {

using Result = expected<Rule, Unrepresentable>;
using Kind = RegisterRule::Kind;

/// The reasons for the current register.
struct Reasons {
  Unrepresentable expression, val_offset;
};

Result based(Rule::Kind kind, std::uint64_t base, std::int64_t offset) {
  if (base >= Rule::cfa_base) return unexpected(Unrepresentable::register_range);
  if (offset != static_cast<std::int32_t>(offset)) return unexpected(Unrepresentable::offset_range);
  return Rule{kind, static_cast<std::uint16_t>(base), static_cast<std::int32_t>(offset)};
}

Result at_cfa(std::int64_t offset) {
  if (offset != static_cast<std::int32_t>(offset)) return unexpected(Unrepresentable::offset_range);
  return Rule::at_cfa(static_cast<std::int32_t>(offset));
}

/// base + offset, or the word stored there; the base may be the CFA.
Result from_linear(const LinearExpression& linear, bool stored, const Reasons& reasons) {
  if (linear.base != Rule::cfa_base)
    return based(stored ? Rule::Kind::stored : Rule::Kind::value, linear.base, linear.offset);
  return stored ? at_cfa(linear.offset) : Result(unexpected(reasons.val_offset));
}

Result expression_rule(const MinimalRow& row, const RegisterRule& rule, const AbiTraits& abi,
                       const Reasons& reasons) {
  const auto linear = linear_expression(row.expression(rule), abi, true);
  const bool is_address = rule.kind == Kind::expression;
  // An address computed by a load: one load more than a row can represent.
  if (!linear || (is_address && linear->deref))
    return unexpected(names_vector_granule(row.expression(rule), abi) ? Unrepresentable::scalable
                                                                      : reasons.expression);
  return from_linear(*linear, is_address || linear->deref, reasons);
}

Result cfa_rule(const MinimalRow& row, const AbiTraits& abi) {
  if (row.cfa.kind == CfaRule::Kind::unspecified) return unexpected(Unrepresentable::cfa_unspecified);
  if (row.cfa.kind == CfaRule::Kind::register_offset)
    return based(Rule::Kind::value, row.cfa.number, row.cfa.offset);
  const auto expression = row.expression(row.cfa);
  if (const auto linear = linear_expression(expression, abi, false))
    return from_linear(*linear, linear->deref,
                       {Unrepresentable::cfa_expression, Unrepresentable::cfa_expression});
  if (names_vector_granule(expression, abi)) return unexpected(Unrepresentable::scalable);
  return unexpected(plt_cfa(expression, abi) ? Unrepresentable::cfa_plt : Unrepresentable::cfa_expression);
}

/// A rule for a saved register; not for those that leave it in place.
Result saved_rule(const MinimalRow& row, const RegisterRule& rule, const AbiTraits& abi,
                  const Reasons& reasons) {
  if (rule.kind == Kind::offset) return at_cfa(rule.offset);
  if (rule.kind == Kind::reg) return based(Rule::Kind::value, rule.number, 0);
  if (rule.kind == Kind::val_offset) return unexpected(reasons.val_offset);
  return expression_rule(row, rule, abi, reasons);
}

bool unchanged(const RegisterRule& rule) {
  return rule.kind == Kind::unspecified || rule.kind == Kind::same;
}

Result ra_rule(const MinimalRow& row, const AbiTraits& abi) {
  const std::uint32_t column = row.return_register;
  if (column == abi.sp || column == abi.fp) return unexpected(Unrepresentable::ra_column);
  const RegisterRule rule = row.ra();
  const std::uint32_t where = unchanged(rule) ? column : rule.number;
  if (unchanged(rule) || rule.kind == Kind::reg) {
    // If RA has a fixed slot, its column is not a real register and holds no value.
    if (where == abi.ra)
      return abi.fixed_ra_offset ? Result(unexpected(Unrepresentable::ra_unsaved)) : Rule::same();
    return based(Rule::Kind::value, where, 0);
  }
  const Result saved =
      saved_rule(row, rule, abi, {Unrepresentable::ra_expression, Unrepresentable::ra_val_offset});
  if (abi.fixed_ra_offset && saved == Rule::at_cfa(abi.fixed_ra_offset)) return Rule::fixed();
  return saved;
}

Result fp_rule(const MinimalRow& row, const AbiTraits& abi) {
  const RegisterRule rule = row.rule(abi.fp);
  const bool stays = unchanged(rule) || rule.kind == Kind::undefined;
  if (stays || (rule.kind == Kind::reg && rule.number == abi.fp)) return Rule::same();
  return saved_rule(row, rule, abi, {Unrepresentable::fp_expression, Unrepresentable::fp_val_offset});
}

/// True if the caller's SP is the value that all users of the row assume: CFA + abi.sp_from_cfa. Rules SP =
/// CFA + constant are handled earlier.
bool sp_agrees(const MinimalRow& row, const Rule& cfa, const AbiTraits& abi) {
  const RegisterRule rule = row.rule(abi.sp);
  if (rule.kind == Kind::unspecified || rule.kind == Kind::undefined || rule.kind == Kind::val_offset)
    return true;
  const bool saved = rule.kind == Kind::offset || rule.kind == Kind::reg;
  if (saved && abi.sp_from_cfa != 0) return true;
  const Result sp = rule.kind == Kind::same
                        ? Result(Rule::in_register(abi.sp))
                        : saved_rule(row, rule, abi, {Unrepresentable::sp_rule, Unrepresentable::sp_rule});
  if (!sp) return false;
  if (cfa.kind == Rule::Kind::stored) return abi.sp_from_cfa == 0 && *sp == cfa;
  return sp->kind == Rule::Kind::value && sp->base == cfa.base &&
         std::int64_t{sp->offset} == std::int64_t{cfa.offset} + abi.sp_from_cfa;
}

/// Adds to the rule's offset; false if the sum does not fit.
bool move(Rule& rule, std::int64_t distance) {
  std::int32_t sum = 0;
  if (__builtin_add_overflow(rule.offset, distance, &sum)) return false;
  rule.offset = sum;
  return true;
}

/// Moves the CFA so that SP = CFA + `sp` becomes SP = CFA + abi.sp_from_cfa, which all users of a row assume.
/// Go on s390x has SP = CFA, the ABI SP = CFA - 160. Moving the CFA does not change the frame: SP has the
/// value given by the CFI, and the addresses of slots relative to the CFA stay.
expected<FrameRow, Unrepresentable> with_sp(FrameRow row, std::int64_t sp, const AbiTraits& abi) {
  if (row.cfa.kind != Rule::Kind::value) return unexpected(Unrepresentable::sp_rule);
  std::int32_t distance = 0;
  if (__builtin_sub_overflow(sp, abi.sp_from_cfa, &distance) || !move(row.cfa, distance))
    return unexpected(Unrepresentable::offset_range);
  for (Rule* rule : {&row.ra, &row.fp}) {
    const bool counts_from_cfa = rule->kind == Rule::Kind::stored && rule->base == Rule::cfa_base;
    if (counts_from_cfa && !move(*rule, -std::int64_t{distance}))
      return unexpected(Unrepresentable::offset_range);
  }
  return row;
}

} // namespace

expected<FrameRow, Unrepresentable> to_frame_row(const MinimalRow& row, const AbiTraits& abi) {
  const std::uint64_t offset = row.begin - row.fde_start;
  if (offset > UINT32_MAX) return unexpected(Unrepresentable::offset_range);
  if (row.ra().kind == Kind::undefined) return FrameRow::outermost(static_cast<std::uint32_t>(offset));
  if (row.ra_signed_with_pc) return unexpected(Unrepresentable::ra_signed_with_pc);
  const Result cfa = cfa_rule(row, abi);
  if (!cfa) return unexpected(cfa.error());
  const Result ra = ra_rule(row, abi);
  if (!ra) return unexpected(ra.error());
  const Result fp = fp_rule(row, abi);
  if (!fp) return unexpected(fp.error());
  if (!sp_agrees(row, *cfa, abi)) return unexpected(Unrepresentable::sp_rule);
  const FrameRow made{static_cast<std::uint32_t>(offset), *cfa, *ra, *fp, row.ra_signed};
  const RegisterRule sp = row.rule(abi.sp);
  if (sp.kind != Kind::val_offset || sp.offset == abi.sp_from_cfa) return made;
  if (abi.sp_from_cfa == 0) return unexpected(Unrepresentable::sp_rule);
  return with_sp(made, sp.offset, abi);
}

expected<FrameRow, Unrepresentable> to_frame_row(const FullRow& row, const AbiTraits& abi) {
  return to_frame_row(minimal_row(row, abi), abi);
}

/// Not cached: expressions, and a rule for SP, which has to be compared with each CFA.
const FrameRow* FrameRowMaker::convert(const MinimalRow& row) {
  const auto is_plain = [](const RegisterRule& rule) {
    return rule.kind != Kind::expression && rule.kind != Kind::val_expression;
  };
  const auto made = to_frame_row(row, *abi_);
  if (!made) {
    reason_ = made.error();
    return nullptr;
  }
  row_ = *made;
  rules_ = row.rules;
  return_register_ = row.return_register;
  has_last_ = row.cfa.kind == CfaRule::Kind::register_offset && !row_.is_outermost() &&
              row.rule(abi_->sp).kind == Kind::unspecified && std::ranges::all_of(rules_, is_plain);
  return &row_;
}

MinimalRow minimal_row(const FullRow& row, const AbiTraits& abi) {
  MinimalRow core;
  core.cfa = row.cfa;
  core.ra_signed = row.ra_signed;
  core.ra_signed_with_pc = row.ra_signed_with_pc;
  core.registers = MinimalRegisters(abi, row.return_register);
  core.rules = {row.ra(), row.rule(abi.fp), row.rule(abi.sp)};
  core.begin = row.begin;
  core.end = row.end;
  core.fde_start = row.fde_start;
  core.return_register = row.return_register;
  core.section = row.section;
  return core;
}

const char* message(Unrepresentable reason) {
  switch (reason) {
  case Unrepresentable::cfa_unspecified: return "CFA is not defined";
  case Unrepresentable::cfa_expression: return "CFA is a DWARF expression";
  case Unrepresentable::scalable: return "frame depends on the length of vectors (VG, register 46)";
  case Unrepresentable::cfa_plt: return "CFA depends on the low bits of pc, as in a PLT";
  case Unrepresentable::ra_expression: return "RA is found by a DWARF expression";
  case Unrepresentable::fp_expression: return "FP is found by a DWARF expression";
  case Unrepresentable::ra_val_offset: return "RA is the CFA plus an offset";
  case Unrepresentable::fp_val_offset: return "FP is the CFA plus an offset";
  case Unrepresentable::ra_unsaved: return "RA is neither saved nor in a register";
  case Unrepresentable::ra_column: return "return address column is SP or FP";
  case Unrepresentable::ra_signed_with_pc: return "RA is signed with the address of the signing instruction";
  case Unrepresentable::sp_rule: return "caller's SP does not follow from the CFA";
  case Unrepresentable::register_range: return "register number does not fit 16 bits";
  case Unrepresentable::offset_range: return "offset does not fit 32 bits";
  }
  return "unknown reason";
}

const char* reason_name(Unrepresentable reason) {
  switch (reason) {
  case Unrepresentable::cfa_unspecified: return "cfa-unspecified";
  case Unrepresentable::cfa_expression: return "cfa-expression";
  case Unrepresentable::scalable: return "scalable-vectors";
  case Unrepresentable::cfa_plt: return "cfa-plt";
  case Unrepresentable::ra_expression: return "ra-expression";
  case Unrepresentable::fp_expression: return "fp-expression";
  case Unrepresentable::ra_val_offset: return "ra-val-offset";
  case Unrepresentable::fp_val_offset: return "fp-val-offset";
  case Unrepresentable::ra_unsaved: return "ra-unsaved";
  case Unrepresentable::ra_column: return "ra-column";
  case Unrepresentable::ra_signed_with_pc: return "ra-signed-with-pc";
  case Unrepresentable::sp_rule: return "sp-rule";
  case Unrepresentable::register_range: return "register-range";
  case Unrepresentable::offset_range: return "offset-range";
  }
  return "unknown";
}

} // namespace sframe::cfi
