// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Padding between functions. SFrame may give it the rules of the code before, which CFI has no need to: for
// return addresses that are looked up as they are (R501), or since functions share an FDE.

#pragma once

#include "sframe/code/call_end.h"
#include "sframe/optimize.h"
#include "sframe/verify/input.h"

#include <optional>

namespace sframe::verify {

class Padding {
public:
  /// `input` must outlive the object. Not for several threads at once.
  explicit Padding(const Input& input);

  /// True if [begin, end), at most OptimizeOptions::max_gap bytes, is padding. Takes code_steps from the
  /// input's budget; false if it is used up.
  bool holds(std::uint64_t begin, std::uint64_t end);
  /// True if code from `row_begin`, where an instruction starts, ends with a call at `begin`. Linear in that
  /// code, for which it takes code_steps, too.
  bool follows_call(std::uint64_t row_begin, std::uint64_t begin);

private:
  std::optional<std::span<const std::byte>> read(std::uint64_t begin, std::uint64_t end) const;

  const Input& input_;
  std::optional<code::CallEnds> code_; ///< empty if there is no code to read
};

} // namespace sframe::verify
