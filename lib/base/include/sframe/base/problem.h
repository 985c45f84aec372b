// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can go wrong above the codec: the error type of every library in lib/. A Problem says in words what is
// wrong and, where that is known, in which section and at which offset; the name of the file is added by the
// program that prints it.

#pragma once

#include "sframe/error.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace sframe {

struct Problem {
  std::string what;    ///< one line, no final period: "section runs past the end of the file"
  std::string section; ///< the section's name; empty where no section is to blame
  std::optional<std::uint64_t>
      offset; ///< bytes from the section's start; from the file's start without a section

  /// The whole line: "what (offset 0x10, section .sframe)".
  std::string text() const;

  friend bool operator==(const Problem&, const Problem&) = default;
};

template <class T> using Result = std::expected<T, Problem>;

/// Shorthand for `return fail("...")` in a function that returns a Result.
std::unexpected<Problem> fail(std::string what, std::string_view section = {},
                              std::optional<std::uint64_t> offset = std::nullopt);

/// The codec's error as a Problem of `section`. `base` is added to the error's offset: where the codec's
/// bytes start in the section.
Problem to_problem(const sframe::Error& error, std::string_view section = ".sframe", std::uint64_t base = 0);

/// "0x1f": how all messages write numbers.
std::string hex(std::uint64_t value);

} // namespace sframe
