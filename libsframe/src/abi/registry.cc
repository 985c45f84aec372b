// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of ABIs, and the text form of registers and rules.

#include "abi/abis.h"

namespace sframe {

namespace {

constexpr const AbiTraits* registry[] = {
#define SFRAME_DEFINE_ABI(name, identifier) &abi::name,
#include "sframe/abis.def"
};

void append_register(std::string& out, std::uint16_t reg, const AbiTraits& abi) {
  if (reg == Rule::cfa_base)
    out += "cfa";
  else if (reg == abi.sp)
    out += "sp";
  else if (reg == abi.fp)
    out += "fp";
  else
    out += 'r', out += std::to_string(reg);
}

} // namespace

std::span<const AbiTraits* const> all_abis() {
  return registry;
}

const AbiTraits* find_abi(std::uint8_t id) {
  for (const AbiTraits* abi : registry)
    if (static_cast<std::uint8_t>(abi->id) == id) return abi;
  return nullptr;
}

const AbiTraits& traits(Abi abi) {
  return *find_abi(static_cast<std::uint8_t>(abi));
}

const AbiTraits* find_abi(std::uint16_t elf_machine, ByteOrder order) {
  for (const AbiTraits* abi : registry)
    if (abi->machine == elf_machine && abi->byte_order == order) return abi;
  return nullptr;
}

const AbiTraits* find_abi(std::string_view name) {
  for (const AbiTraits* abi : registry)
    if (abi->name == name) return abi;
  return nullptr;
}

std::string register_name(std::uint16_t reg, const AbiTraits& abi) {
  std::string name;
  append_register(name, reg, abi);
  return name;
}

void append_rule(std::string& out, const Rule& rule, const AbiTraits& abi, bool is_cfa) {
  switch (rule.kind) {
  case Rule::Kind::same: out += "same"; return;
  case Rule::Kind::undefined: out += "undefined"; return;
  case Rule::Kind::fixed: out += "fixed"; return;
  case Rule::Kind::value:
  case Rule::Kind::stored: break;
  }
  const bool stored = rule.kind == Rule::Kind::stored;
  if (stored) out += '[';
  append_register(out, rule.base, abi);
  if (rule.offset != 0 || is_cfa || stored) {
    if (rule.offset >= 0) out += '+';
    out += std::to_string(rule.offset);
  }
  if (stored) out += ']';
}

std::string rule_text(const Rule& rule, const AbiTraits& abi, bool is_cfa) {
  std::string out;
  append_rule(out, rule, abi, is_cfa);
  return out;
}

std::string row_text(const FrameRow& row, const AbiTraits& abi) {
  if (row.is_outermost()) return "ra=undefined";
  std::string out = "cfa=";
  append_rule(out, row.cfa, abi, true);
  append_rule(out += " ra=", row.ra, abi, false);
  append_rule(out += " fp=", row.fp, abi, false);
  if (row.ra_signed) out += " signed";
  return out;
}

} // namespace sframe
