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

#pragma once

#include "cache.h"
#include "module.h"

#include <memory>
#include <vector>

namespace sframe::walk::own {

struct Snapshot {
  using Modules = std::vector<std::shared_ptr<const ModuleTables>>;

  Modules modules;                      ///< by address
  std::uint64_t loads = 0, unloads = 0; ///< what the loader had counted
  std::shared_ptr<const RuleSet> entry; ///< its only rule, 0: a function's first instruction
  mutable RuleCache cache;

  /// The module at the address, or nullptr.
  const ModuleTables* module_at(std::uint64_t pc) const;

  /// What is known of an address: from the cache, else from the tables into the cache. Async-signal-safe.
  CachedRule look_up(std::uint64_t pc) const {
    CachedRule rule;
    return cache.find(pc, rule) ? rule : look_up_anew(pc);
  }

private:
  CachedRule look_up_anew(std::uint64_t pc) const;
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

/// The snapshot that walks find, or nullptr. For refresh(), which alone changes it.
const Snapshot* current_snapshot();

/// Makes walks find this one from now on.
void publish(const Snapshot* snapshot);

/// Bit N: counter N is at 0. A snapshot that was current is free when all bits have been seen set since the
/// next one was published.
std::uint64_t idle_counters();

} // namespace sframe::walk::own
