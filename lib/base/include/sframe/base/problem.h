// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The error type of every library in lib/, above the codec. A Problem states what is wrong and, if known, in
// which section and at which offset; the program that prints it adds the name of the file.

#pragma once

#include "sframe/error.h"
#include "sframe/expected.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe {

struct Problem {
  std::string what;    ///< one line, no final period: "section runs past the end of the file"
  std::string section; ///< the section's name; empty if no section is involved
  std::optional<std::uint64_t>
      offset; ///< bytes from the section's start; from the file's start without a section

  /// The whole line: "what (offset 0x10, section .sframe)".
  std::string text() const;

  friend bool operator==(const Problem&, const Problem&) = default;
};

template <class T> using Result = expected<T, Problem>;

/// Shorthand for `return fail("...")` in a function that returns a Result.
unexpected<Problem> fail(std::string what, std::string_view section = {},
                         std::optional<std::uint64_t> offset = std::nullopt);

/// The codec's error as a Problem of `section`. `base`, the offset of the codec's bytes in the section, is
/// added to the error's offset.
Problem to_problem(const sframe::Error& error, std::string_view section = ".sframe", std::uint64_t base = 0);

/// "0x1f": the number format of all messages.
std::string hex(std::uint64_t value);

} // namespace sframe

#pragma GCC visibility pop
