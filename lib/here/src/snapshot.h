// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the tables of all modules at one time. A snapshot does not change, except its cache; refresh()
// publishes a new one and frees the old one when it is no longer used.
//
// A walk is counted as a reader (reader_counters.h), and may use the snapshot found. No thread waits:
// snapshots still in use are checked again by the next refresh().
//
// Makers of snapshots hold no lock either. They are counted like a walk, make a new snapshot from the one
// found, and publish it if that one is still current; otherwise they start again. So they may be interrupted
// anywhere, by a signal, a fork or a callback of the loader, without blocking others.

#pragma once

#include "cache.h"
#include "full_cache.h"
#include "module.h"

#include "sframe/base/reader_counters.h"

#include <array>
#include <span>

namespace sframe::here {

struct Snapshot {
  /// A value that the loader's counters never have.
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  Snapshot();
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  /// Adds tables; the caller keeps its own reference.
  void add(const ModuleTables& module);
  /// To be called after the last add(). False if memory ran out.
  bool finish();

  std::span<const ModuleTables* const> modules() const { return modules_; }
  /// Bytes, without the modules'.
  std::size_t memory() const { return sizeof *this + full_cache_.memory(); }

  std::uint64_t loads = unknown, unloads = unknown; ///< the loader's counters
  std::array<Operation, 2> entry;                   ///< rule at a function's first instruction
  mutable AtomicRuleCache cache;

  // For a snapshot that is no longer current.
  mutable const Snapshot* next_retired = nullptr;
  mutable std::uint64_t idle = 0; ///< bit N: counter N has been 0 since

  /// The module at the address, or nullptr.
  const ModuleTables* module_at(std::uint64_t pc) const;

  /// The rule for an address, from the cache; else from the tables, and added to the cache.
  /// Async-signal-safe.
  CachedRule look_up(std::uint64_t pc) const { return look_up(AtomicRuleCache::place_of(pc), pc); }
  /// The same, if its place in the cache is known.
  CachedRule look_up(AtomicRuleCache::Place place, std::uint64_t pc) const {
    CachedRule rule;
    return cache.find(place, pc, rule) ? rule : look_up_uncached(pc);
  }

  /// The rule for an address of `module` with all registers, likewise; `to` gets its operations.
  std::optional<FrameRule> full_rule(const ModuleTables& module, std::uint64_t pc, Operations& to) const;

private:
  CachedRule look_up_uncached(std::uint64_t pc) const;

  FullRuleCache full_cache_;

  Array<const ModuleTables*> modules_; ///< by address
};

/// A use of the snapshot that is current when this object is made. Async-signal-safe, wait-free.
class SnapshotGuard {
public:
  SnapshotGuard();
  SnapshotGuard(const SnapshotGuard&) = delete;
  SnapshotGuard& operator=(const SnapshotGuard&) = delete;

  /// nullptr before the first refresh().
  const Snapshot* snapshot() const { return snapshot_; }

private:
  ReaderCounters::Use use_;
  const Snapshot* snapshot_;
};

/// Makes `made` current if `old` is still current, and retires `old`; else false. The caller must be counted
/// as a user of `old`.
bool publish(const Snapshot* old, const Snapshot* made);

/// Frees retired snapshots that no walk uses any more.
void free_retired();
/// Number of retired snapshots.
std::size_t retired_snapshots();

} // namespace sframe::here
