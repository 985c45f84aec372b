// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// find_rules() is the way of all walks: the cache of the space or of the thread, else make_rules() asks the
// callbacks for a procedure and compiles its rules. Callbacks run without a lock; rules that were made while
// another thread flushed the cache are used, but not kept. Words are read at multiples of 8, as ptrace and
// others require, and cut.

#include "sframe/remote/callback_space.h"

#include "remote_cfi.h"
#include "sframe/unwind/trampoline.h"

#include "sframe/modules/dynamic_code.h"

#include "sframe/bytes.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace sframe::remote {

namespace {

/// Returns a number never used before.
std::uint64_t next_epoch() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

} // namespace

bool Accessors::is_code(std::uint64_t address, void* arg) {
  std::uint64_t word = 0;
  return access_memory(address & ~std::uint64_t{7}, word, false, arg) == RemoteStatus::ok;
}

RemoteStatus copy_name(std::string_view name, std::span<char> buffer) {
  if (buffer.empty()) return RemoteStatus::no_memory;
  const std::size_t size = std::min(name.size(), buffer.size() - 1);
  std::copy_n(name.data(), size, buffer.data());
  buffer[size] = '\0';
  return size == name.size() ? RemoteStatus::ok : RemoteStatus::no_memory;
}

CallbackSpace::CallbackSpace(Accessors& accessors, const AbiTraits& abi)
    : accessors_(accessors), abi_(abi), epoch_(next_epoch()), flushed_(next_epoch()) {}

CallbackSpace::~CallbackSpace() = default;

void CallbackSpace::set_caching(CachingPolicy policy) {
  policy_ = policy;
  flush();
}

void CallbackSpace::set_cache_size(std::size_t rules) {
  const std::scoped_lock lock(mutex_);
  global_ = ProcedureCache(std::clamp<std::size_t>(rules, 1, max_cache_size));
}

void CallbackSpace::flush(std::uint64_t first, std::uint64_t last) {
  const std::scoped_lock lock(mutex_);
  dynamic_list_.reset();
  if (policy_ == CachingPolicy::global && (first || last))
    global_.forget({first, last - first});
  else
    epoch_ = next_epoch();
  flushed_ = next_epoch();
}

ProcedureCache& CallbackSpace::cache_of_thread() {
  static thread_local ProcedureCache cache;
  return cache;
}

/// Reads words at multiples of 8, as access_mem() of ptrace and others require. If such a word cannot be
/// read, the exact bytes may still be readable: the callback may support other addresses.
std::size_t CallbackView::read(std::uint64_t address, std::span<std::byte> out) {
  constexpr std::size_t size = 8;
  Accessors& accessors = space_.accessors();
  std::size_t done = std::min(accessors.read_memory(address, out, arg_), out.size());
  while (done < out.size()) {
    const std::uint64_t at = address + done;
    std::uint64_t word = 0;
    std::size_t into = at % size;
    RemoteStatus status = accessors.access_memory(at - into, word, false, arg_);
    if (status != RemoteStatus::ok && into) {
      into = 0;
      status = accessors.access_memory(at, word, false, arg_);
    }
    if (status != RemoteStatus::ok) {
      memory_status_ = status;
      break;
    }
    std::array<std::byte, size> bytes;
    store(bytes.data(), word, abi().byte_order);
    const std::size_t taken = std::min(size - into, out.size() - done);
    std::memcpy(out.data() + done, bytes.data() + into, taken);
    done += taken;
  }
  return done;
}

modules::Module* CallbackView::module_at(std::uint64_t address) {
  if (modules::Module* module = space_.accessors().module_at(address, arg_)) return module;
  return generated_ && is_code(address) ? generated_->module_at(address) : nullptr;
}

std::optional<std::uint64_t> CallbackView::dynamic_info_list() {
  const bool caches = space_.caching() != CachingPolicy::none;
  const auto given = [](std::uint64_t address) { return address ? std::optional(address) : std::nullopt; };
  if (caches) {
    const std::scoped_lock lock(space_.mutex_);
    if (space_.dynamic_list_) return given(*space_.dynamic_list_);
  }
  std::uint64_t address = 0;
  if (space_.accessors().find_dynamic_list(address, arg_) != RemoteStatus::ok) address = 0;
  if (caches) {
    const std::scoped_lock lock(space_.mutex_);
    space_.dynamic_list_ = address;
  }
  return given(address);
}

namespace {

/// The result of find_procedure(), released even if memory runs out.
struct FoundProcedure {
  FoundProcedure(Accessors& of, void* arg) : accessors(of), arg(arg) {}
  ~FoundProcedure() {
    if (held) accessors.release_procedure(info, arg);
  }
  FoundProcedure(const FoundProcedure&) = delete;
  FoundProcedure& operator=(const FoundProcedure&) = delete;

  RemoteStatus find(std::uint64_t pc) {
    const RemoteStatus status = accessors.find_procedure(pc, true, arg, info);
    held = status == RemoteStatus::ok;
    return status;
  }

  Accessors& accessors;
  void* arg;
  ProcedureInfo info;
  bool held = false;
};

/// Compiles the result of find_procedure(); does not refer to it, since it is released.
RemoteStatus rules_of(const ProcedureInfo& info, const unwind::FrameState& frame, unwind::Memory& memory,
                      ProcedureRules& rules) {
  const AbiTraits& abi = memory.space().abi();
  const unwind::UnwindAbi& unwind = *unwind::find_unwind_abi(abi.id);
  if (info.rules == ProcedureInfo::Rules::sframe) {
    rules.by_row = true;
    rules.row = info.sframe.row;
    rules.signal_frame = info.sframe.signal_frame;
    return applies(info.sframe, frame, unwind, memory) ? RemoteStatus::ok : RemoteStatus::no_info;
  }
  if (info.rules != ProcedureInfo::Rules::cfi) return RemoteStatus::no_info;
  RemoteCfi loaded;
  if (const auto status = load_cfi(memory, info.cfi, loaded); status != RemoteStatus::ok) return status;
  const cfi::Fde& fde = loaded.fde;
  const std::uint64_t address = frame.lookup_pc() - info.cfi.bias;
  if (!fde.contains(address)) return RemoteStatus::no_info;
  unwind::CfiMatch answer;
  cfi::FullRowCursor rows(loaded.section, fde);
  if (!rows.find(address, answer.row)) return RemoteStatus::bad_version;
  answer.signal_frame = rules.signal_frame = fde.cie.signal_frame;
  answer.ends_here = !fde.contains(address + 1);
  answer.address_size = fde.cie.address_size;
  if (!applies(answer, frame, unwind, memory)) return RemoteStatus::no_info;
  rules.compiled.compile(answer, abi);
  return RemoteStatus::ok;
}

} // namespace

std::shared_ptr<const ProcedureRules> CallbackView::make_rules(const unwind::FrameState& frame,
                                                               unwind::Memory& memory, RemoteStatus& status) {
  auto rules = std::make_shared<ProcedureRules>();
  FoundProcedure found{space_.accessors(), arg_};
  status = found.find(frame.lookup_pc());
  if (status == RemoteStatus::ok) status = rules_of(found.info, frame, memory, *rules);
  return status == RemoteStatus::ok ? std::move(rules) : nullptr;
}

std::shared_ptr<const ProcedureRules> CallbackView::find_rules(const unwind::FrameState& frame,
                                                               unwind::Memory& memory, RemoteStatus& status) {
  const CachingPolicy policy = space_.caching();
  status = RemoteStatus::ok;
  if (policy == CachingPolicy::none) return make_rules(frame, memory, status);
  const unwind::RuleKey key(frame, space_.epoch());
  if (policy == CachingPolicy::per_thread) {
    ProcedureCache& cache = CallbackSpace::cache_of_thread();
    if (const auto* found = cache.find(key)) return *found;
    auto rules = make_rules(frame, memory, status);
    if (rules) cache.insert(key, rules);
    return rules;
  }
  {
    const std::scoped_lock lock(space_.mutex_);
    if (const auto* found = space_.global_.find(key)) return *found;
  }
  const std::uint64_t flushed = space_.flushed();
  auto rules = make_rules(frame, memory, status); // without the lock: it calls callbacks
  if (rules) {
    const std::scoped_lock lock(space_.mutex_);
    if (space_.flushed() == flushed) space_.global_.insert(key, rules); // else outdated
  }
  return rules;
}

} // namespace sframe::remote
