// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks of the calling thread's stack by lib/here and by libgcc's _Unwind_Backtrace(), stored without
// allocation so that both can run in a signal handler.

#pragma once

#include "sframe/here/here.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <ucontext.h>
#include <unwind.h>

namespace sframe::test {

class Frames {
public:
  static constexpr std::size_t limit = 2000;

  // The walks start in the caller of these.
  [[gnu::always_inline]] inline void by_here() {
    const here::Callers walk = here::callers(pcs_);
    count_ = walk.count;
    end_ = walk.end;
  }
  [[gnu::always_inline]] inline void by_here_in_handler() {
    const here::Callers walk = here::callers_in_handler(pcs_);
    count_ = walk.count;
    end_ = walk.end;
  }
  [[gnu::always_inline]] inline void by_libgcc() {
    count_ = 0;
    _Unwind_Backtrace(&Frames::add, this);
    asm volatile(""); // prevents a tail call
  }
  void from_context(const ucontext_t& context) {
    const here::Callers walk = here::callers_in_context(context, pcs_);
    count_ = walk.count;
    end_ = walk.end;
  }

  std::span<const std::uint64_t> pcs() const { return std::span(pcs_).first(count_); }
  unwind::StopReason end() const { return end_; }

  /// All but the first.
  std::vector<std::uint64_t> callers() const {
    const auto rest = pcs().subspan(count_ ? 1 : 0);
    return {rest.begin(), rest.end()};
  }

  /// Those from the first occurrence of `pc` on.
  std::span<const std::uint64_t> from(std::uint64_t pc) const {
    std::size_t first = 0;
    while (first < count_ && pcs_[first] != pc) ++first;
    return pcs().subspan(first);
  }

private:
  static _Unwind_Reason_Code add(_Unwind_Context* context, void* self) {
    auto& frames = *static_cast<Frames*>(self);
    const std::uint64_t pc = _Unwind_GetIP(context);
    if (pc && frames.count_ < limit) frames.pcs_[frames.count_++] = pc;
    return frames.count_ < limit ? _URC_NO_REASON : _URC_END_OF_STACK;
  }

  std::array<std::uint64_t, limit> pcs_;
  std::size_t count_ = 0;
  unwind::StopReason end_ = unwind::StopReason::none;
};

/// The pc, SP and FP of a context, by reference.
#if defined(__x86_64__)
inline auto& pc_of(ucontext_t& context) {
  return context.uc_mcontext.gregs[REG_RIP];
}
inline auto& sp_of(ucontext_t& context) {
  return context.uc_mcontext.gregs[REG_RSP];
}
inline auto& fp_of(ucontext_t& context) {
  return context.uc_mcontext.gregs[REG_RBP];
}
#elif defined(__aarch64__)
inline auto& pc_of(ucontext_t& context) {
  return context.uc_mcontext.pc;
}
inline auto& sp_of(ucontext_t& context) {
  return context.uc_mcontext.sp;
}
inline auto& fp_of(ucontext_t& context) {
  return context.uc_mcontext.regs[29];
}
#elif defined(__s390x__)
inline auto& pc_of(ucontext_t& context) {
  return context.uc_mcontext.psw.addr;
}
inline auto& sp_of(ucontext_t& context) {
  return context.uc_mcontext.gregs[15];
}
inline auto& fp_of(ucontext_t& context) {
  return context.uc_mcontext.gregs[11];
}
#endif

} // namespace sframe::test
