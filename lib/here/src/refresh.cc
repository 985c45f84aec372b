// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes snapshots. While dl_iterate_phdr() runs, nothing can be unloaded; then the sections of new modules
// are copied, no more, so that dlopen() in other threads is not held up. Modules that were there before are
// told by the loader's counters: if nothing was unloaded, one in the same place is the same; otherwise its
// sections must be the same, too.

#include "compile.h"
#include "snapshot.h"

#include "sframe/walk/here.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include <sys/auxv.h>

namespace sframe::walk {

namespace own {

namespace {

/// What is loaded. Callbacks of dl_iterate_phdr() must not throw.
class Inventory {
public:
  explicit Inventory(const Snapshot* old) : old_(old) {
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* self) { return static_cast<Inventory*>(self)->add(*info); },
        this);
    if (unchanged_) return;
    if (error_) std::rethrow_exception(error_);
    if (const std::uint64_t vdso = getauxval(AT_SYSINFO_EHDR); vdso && !has(vdso))
      add_module(describe_image(reinterpret_cast<const void*>(vdso)));
  }

  bool unchanged() const { return unchanged_; }
  std::unique_ptr<Snapshot> snapshot() &&;

private:
  int add(const dl_phdr_info& info) noexcept;
  void add_module(const dl_phdr_info& info);
  bool has(std::uint64_t pc) const;
  std::shared_ptr<const ModuleTables> former(const ModuleBytes& bytes) const;

  const Snapshot* old_;
  bool unchanged_ = false;
  bool unsettled_ = false; ///< a module is being loaded: the loader does not know it everywhere yet
  std::uint64_t loads_ = 0, unloads_ = 0;
  std::exception_ptr error_;
  Snapshot::Modules kept_;
  std::vector<ModuleBytes> found_; ///< those with the sections' bytes
};

int Inventory::add(const dl_phdr_info& info) noexcept {
  loads_ = info.dlpi_adds;
  unloads_ = info.dlpi_subs;
  unchanged_ = old_ && old_->loads == loads_ && old_->unloads == unloads_;
  if (unchanged_) return 1;
  try {
    add_module(info);
  } catch (...) {
    error_ = std::current_exception();
    return 1;
  }
  return 0;
}

std::shared_ptr<const ModuleTables> Inventory::former(const ModuleBytes& bytes) const {
  const auto is_here = [&](const auto& module) { return module->same_place(bytes); };
  const auto found =
      old_ ? std::ranges::find_if(old_->modules, is_here) : Snapshot::Modules::const_iterator();
  return old_ && found != old_->modules.end() ? *found : nullptr;
}

void Inventory::add_module(const dl_phdr_info& info) {
  ModuleBytes bytes(info);
  if (bytes.low == bytes.high) return;
  unsettled_ |= !bytes.permanent && bytes.identity == Identity{};
  const auto module = former(bytes);
  if (module && (module->permanent() || old_->unloads == unloads_)) {
    kept_.push_back(module);
    return;
  }
  bytes.copy_sections(info);
  found_.push_back(std::move(bytes));
}

bool Inventory::has(std::uint64_t pc) const {
  return std::ranges::any_of(kept_, [&](const auto& module) { return module->contains(pc); }) ||
         std::ranges::any_of(found_, [&](const auto& module) { return module.contains(pc); });
}

std::shared_ptr<const RuleSet> entry_rules() {
  auto rules = std::make_shared<RuleSet>();
  add_entry_rule(*rules);
  return rules;
}

std::unique_ptr<Snapshot> Inventory::snapshot() && {
  auto made = std::make_unique<Snapshot>();
  made->modules = std::move(kept_);
  for (const ModuleBytes& bytes : found_) {
    const auto module = former(bytes);
    made->modules.push_back(module && module->made_from(bytes) ? module
                                                               : std::make_shared<ModuleTables>(bytes));
  }
  std::ranges::sort(made->modules, {}, [](const auto& module) { return module->low(); });
  // Counts that never are: the next refresh() looks again.
  made->loads = unsettled_ ? ~std::uint64_t{0} : loads_;
  made->unloads = unloads_;
  made->entry = old_ ? old_->entry : entry_rules();
  return made;
}

/// A snapshot that was current, and which counters have been at 0 since.
struct Retired {
  std::unique_ptr<const Snapshot> snapshot;
  std::uint64_t idle = 0;
};

/// Everything that refresh() keeps; never destroyed, as what it publishes.
struct State {
  std::mutex mutex;
  std::vector<Retired> retired;

  void free_unused() {
    const std::uint64_t idle = idle_counters();
    for (Retired& one : retired) one.idle |= idle;
    std::erase_if(retired, [](const Retired& one) { return one.idle == ~std::uint64_t{0}; });
  }
};

State& state() {
  static State& it = *new State;
  return it;
}

/// How often refresh() looks whether walks that it has met have ended.
constexpr int patience = 3;

} // namespace

} // namespace own

bool refresh() try {
  using namespace own;
  State& all = state();
  const std::scoped_lock lock(all.mutex);
  all.free_unused();
  const Snapshot* old = current_snapshot();
  Inventory inventory(old);
  if (inventory.unchanged()) return true;
  std::unique_ptr<const Snapshot> made = std::move(inventory).snapshot();
  all.retired.reserve(all.retired.size() + 1);
  publish(made.release());
  if (old) all.retired.push_back({std::unique_ptr<const Snapshot>(old)});
  for (int i = 0; i < patience && !all.retired.empty(); ++i) {
    all.free_unused();
    if (!all.retired.empty()) std::this_thread::yield();
  }
  return true;
} catch (const std::exception&) { // no memory
  return false;
}

HereTables here_tables() {
  using namespace own;
  State& all = state();
  const std::scoped_lock lock(all.mutex);
  HereTables tables{.retired = all.retired.size()};
  const Snapshot* snapshot = current_snapshot();
  if (!snapshot) return tables;
  tables.modules = snapshot->modules.size();
  tables.bytes = sizeof *snapshot;
  for (const auto& module : snapshot->modules) {
    tables.sframe_modules += module->has_sframe();
    tables.rows += module->rows();
    tables.bytes += module->memory();
  }
  return tables;
}

} // namespace sframe::walk
