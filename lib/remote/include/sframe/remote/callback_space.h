// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An address space of callbacks, with the semantics of libunwind's unw_create_addr_space(3):
//
//   CallbackSpace space(accessors, traits(Abi::s390x));
//   space.set_caching(CachingPolicy::global);
//   RemoteCursor cursor;
//   if (cursor.start(space, target) == RemoteStatus::ok)
//     do show(cursor.frame()); while (cursor.step() == StepStatus::stepped);
//
// Spaces may be made on any thread at any time. Many threads may use one space, each with its own cursors.
// Rules are cached: compiled results of find_procedure() for an address, which do not refer to its data.
// Failures are not cached.

#pragma once

#include "sframe/modules/module.h"
#include "sframe/remote/accessors.h"
#include "sframe/unwind/compiled_row.h"
#include "sframe/unwind/frame_stepper.h"
#include "sframe/unwind/rule_cache.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#pragma GCC visibility push(default)

namespace sframe::modules {
class DynamicCode;
}

namespace sframe::remote {

enum class CachingPolicy : std::uint8_t {
  none,      ///< every step calls find_procedure(); the default
  global,    ///< one cache for all threads, guarded by a lock
  per_thread ///< each thread has its own, without locks
};

/// A compiled result of find_procedure(). Does not refer to its data.
struct ProcedureRules {
  bool by_row = false; ///< use `row`, else `compiled`
  bool signal_frame = false;
  FrameRow row;
  unwind::CompiledRow compiled;
};

/// An entry is valid for one epoch of one space, its generation: so nothing is erased when a space is flushed
/// or destroyed.
using ProcedureCache = unwind::RuleCache<std::shared_ptr<const ProcedureRules>>;

class CallbackSpace {
public:
  /// `accessors` must outlive the space. The ABI determines byte order and registers; it may differ from the
  /// host's.
  CallbackSpace(Accessors& accessors, const AbiTraits& abi);
  ~CallbackSpace();
  CallbackSpace(const CallbackSpace&) = delete;
  CallbackSpace& operator=(const CallbackSpace&) = delete;

  Accessors& accessors() const { return accessors_; }
  const AbiTraits& abi() const { return abi_; }

  /// Changes the policy, and flushes the caches.
  void set_caching(CachingPolicy policy);
  CachingPolicy caching() const { return policy_; }

  /// Maximum number of rules in the global cache, rounded up to a power of two and limited to
  /// max_cache_size. Empties the cache.
  void set_cache_size(std::size_t rules);
  static constexpr std::size_t max_cache_size = 1 << 16;

  /// Drops the rules cached for addresses in [first, last), or all if both are 0, and the cached address of
  /// the dynamic list. Per-thread caches are dropped completely.
  void flush(std::uint64_t first = 0, std::uint64_t last = 0);

  /// Changes with every flush of all addresses; unique among spaces.
  std::uint64_t epoch() const { return epoch_; }
  /// Changes with every flush, of any range.
  std::uint64_t flushed() const { return flushed_; }

private:
  friend class CallbackView;
  static ProcedureCache& cache_of_thread();

  Accessors& accessors_;
  const AbiTraits& abi_;
  std::atomic<CachingPolicy> policy_ = CachingPolicy::none;
  std::atomic<std::uint64_t> epoch_, flushed_;
  std::mutex mutex_; ///< guards the members below
  ProcedureCache global_;
  std::optional<std::uint64_t> dynamic_list_;
};

/// A CallbackSpace with the `arg` for its accessors, for use by steppers, Memory and Walker. Cheap to make;
/// for one thread.
class CallbackView final : public modules::ModuleSpace {
public:
  CallbackView(CallbackSpace& space, void* arg) : space_(space), arg_(arg) {}

  CallbackSpace& space() const { return space_; }
  void* arg() const { return arg_; }

  const AbiTraits& abi() const override { return space_.abi(); }
  std::size_t read(std::uint64_t address, std::span<std::byte> out) override;
  bool is_code(std::uint64_t address) override { return space_.accessors().is_code(address, arg_); }
  std::uint64_t code_address_mask() override { return space_.accessors().code_address_mask(abi(), arg_); }
  /// The accessors' module, else that of code registered by the program (dynamic_code.h).
  modules::Module* module_at(std::uint64_t address) override;
  /// The address of the list (unw_dyn_info_list_t) in which the program registers generated code with
  /// _U_dyn_register(3); nothing if there is none or it is unknown. Cached according to the policy.
  std::optional<std::uint64_t> dynamic_info_list();

  /// Writes a word.
  RemoteStatus write(std::uint64_t address, std::uint64_t value) {
    return space_.accessors().access_memory(address, value, true, arg_);
  }

  /// Sets where registered code is looked for; initially nowhere. `code` reads from a view of its own.
  void set_generated_code(modules::DynamicCode* code) { generated_ = code; }

  /// The result of the last access_memory() that failed.
  RemoteStatus memory_status() const { return memory_status_; }

  /// The rules for a frame, cached according to the policy. If there are none, nullptr, and the reason in
  /// `status`.
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

/// Steps by the results of find_procedure(), for a Walker over a CallbackView; "not mine" for other spaces.
/// Recovers all registers; stop_unwind means the outermost frame. Priority 5.
std::unique_ptr<unwind::FrameStepper> make_procedure_stepper(const AbiTraits& abi);

} // namespace sframe::remote

#pragma GCC visibility pop
