// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two halves: how a rule becomes the atomic word of the cache (plain() has the rules that the ABI can pack;
// others are read again where they are needed), and the life of snapshots, as the header describes it.
// Lookups take no lock and allocate nothing.

#include "snapshot.h"

#include "sframe/base/reader_counters.h"

#include <algorithm>

namespace sframe::here {

Snapshot::Snapshot() : entry(entry_operations()) {}

Snapshot::~Snapshot() {
  for (const ModuleTables* module : modules_) module->release();
}

void Snapshot::add(const ModuleTables& module) {
  modules_.push_back(&module);
  if (!modules_.failed()) module.use();
}

bool Snapshot::finish() {
  std::ranges::sort(modules_, {}, &ModuleTables::low);
  return !modules_.failed() && full_cache_.complete();
}

const ModuleTables* Snapshot::module_at(std::uint64_t pc) const {
  const auto next = std::ranges::upper_bound(modules_, pc, {}, &ModuleTables::low);
  if (next == modules_.begin()) return nullptr;
  const ModuleTables* module = *(next - 1);
  return module->contains(pc) ? module : nullptr;
}

namespace {

/// The rule as a PlainRule, if the ABI can pack it.
std::optional<PlainRule> plain(const FrameRule& rule) {
  using Kind = Operation::Kind;
  const AbiTraits& abi = traits(host::abi);
  const Operation &cfa = rule.cfa(), &ra = rule.ra();
  const auto stored_at_cfa = [](const Operation& op) {
    return op.kind == Kind::stored && op.base == Operation::cfa_base;
  };
  if (rule.flags & FrameRule::signal_frame || cfa.kind != Kind::value || !stored_at_cfa(ra) ||
      (cfa.base != abi.sp && cfa.base != abi.fp))
    return std::nullopt;
  PlainRule result{.fp_based = cfa.base == abi.fp, .cfa_offset = cfa.offset, .ra_offset = ra.offset};
  for (const Operation& op : rule.saved()) {
    const bool unchanged = op.kind == Kind::value && op.base == op.reg && op.offset == 0;
    if (op.reg == abi.fp && stored_at_cfa(op)) {
      result.fp_saved = true;
      result.fp_offset = op.offset;
    } else if (op.reg == abi.fp && !unchanged) {
      return std::nullopt;
    } else if (op.reg == abi.sp && (abi.sp_from_cfa == 0 || !stored_at_cfa(op))) {
      // On s390x, where the CFA is not SP, rows save SP like other registers. Its value agrees with the CFA,
      // so that such an operation can be ignored; any other one cannot.
      return std::nullopt;
    }
  }
  return host::can_pack(result) ? std::optional(result) : std::nullopt;
}

CachedRule cached(const ModuleTables& module, std::uint64_t pc, Scratch& scratch) {
  using Kind = CachedRule::Kind;
  const bool unloadable = !module.permanent();
  if (!module.recognisable()) return CachedRule::make(Kind::full, unloadable); // read in each walk
  Operations operations;
  const auto rule = module.find(pc, false, operations, scratch);
  if (!rule) return CachedRule::make(Kind::none, unloadable);
  if (rule->outermost()) return CachedRule::make(Kind::outermost, unloadable);
  const auto packable = plain(*rule);
  return packable ? CachedRule::make(Kind::plain, unloadable, host::pack(*packable))
                  : CachedRule::make(Kind::full, unloadable);
}

constinit ReaderCounters walks;

/// Never destroyed: threads may walk until the end of the process.
constinit std::atomic<const Snapshot*> current = nullptr;

/// Former snapshots that walks may still use: a list with insertion at its head and removal as a whole.
constinit std::atomic<const Snapshot*> retired = nullptr;
constinit std::atomic<std::size_t> retired_count = 0;

void retire(const Snapshot* snapshot) {
  snapshot->next_retired = retired.load(std::memory_order_relaxed);
  while (!retired.compare_exchange_weak(snapshot->next_retired, snapshot, std::memory_order_acq_rel)) {
  }
}

} // namespace

CachedRule Snapshot::look_up_uncached(std::uint64_t pc) const {
  const ModuleTables* module = module_at(pc);
  CachedRule rule;
  if (module) {
    Workspace workspace;
    if (!workspace.get()) return rule; // no rule this time
    rule = cached(*module, pc, *workspace.get());
  }
  cache.put(pc, rule);
  return rule;
}

std::optional<FrameRule> Snapshot::full_rule(const ModuleTables& module, std::uint64_t pc,
                                             Operations& to) const {
  if (const auto known = full_cache_.find(pc, module.expressions(), to)) return known;
  Workspace workspace;
  if (!workspace.get()) return std::nullopt;
  const auto rule = module.find(pc, true, to, *workspace.get());
  if (rule) full_cache_.put(pc, *rule);
  return rule;
}

SnapshotGuard::SnapshotGuard() : use_(walks), snapshot_(current.load(std::memory_order_seq_cst)) {}

bool publish(const Snapshot* old, const Snapshot* made) {
  if (!current.compare_exchange_strong(old, made, std::memory_order_seq_cst)) return false;
  if (!old) return true;
  ++retired_count;
  retire(old);
  return true;
}

void free_retired() {
  const Snapshot* list = retired.exchange(nullptr, std::memory_order_acq_rel);
  if (!list) return;
  const std::uint64_t idle = walks.idle();
  while (list) {
    const Snapshot* const snapshot = std::exchange(list, list->next_retired);
    snapshot->idle |= idle;
    if (snapshot->idle != ReaderCounters::all) {
      retire(snapshot);
      continue;
    }
    destroy_mapped(const_cast<Snapshot*>(snapshot));
    --retired_count;
  }
}

std::size_t retired_snapshots() {
  return retired_count;
}

} // namespace sframe::here
