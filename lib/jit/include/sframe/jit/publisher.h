// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An interface for what else shall learn of generated code: those in publishers.h, and yours.

#pragma once

#include "sframe/jit/rows.h"

#include <cstdint>
#include <span>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe::jit {

/// The source of the code from `offset` on, up to the next one's.
struct SourceLine {
  std::uint32_t offset = 0; ///< bytes from the code's start
  std::uint32_t line = 0;
  std::string_view file;

  friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

struct PublishedCode {
  std::uint64_t start = 0;
  std::string_view name; ///< may be empty
  const Rows& rows;
  std::span<const SourceLine> lines = {}; ///< in the order in which they were added; may be empty
};

/// Called with the registry's lock held: it must not use the registry. Of one registry: two would call it at
/// the same time. Exceptions other than std::bad_alloc end the program.
class Publisher {
public:
  virtual ~Publisher() = default;
  /// Code that was added, or that now is at another place or has other rows. False if memory ran out, or
  /// whatever else failed: the code is not published here, and is added all the same.
  virtual bool add(const PublishedCode& code) = 0;
  /// Code for which add() returned true and whose rows are not needed any more.
  virtual void drop(const PublishedCode& code) = 0;
};

} // namespace sframe::jit

#pragma GCC visibility pop
