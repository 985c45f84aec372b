// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes snapshots of all modules. During dl_iterate_phdr() nothing can be unloaded. Only the sections of new
// modules are copied there, so that dlopen() in other threads is not delayed. Known modules are recognised
// by the loader's counters: if nothing was unloaded, a module in the same place is the same; otherwise its
// sections are compared, too.
//
// The loader's lock is the only one, and nothing else is waited for while it is held.

#include "compile.h"
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
    if (unchanged_) return;
    if (const std::uint64_t vdso = getauxval(AT_SYSINFO_EHDR); vdso && !has(vdso))
      add_module(describe_image(reinterpret_cast<const void*>(vdso)));
  }

  bool unchanged() const { return unchanged_; }
  /// nullptr if memory ran out.
  MappedPointer<Snapshot> snapshot();

private:
  /// A module with copies of its sections.
  struct Found {
    ModuleBytes module;
    std::size_t eh_frame, sframe;
  };

  int add(const dl_phdr_info& info);
  void add_module(const dl_phdr_info& info);
  std::size_t copy(std::span<const std::byte> bytes);
  bool has(std::uint64_t pc) const;
  bool failed() const { return kept_.failed() || found_.failed() || copies_.failed(); }
  const ModuleTables* find_old(const ModuleBytes& bytes) const;

  const Snapshot* old_;
  bool unchanged_ = false;
  bool unsettled_ = false; ///< the loader is just adding a module and does not report it consistently yet
  std::uint64_t loads_ = 0, unloads_ = 0;
  Array<const ModuleTables*> kept_;
  Array<Found> found_;
  Array<std::byte> copies_;
};

int ModuleScan::add(const dl_phdr_info& info) {
  loads_ = info.dlpi_adds;
  unloads_ = info.dlpi_subs;
  unchanged_ = old_ && old_->loads == loads_ && old_->unloads == unloads_;
  if (unchanged_) return 1;
  add_module(info);
  return failed();
}

const ModuleTables* ModuleScan::find_old(const ModuleBytes& bytes) const {
  if (!old_) return nullptr;
  const auto found = std::ranges::find_if(
      old_->modules(), [&](const ModuleTables* module) { return module->same_place(bytes); });
  return found != old_->modules().end() ? *found : nullptr;
}

std::size_t ModuleScan::copy(std::span<const std::byte> bytes) {
  const std::size_t place = copies_.size();
  copies_.append(bytes);
  return place;
}

void ModuleScan::add_module(const dl_phdr_info& info) {
  ModuleBytes module(info);
  if (module.low == module.high) return;
  unsettled_ |= !module.permanent && module.identity == Identity{};
  const ModuleTables* known = find_old(module);
  if (known && (known->permanent() || old_->unloads == unloads_)) {
    kept_.push_back(known);
    return;
  }
  module.find_sections(info);
  found_.push_back({module, copy(module.eh_frame.bytes), copy(module.sframe.bytes)});
}

bool ModuleScan::has(std::uint64_t pc) const {
  return std::ranges::any_of(kept_, [&](const ModuleTables* module) { return module->contains(pc); }) ||
         std::ranges::any_of(found_, [&](const Found& found) { return found.module.contains(pc); });
}

MappedPointer<Snapshot> ModuleScan::snapshot() {
  MappedPointer<Snapshot> made(failed() ? nullptr : make_mapped<Snapshot>());
  if (!made) return nullptr;
  for (const ModuleTables* module : kept_) made->add(*module);
  for (Found& found : found_) {
    const auto take_copy = [&](SectionBytes& section, std::size_t place) {
      section.bytes = std::span<const std::byte>(copies_).subspan(place, section.bytes.size());
    };
    take_copy(found.module.eh_frame, found.eh_frame);
    take_copy(found.module.sframe, found.sframe);
    const ModuleTables* const known = find_old(found.module);
    if (known && known->made_from(found.module)) {
      made->add(*known);
      continue;
    }
    const ModuleTables* const compiled = ModuleTables::make(found.module);
    if (!compiled) return nullptr;
    made->add(*compiled);
    compiled->release(); // owned by the snapshot now
  }
  // Otherwise the next refresh() checks again.
  if (!unsettled_) made->loads = loads_;
  made->unloads = unloads_;
  return made->finish() ? std::move(made) : nullptr;
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
  tables.bytes = sizeof *snapshot;
  for (const ModuleTables* module : snapshot->modules()) {
    tables.sframe_modules += module->has_sframe();
    tables.rows += module->rows();
    tables.bytes += module->memory();
  }
  return tables;
}

} // namespace sframe::here
