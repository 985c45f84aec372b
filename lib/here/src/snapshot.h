// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the tables of all modules as they were at one time. A snapshot does not change, but for its cache;
// refresh() publishes a new one and frees the old one when nobody uses it any more.
//
// Walks count themselves in and out, in one of many counters so that threads do not share cache lines.
// Between the two they may use the snapshot that they found. A former snapshot is free when each counter has
// been seen at 0 after the new one was published: who was counted then has gone, and who came later found the
// new one. (All of these operations are in one total order; the counting out is what the writer synchronises
// with.) Nobody waits: what is still in use is looked at again by the next refresh().
//
// Those who make snapshots hold no lock either. They count themselves in like a walk, make a new one from the
// one they have found, and publish it if that is still the current one; otherwise they begin again. So they
// may stop anywhere, in a signal, a fork or a call-back of the loader, without holding up others.

#pragma once

#include "cache.h"
#include "module.h"

#include <array>
#include <span>

namespace sframe::here {

struct Snapshot {
  /// Counts that the loader never has.
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  Snapshot();
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  /// Adds tables, which stay the caller's too.
  void add(const ModuleTables& module);
  /// To be called after the last add(). False where there was no memory.
  bool finish();

  std::span<const ModuleTables* const> modules() const { return modules_; }

  std::uint64_t loads = unknown, unloads = unknown; ///< what the loader had counted
  std::array<Operation, 2> entry; ///< a function's first instruction
  RuleSet no_expressions;         ///< what the entry's operations have
  mutable RuleCache cache;

  // Of a snapshot that was current.
  mutable const Snapshot* next_retired = nullptr;
  mutable std::uint64_t idle = 0; ///< counters that have been at 0 since

  /// The module at the address, or nullptr.
  const ModuleTables* module_at(std::uint64_t pc) const;

  /// What is known of an address: from the cache, else from the tables into the cache. Async-signal-safe.
  CachedRule look_up(std::uint64_t pc) const {
    CachedRule rule;
    return cache.find(pc, rule) ? rule : look_up_anew(pc);
  }

private:
  CachedRule look_up_anew(std::uint64_t pc) const;

  Array<const ModuleTables*> modules_; ///< by address
};

/// Use of the snapshot that is current when this is made. Async-signal-safe, wait-free.
class Reading {
public:
  Reading();
  ~Reading();
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  /// nullptr before the first refresh().
  const Snapshot* snapshot() const { return snapshot_; }

private:
  std::atomic<std::uint32_t>& counter_;
  const Snapshot* snapshot_;
};

/// Makes walks find `made` from now on, if they have found `old` until now, which the caller is counted in
/// for; else false. The former one is retired.
bool publish(const Snapshot* old, const Snapshot* made);

/// Frees retired snapshots that no walk uses any more.
void free_retired();
/// How many there are.
std::size_t retired_snapshots();

} // namespace sframe::here
