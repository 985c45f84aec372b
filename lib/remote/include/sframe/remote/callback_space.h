// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An address space made of call-backs, with the semantics of libunwind's unw_create_addr_space(3):
//
//   CallbackSpace space(accessors, traits(Abi::s390x));
//   space.set_caching(CachingPolicy::global);
//   RemoteCursor cursor;
//   if (cursor.start(space, target) == RemoteStatus::ok)
//     do show(cursor.frame()); while (cursor.step() == StepStatus::stepped);
//
// Spaces may be made on any thread at any time, and one space may be used by many threads, each with its own
// cursors. What is cached are rules: the outcome of find_procedure() for an address, compiled; they keep
// nothing of what it gave. Failures are not cached.

#pragma once

#include "sframe/modules/module.h"
#include "sframe/remote/accessors.h"
#include "sframe/unwind/frame_stepper.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace sframe::modules {
class DynamicCode;
}

namespace sframe::remote {

enum class CachingPolicy : std::uint8_t {
  none,      ///< every step asks anew; the default
  global,    ///< one cache for all threads, behind a lock
  per_thread ///< each thread has its own, without locks
};

struct ProcedureRules;
class RuleTable;

class CallbackSpace {
public:
  /// `accessors` must outlive the space. The ABI decides byte order and registers; it need not be the host's.
  CallbackSpace(Accessors& accessors, const AbiTraits& abi);
  ~CallbackSpace();
  CallbackSpace(const CallbackSpace&) = delete;
  CallbackSpace& operator=(const CallbackSpace&) = delete;

  Accessors& accessors() const { return accessors_; }
  const AbiTraits& abi() const { return abi_; }

  /// Changes the policy, and flushes.
  void set_caching(CachingPolicy policy);
  CachingPolicy caching() const { return policy_; }

  /// How many rules the global cache holds at most, rounded up to a power of two and down to max_cache_size;
  /// empties it.
  void set_cache_size(std::size_t rules);
  static constexpr std::size_t max_cache_size = 1 << 16;

  /// Forgets what is cached for addresses in [first, last), or all where both are 0, and the address of the
  /// dynamic list. Caches of threads are forgotten as a whole.
  void flush(std::uint64_t first = 0, std::uint64_t last = 0);

  /// Changes with every flush of everything; never the same for two spaces.
  std::uint64_t epoch() const { return epoch_; }
  /// The same for flushes of any range.
  std::uint64_t flushed() const { return flushed_; }

private:
  friend class CallbackView;
  RuleTable& table_of_thread() const;

  Accessors& accessors_;
  const AbiTraits& abi_;
  std::atomic<CachingPolicy> policy_ = CachingPolicy::none;
  std::atomic<std::uint64_t> epoch_, flushed_;
  std::mutex mutex_; ///< for the members below
  std::unique_ptr<RuleTable> global_;
  std::optional<std::uint64_t> dynamic_list_;
};

/// A CallbackSpace together with the `arg` for its accessors: what steppers, Memory and Walker work on. Cheap
/// to make, for one thread.
class CallbackView final : public modules::ModuleSpace {
public:
  CallbackView(CallbackSpace& space, void* arg) : space_(space), arg_(arg) {}

  CallbackSpace& space() const { return space_; }
  void* arg() const { return arg_; }

  const AbiTraits& abi() const override { return space_.abi(); }
  std::size_t read(std::uint64_t address, std::span<std::byte> out) override;
  bool is_code(std::uint64_t address) override { return space_.accessors().is_code(address, arg_); }
  std::uint64_t code_address_mask() override { return space_.accessors().code_address_mask(abi(), arg_); }
  /// What the accessors know, else code that the program registered (dynamic_code.h).
  modules::Module* module_at(std::uint64_t address) override;
  /// The address of the list (unw_dyn_info_list_t) in which the program registers the code that it generates,
  /// with _U_dyn_register(3); nothing where there is none or it is not known. Cached as the policy says.
  std::optional<std::uint64_t> dynamic_info_list();

  /// Writes a word.
  RemoteStatus write(std::uint64_t address, std::uint64_t value) {
    return space_.accessors().access_memory(address, value, true, arg_);
  }

  /// Where to look for registered code: nowhere at first. `code` reads from a view of its own.
  void set_generated_code(modules::DynamicCode* code) { generated_ = code; }

  /// What access_memory() said when it last failed.
  RemoteStatus memory_status() const { return memory_status_; }

  /// The rules for a frame, cached as the policy says. nullptr, and why in `status`, where there are none.
  std::shared_ptr<const ProcedureRules> find_rules(const unwind::FrameState& frame, unwind::Memory& memory,
                                                   RemoteStatus& status);

private:
  std::shared_ptr<const ProcedureRules> make_rules(const unwind::FrameState& frame, unwind::Memory& memory,
                                                   RemoteStatus& status);

  CallbackSpace& space_;
  void* arg_;
  modules::DynamicCode* generated_ = nullptr;
  RemoteStatus memory_status_ = RemoteStatus::ok;
};

/// Steps by what find_procedure() says, for walks by a Walker over a CallbackView; "not mine" over other
/// spaces. Recovers all registers; stop_unwind counts as the bottom. Priority 5.
std::unique_ptr<unwind::FrameStepper> make_procedure_stepper(const AbiTraits& abi);

} // namespace sframe::remote
