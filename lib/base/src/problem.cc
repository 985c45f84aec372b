// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates Problems and formats them.

#include "sframe/base/problem.h"

#include <charconv>

namespace sframe {

std::string Problem::text() const {
  if (!offset && section.empty()) return what;
  std::string result = what + " (";
  if (offset) result += "offset " + hex(*offset);
  if (offset && !section.empty()) result += ", ";
  if (!section.empty()) result += "section " + section;
  return result + ")";
}

unexpected<Problem> fail(std::string what, std::string_view section, std::optional<std::uint64_t> offset) {
  return unexpected(Problem{std::move(what), std::string(section), offset});
}

Problem to_problem(const sframe::Error& error, std::string_view section, std::uint64_t base) {
  return {describe(error), std::string(section), base + error.offset};
}

std::string hex(std::uint64_t value) {
  char digits[16];
  auto end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
  return "0x" + std::string(digits, end);
}

} // namespace sframe
