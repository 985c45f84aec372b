// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: memory for one lookup in the tables. Executing CFI takes several KiB, which signal stacks do not
// have to spare.

#pragma once

#include "host.h"
#include "rule.h"

#include "sframe/cfi/rows.h"

#include <optional>

namespace sframe::here {

using CfiRow = cfi::Row<host::CfiRegisters>;
using CfiCursor = cfi::BasicRowCursor<host::CfiRegisters>;

/// What lookups need.
struct Scratch {
  CfiRow row;
  std::optional<CfiCursor> cursor;
};

/// A Scratch that nobody else uses: one of a few, or, if too many threads and signal handlers look up
/// addresses at once, memory from the kernel. Async-signal-safe.
class Workspace {
public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// nullptr if memory ran out.
  Scratch* get() { return scratch_; }

private:
  struct Slot;
  static Slot* claim();

  Slot* slot_;
  Scratch* scratch_;
};

} // namespace sframe::here
