// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: sorted runs of code, as the list has them (list.h). Code is added as a run of one entry, which is
// merged with the runs before it as long as they are not twice as long: so there are few runs, and each entry
// is copied a logarithmic number of times. An entry is removed in place, by its rows; if most are, all runs
// are merged into one without them. Writers hold a lock; readers have the table that was current when they
// began.

#pragma once

#include "sframe/jit/list.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sframe::jit {

/// What was replaced, and readers may still use.
struct Garbage {
  std::vector<std::shared_ptr<const void>> what;
  std::size_t bytes = 0;

  /// Makes room, so that put() does not fail.
  void reserve(std::size_t more);
  void put(std::shared_ptr<const void> one, std::size_t size) {
    what.push_back(std::move(one));
    bytes += size + sizeof one;
  }
  void clear() {
    what.clear();
    bytes = 0;
  }
};

class Runs {
public:
  struct NewCode {
    std::uint64_t start = 0, size = 0;
    const RowsBlock* rows = nullptr;
    const char* name = nullptr;
  };

  /// Makes runs with this code, without entries that overlap with it; they are to be dropped before commit(),
  /// and there is room for `more` in the garbage until then. Nothing is changed. Throws std::bad_alloc.
  void prepare(const NewCode& code, Garbage& garbage, std::size_t more);
  /// Makes one run of all if most entries have been removed; false if they have not. Throws std::bad_alloc.
  bool prepare_compact(Garbage& garbage);
  /// Publishes what was prepared, and puts what it replaces into the garbage.
  void commit(ListedRegistry& registry, Garbage& garbage) noexcept;

  /// The entry that starts there and has rows; there must be one.
  ListedCode& entry(std::uint64_t start) noexcept;
  /// To be called for the entry's code: it is removed.
  void drop(std::uint64_t start) noexcept;

  std::size_t memory() const;

private:
  struct Run {
    std::shared_ptr<ListedCode[]> entries;
    std::size_t count = 0, dropped = 0;
  };
  struct Prepared {
    std::size_t kept = 0; ///< how many of the runs stay
    Run run;              ///< in the place of the others; may be empty
    std::shared_ptr<ListedTable> table;
  };
  Run merge(std::size_t first, const NewCode* code) const;
  void prepare(std::size_t kept, const NewCode* code, Garbage& garbage, std::size_t more);
  bool are_most_dropped() const;
  Run& run_of(std::uint64_t start, ListedCode*& found) noexcept;

  std::vector<Run> runs_;
  std::shared_ptr<ListedTable> table_;
  Prepared prepared_;
};

/// The last entry that starts at or before the address; nullptr if there is none. Async-signal-safe.
const ListedCode* last_before(const ListedRun& run, std::uint64_t address) noexcept;

} // namespace sframe::jit
