// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "code_text.h"

#include "compare_rows.h"
#include "sframe/code/disassembly.h"
#include "sframe/convert.h"

#include <llvm/Support/FormatVariadic.h>

namespace sframe::verify {

namespace {

std::string with_offset(std::string base, std::int32_t offset) {
  if (offset == 0) return base;
  return llvm::formatv("{0}{1}{2}", base, offset < 0 ? "" : "+", offset).str();
}

std::string value_text(const code::Value& value, const AbiTraits& abi) {
  using Base = code::Value::Base;
  switch (value.base) {
  case Base::cfa: return with_offset("CFA", value.offset);
  case Base::entry:
    return (value.id == abi.ra ? "the return address" : "the caller's " + register_name(value.id, abi)) +
           (!value.flag    ? ""
            : value.offset ? ", signed with the address of the signing instruction"
                           : ", signed");
  case Base::symbol:
    return with_offset("an SP that was aligned or changed by an unknown amount", value.offset);
  case Base::conflict: return "different values on different paths";
  case Base::constant: return llvm::formatv("the constant {0}", value.offset).str();
  case Base::code: return "an address in the function";
  case Base::unknown: return "an unknown value";
  case Base::scaled: return "the CFA and a multiple of the vector length";
  case Base::shadow: return "a place on the shadow call stack";
  case Base::other:
  case Base::bounded:
  case Base::table:
  case Base::mask: break;
  }
  return "another value";
}

const code::RuleCheck* conflicting(const code::RowCheck& check) {
  for (const code::RuleCheck* rule : {&check.cfa, &check.ra, &check.fp})
    if (rule->agreement == code::Agreement::conflicts) return rule;
  return nullptr;
}

} // namespace

std::string state_text(const code::State& state, const AbiTraits& abi) {
  if (const auto row = code::row_of(state, abi))
    return row_text(resolve_fixed(*row, abi.fixed_ra_offset, abi.fixed_fp_offset), abi);
  return "SP holds " + value_text(state.reg(abi.sp), abi);
}

std::string rule_contradiction(std::string_view what, const Rule& rule, const code::RuleCheck& check,
                               const AbiTraits& abi) {
  return llvm::formatv("the {0} rule {1} yields {2}", what, rule_text(rule, abi, what == "CFA"),
                       value_text(check.found, abi))
      .str();
}

std::string conflict_text(const code::RowCheck& check, const code::Results& results, const AbiTraits& abi) {
  const code::RuleCheck* rule = conflicting(check);
  if (!rule || rule->found.base != code::Value::Base::conflict ||
      rule->found.id >= results.conflicts().size())
    return "paths with different frames meet";
  const code::Conflict& conflict = results.conflicts()[rule->found.id];
  return llvm::formatv("paths that meet at {0:x} differ: {1} on one path, {2} on the path from {3:x}",
                       conflict.address, value_text(conflict.first, abi), value_text(conflict.second, abi),
                       conflict.second_from)
      .str();
}

std::string unknown_text(const code::RowCheck& check) {
  if (check.cfa.agreement == code::Agreement::agrees && check.ra.agreement == code::Agreement::agrees &&
      check.fp.found.base == code::Value::Base::entry && check.fp.found.flag)
    return "FP has the mark of an asynchronous frame, which readers may not remove";
  const std::string_view what = check.cfa.agreement != code::Agreement::agrees  ? "CFA"
                                : check.ra.agreement != code::Agreement::agrees ? "RA"
                                                                                : "FP";
  return llvm::formatv("the base of the {0} rule is unknown", what).str();
}

bool rests_on_unknown_sp(const code::RowCheck& check, const code::Results& results) {
  const code::RuleCheck* rule = conflicting(check);
  if (!rule || rule->found.base != code::Value::Base::conflict ||
      rule->found.id >= results.conflicts().size())
    return true; // through a conflict: the place itself is unknown
  const code::Conflict& conflict = results.conflicts()[rule->found.id];
  const auto known = [](const code::Value& value) {
    return value.base != code::Value::Base::symbol && value.base != code::Value::Base::conflict;
  };
  return !known(conflict.first) || !known(conflict.second);
}

std::string return_text(const code::State& state, const AbiTraits& abi) {
  return "SP is " + value_text(state.reg(abi.sp), abi) + " at the return";
}

std::string instruction_text(const elf::Image& image, const code::Instruction& instruction,
                             const AbiTraits& abi) {
  const auto bytes = image.read(instruction.address, instruction.length);
  return bytes ? code::instruction_text(abi, *bytes, instruction.address) : std::string();
}

} // namespace sframe::verify
