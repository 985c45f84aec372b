// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compare_rows.h"

#include <llvm/Support/FormatVariadic.h>
#include <optional>

namespace sframe::verify {

namespace {

using Kind = Rule::Kind;

/// Normalises equivalent rules for `reg`'s value under this CFA to one form.
Rule normal(Rule rule, std::uint16_t reg, const Rule& cfa) {
  if (rule == Rule::in_register(reg)) return Rule::same();
  const bool based = rule.kind == Kind::value || rule.kind == Kind::stored;
  if (!based || cfa.kind != Kind::value || rule.base != cfa.base) return rule;
  const std::int64_t offset = std::int64_t{rule.offset} - cfa.offset;
  if (offset != static_cast<std::int32_t>(offset)) return rule;
  return {rule.kind, Rule::cfa_base, static_cast<std::int32_t>(offset)};
}

bool same_place(const Rule& a, const Rule& b, std::uint16_t reg, const FrameRow& row_a,
                const FrameRow& row_b) {
  return a == b || normal(a, reg, row_a.cfa) == normal(b, reg, row_b.cfa);
}

/// The finding if SFrame has a rule, and the CFI has one that certainly differs in kind. Expressions could be
/// equivalent.
std::optional<Id> contradiction(cfi::Unrepresentable why) {
  using enum cfi::Unrepresentable;
  switch (why) {
  case sp_rule: return Id::C101;
  case ra_val_offset:
  case ra_unsaved: return Id::C103;
  case fp_val_offset: return Id::C104;
  case ra_signed_with_pc: return Id::C106;
  case cfa_unspecified:
  case cfa_expression:
  case cfa_plt:
  case ra_expression:
  case fp_expression:
  case ra_column:
  case scalable:
  case register_range:
  case offset_range: break;
  }
  return std::nullopt;
}

/// True if the CFI's RA is known not to be undefined, even if it is not representable.
bool has_caller(const CfiRule& cfi) {
  using enum cfi::Unrepresentable;
  return cfi.kind != CfiRule::Kind::unrepresentable || (cfi.why != ra_unsaved && cfi.why != cfa_unspecified);
}

/// The two sides of a difference, as text.
struct Sides {
  std::string_view what;
  std::string sframe, other;
};

std::string undefined_or(const FrameRow& row, const AbiTraits& abi) {
  return row.is_outermost() ? "undefined (no caller)" : sframe::rule_text(row.ra, abi);
}

Sides sides(Id id, const FrameRow& sframe, const CfiRule& cfi, const AbiTraits& abi) {
  const auto signing = [](bool is_signed) { return is_signed ? "signed" : "not signed"; };
  const auto text = [&](const Rule& rule, bool is_cfa = false) {
    return sframe::rule_text(rule, abi, is_cfa);
  };
  switch (id) {
  case Id::C101:
  case Id::C102: return {"CFA", text(sframe.cfa, true), text(cfi.row.cfa, true)};
  case Id::C104: return {"FP", text(sframe.fp), text(cfi.row.fp)};
  case Id::C105:
    return {"RA", undefined_or(sframe, abi),
            cfi.kind == CfiRule::Kind::unrepresentable ? "defined" : undefined_or(cfi.row, abi)};
  case Id::C106: return {"RA", signing(sframe.ra_signed), signing(cfi.row.ra_signed)};
  default: return {"RA", text(sframe.ra), text(cfi.row.ra)};
  }
}

} // namespace

Differences compare(const FrameRow& sframe, const CfiRule& cfi, const AbiTraits& abi) {
  Differences out;
  const FrameRow& row = cfi.row;
  const bool all = cfi.kind != CfiRule::Kind::unrepresentable;
  if (all && sframe.same_rules(row)) [[likely]]
    return out;
  if (sframe.is_outermost() || (all && row.is_outermost())) {
    if (sframe.is_outermost() != (all && row.is_outermost())) out.add(has_caller(cfi) ? Id::C105 : Id::C108);
    return out;
  }
  if (!all) out.add(contradiction(cfi.why).value_or(Id::C108));
  if (cfi.compare_cfa) {
    if (sframe.cfa.kind != row.cfa.kind || sframe.cfa.base != row.cfa.base)
      out.add(Id::C101);
    else if (sframe.cfa.offset != row.cfa.offset)
      out.add(Id::C102);
  }
  if (cfi.compare_ra && !same_place(sframe.ra, row.ra, abi.ra, sframe, row)) out.add(Id::C103);
  if (cfi.compare_fp && !same_place(sframe.fp, row.fp, abi.fp, sframe, row)) out.add(Id::C104);
  if (cfi.compare_cfa && sframe.ra_signed != row.ra_signed) out.add(Id::C106);
  return out;
}

std::string difference_text(Id id, const FrameRow& sframe, const CfiRule& cfi, const AbiTraits& abi,
                            std::string_view reference) {
  const bool unrepresentable = cfi.kind == CfiRule::Kind::unrepresentable;
  if (id == Id::C108)
    return llvm::formatv("SFrame has a row here, but it cannot be compared with the CFI: {}",
                         message(cfi.why))
        .str();
  if (unrepresentable && id != Id::C105 && contradiction(cfi.why) == id)
    return llvm::formatv("SFrame has a row here that contradicts the CFI: {}", message(cfi.why)).str();
  const auto [what, here, there] = sides(id, sframe, cfi, abi);
  return llvm::formatv("{} is {} in SFrame, {} in {}", what, here, there, reference).str();
}

std::string rule_text(const CfiRule& rule, const AbiTraits& abi) {
  switch (rule.kind) {
  case CfiRule::Kind::row: return row_text(rule.row, abi);
  case CfiRule::Kind::plt:
    return llvm::formatv("{} (cfa {}{} from byte {} of {})", row_text(rule.row, abi),
                         rule.plt.step < 0 ? "" : "+", rule.plt.step, rule.plt.threshold,
                         rule.plt.block_size())
        .str();
  case CfiRule::Kind::unrepresentable: return message(rule.why);
  case CfiRule::Kind::broken: break;
  }
  return "malformed";
}

} // namespace sframe::verify
