// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program died of, in the words of its language: a panic, or an exception that nothing caught.

#pragma once

#include "sframe/unwind/frame_stepper.h"

#include <string>
#include <string_view>

namespace sframe::languages {

struct Thrown {
  std::string_view language; ///< "Go", "C++", "Rust"
  std::string type;          ///< of what was thrown; empty if unknown
  std::string message;       ///< as the process has it: to be escaped when it is printed; may be empty
  std::string place;         ///< "FILE:LINE:COLUMN" where it was thrown, likewise; empty if unknown
  unwind::Trust trust = unwind::Trust::exact;
};

/// The size up to which texts are shown, in bytes.
inline constexpr std::size_t longest_message = 4096;

} // namespace sframe::languages
