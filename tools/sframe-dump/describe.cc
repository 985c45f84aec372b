// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "describe.h"

#include <sframe/base/problem.h>

#include <array>

namespace sframe::dump {

std::uint8_t unknown_flags(const Section& section) {
  return static_cast<std::uint8_t>(section.header().flags & ~section.version().flags);
}

std::vector<std::string> flag_names(const Section& section) {
  std::vector<std::string> names;
  for (const FlagTraits& flag : section.version().flag_names)
    if (section.header().flags & flag.bit) names.emplace_back(flag.name);
  if (const std::uint8_t rest = unknown_flags(section)) names.push_back(hex(rest));
  return names;
}

std::string rules_text(const FrameRow& row, const AbiTraits& abi) {
  if (row.is_outermost()) return "outermost frame (RA undefined)";
  std::string text = "CFA ";
  append_rule(text, row.cfa, abi, true);
  append_rule(text += ", RA ", row.ra, abi, false);
  if (row.ra_signed) text += " signed";
  append_rule(text += ", FP ", row.fp, abi, false);
  return text;
}

std::string_view byte_order_name(ByteOrder order) {
  return order == ByteOrder::little ? "little" : "big";
}

std::string_view name_of(FreType type) {
  constexpr std::array<std::string_view, 3> names{"addr1", "addr2", "addr4"};
  return names[static_cast<std::size_t>(type)];
}

std::string_view name_of(FdeType type) {
  return type == FdeType::flex ? "flex" : "default";
}
std::string_view name_of(PcType type) {
  return type == PcType::mask ? "mask" : "inc";
}
std::string_view name_of(PauthKey key) {
  return key == PauthKey::b ? "b" : "a";
}

} // namespace sframe::dump
