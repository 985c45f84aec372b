// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ASCII, whatever the locale.

#pragma once

namespace sframe::names {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

} // namespace sframe::names
