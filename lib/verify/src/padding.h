// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Padding after functions that end with a call. Rows may cover it although the CFI does not: it is never
// executed, and the return addresses of these calls are in it (generate::Options::return_addresses).

#pragma once

#include "sframe/code/call_end.h"
#include "sframe/verify/input.h"

#include <optional>

namespace sframe::verify {

class CallPadding {
public:
  /// `input` must outlive the object. Not for several threads at once.
  explicit CallPadding(const Input& input);

  /// True if [begin, end) is padding.
  bool is_padding(std::uint64_t begin, std::uint64_t end);
  /// True if it also follows a call: code from `row_begin`, where an instruction starts, ends with one at
  /// `begin`. Linear in that code, which the budget pays for.
  bool follows_call(std::uint64_t row_begin, std::uint64_t begin, std::uint64_t end);

private:
  const Input& input_;
  std::optional<code::CallEnds> calls_; ///< empty if there is no code to read
};

} // namespace sframe::verify
