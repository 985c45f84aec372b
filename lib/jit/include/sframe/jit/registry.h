// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generated code of a process, with its rows.
//
//   sframe::jit::Registry registry;
//   const auto rows = sframe::jit::Rows::make({.size = size}, frame_rows);
//   const auto region = registry.add({.start = code, .name = "fibonacci"}, *rows);
//   ...
//   registry.remove(*region);  // from now on nobody calls it
//   registry.collect();        // nobody is in it any more
//
// sframe::here finds the rows, in signal handlers, too, and sframe-unwind in the process's memory, live and
// in cores (list.h). Publishers tell others: unwinders, debuggers, profilers. docs/generated-code.md has a
// table.

#pragma once

#include "sframe/base/row_sources.h"
#include "sframe/jit/publisher.h"
#include "sframe/jit/rows.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe::jit {

/// Where code is.
struct Code {
  const void* start = nullptr;
  std::string_view name; ///< copied, up to a byte of 0; may be empty
  /// Copied; may be empty. For publishers: GdbInterface and JitDump use them.
  std::span<const SourceLine> lines = {};
};

/// Code that was added. A copy of it stays valid until the code is removed or moved.
struct Region {
  std::uint64_t number = 0; ///< of all that a registry adds; never used again
  std::uint64_t start = 0;

  friend bool operator==(const Region&, const Region&) = default;
};

/// All functions may be called by any thread; those that change something wait for each other, and are not
/// for signal handlers. If one of them fails, it has changed nothing.
class Registry {
public:
  /// Adds the registry to the process's list. Throws std::bad_alloc.
  Registry();
  /// Removes all code, and the registry from the list. Waits for readers of the list, not for frames: not to
  /// be called in the child of a fork() of several threads, in which a reader may never end.
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Publishes code that is added from now on. `publisher` must outlive the registry. Throws std::bad_alloc.
  void publish_to(Publisher& publisher);

  /// Adds code. Where other code was that has been removed, its rows are dropped: the caller states that
  /// nobody is in it. Amortised logarithmic in the number of regions.
  Result<Region> add(const Code& code, const Rows& rows);

  /// Nobody calls the code any more. Threads may still be in it, or return to it: its rows stay until
  /// collect(), or until other code is added at its place.
  Result<void> remove(Region region);

  /// The same for code, removed or not, that no thread is in or will return to: its rows are dropped at once.
  Result<void> drop(Region region);

  /// The same code is at another place, too, where it is called from now on; at the old place it is removed.
  Result<Region> move(Region region, const void* start);

  /// The code, of the same size, has other rows. Readers of the list find either the old rows or the new
  /// ones. Publishers drop the old rows before they add the new ones: meanwhile no exception may pass the
  /// code.
  Result<void> patch(Region region, const Rows& rows);

  /// No thread is in code that has been removed, or will return to it: drops all its rows. Their memory is
  /// freed when no reader uses it any more, by this or a later call of any of these functions. Returns the
  /// number of regions that were dropped.
  std::size_t collect();

  /// The row for an address in this process; false if no registry has one. Async-signal-safe, without
  /// waiting.
  static bool find(std::uint64_t pc, SourcedRow& found) noexcept;

  struct Usage {
    std::size_t regions = 0; ///< that have not been removed
    std::size_t removed = 0; ///< whose rows wait for collect()
    /// Of memory for both. Of rows that are shared with other copies of Rows, each region has a part.
    std::size_t bytes = 0;
    std::size_t to_be_freed = 0; ///< bytes that readers may still use, and what is freed with them
    std::size_t unpublished = 0; ///< how often a publisher's add() has failed
  };
  Usage usage() const;

private:
  class [[gnu::visibility("hidden")]] Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace sframe::jit

#pragma GCC visibility pop
