// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/tool/numbers.h"

namespace sframe::tool {

std::string with_commas(std::uint64_t value) {
  std::string text;
  for (std::size_t left = std::to_string(value).size(); const char digit : std::to_string(value)) {
    text += digit;
    if (--left != 0 && left % 3 == 0) text += ',';
  }
  return text;
}

std::string counted_with_commas(std::uint64_t value, std::string_view noun) {
  return with_commas(value).append(" ").append(noun).append(value == 1 ? "" : "s");
}

} // namespace sframe::tool
