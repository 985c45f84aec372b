// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes snapshots of all modules. During dl_iterate_phdr() nothing can be unloaded. Known modules are
// recognised by the loader's counters: if nothing was unloaded, a module in the same place is the same;
// otherwise its sections are compared, too.
//
// The loader's lock is the only one, and nothing else is waited for while it is held.

#include "snapshot.h"

#include "sframe/here/here.h"

#include <algorithm>
#include <cerrno>

#include <sched.h>
#include <sys/auxv.h>

namespace sframe::here {

namespace {

/// The loaded modules.
class ModuleScan {
public:
  explicit ModuleScan(const Snapshot* old) : old_(old) {
    dl_iterate_phdr([](dl_phdr_info* info, std::size_t,
                       void* self) { return static_cast<ModuleScan*>(self)->add(*info); },
                    this);
    if (unchanged_ || failed_) return;
    if (const std::uint64_t vdso = getauxval(AT_SYSINFO_EHDR); vdso && !has(vdso))
      add_module(describe_image(reinterpret_cast<const void*>(vdso)));
  }

  bool unchanged() const { return unchanged_; }
  /// nullptr if memory ran out.
  MappedPointer<Snapshot> snapshot();

private:
  int add(const dl_phdr_info& info);
  void add_module(const dl_phdr_info& info);
  bool has(std::uint64_t pc) const;
  const ModuleTables* find_old(const ModuleBytes& bytes) const;

  const Snapshot* old_;
  MappedPointer<Snapshot> made_;
  bool unchanged_ = false;
  bool failed_ = false;    ///< memory ran out
  bool unsettled_ = false; ///< the loader is just adding a module and does not report it consistently yet
  std::uint64_t loads_ = 0, unloads_ = 0;
};

int ModuleScan::add(const dl_phdr_info& info) {
  loads_ = info.dlpi_adds;
  unloads_ = info.dlpi_subs;
  unchanged_ = old_ && old_->loads == loads_ && old_->unloads == unloads_;
  if (unchanged_) return 1;
  add_module(info);
  return failed_;
}

const ModuleTables* ModuleScan::find_old(const ModuleBytes& bytes) const {
  if (!old_) return nullptr;
  const auto found = std::ranges::find_if(
      old_->modules(), [&](const ModuleTables* module) { return module->same_place(bytes); });
  return found != old_->modules().end() ? *found : nullptr;
}

void ModuleScan::add_module(const dl_phdr_info& info) {
  if (!made_) made_.reset(make_mapped<Snapshot>());
  failed_ |= !made_;
  ModuleBytes module(info);
  if (failed_ || module.low == module.high) return;
  unsettled_ |= !module.permanent && module.identity == Identity{};
  const ModuleTables* const known = find_old(module);
  if (known && (known->permanent() || old_->unloads == unloads_)) return made_->add(*known);
  module.find_sections(info);
  if (known && known->made_from(module)) return made_->add(*known);
  const ModuleTables* const tables = ModuleTables::make(module);
  failed_ = !tables;
  if (failed_) return;
  made_->add(*tables);
  tables->release(); // owned by the snapshot now
}

bool ModuleScan::has(std::uint64_t pc) const {
  return made_ && std::ranges::any_of(made_->modules(),
                                      [&](const ModuleTables* module) { return module->contains(pc); });
}

MappedPointer<Snapshot> ModuleScan::snapshot() {
  if (!made_) made_.reset(make_mapped<Snapshot>()); // no module
  if (!made_ || failed_ || !made_->finish()) return nullptr;
  // Otherwise the next refresh() checks again.
  if (!unsettled_) made_->loads = loads_;
  made_->unloads = unloads_;
  return std::move(made_);
}

enum class Outcome { done, outdated, no_memory };

Outcome try_refresh() {
  const SnapshotGuard guard; // keeps the old snapshot alive
  const Snapshot* const old = guard.snapshot();
  ModuleScan scan(old);
  if (scan.unchanged()) return Outcome::done;
  MappedPointer<Snapshot> made = scan.snapshot();
  if (!made) return Outcome::no_memory;
  if (!publish(old, made.get())) return Outcome::outdated;
  made.release();
  return Outcome::done;
}

/// How often refresh() checks whether concurrent walks have ended.
constexpr int max_refreshes = 3;

} // namespace

bool refresh() {
  const int before = errno;
  free_retired();
  Outcome outcome = Outcome::outdated;
  while (outcome == Outcome::outdated) outcome = try_refresh();
  for (int i = 0; i < max_refreshes && retired_snapshots(); ++i) {
    free_retired();
    if (retired_snapshots()) sched_yield();
  }
  errno = before;
  return outcome == Outcome::done;
}

Tables tables() {
  Tables tables{.retired = retired_snapshots()};
  const SnapshotGuard guard;
  const Snapshot* const snapshot = guard.snapshot();
  if (!snapshot) return tables;
  tables.modules = snapshot->modules().size();
  tables.bytes = snapshot->memory();
  for (const ModuleTables* module : snapshot->modules()) {
    tables.sframe_modules += module->has_sframe();
    tables.functions += module->functions();
    tables.bytes += module->memory();
  }
  return tables;
}

} // namespace sframe::here
