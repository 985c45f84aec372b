// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of sframe/c/here.h. On processors without lib/here they are there, too.

#include "sframe/c/here.h"

#include <cstddef>

#if SFRAME_HAS_HERE

#  include "sframe/here/here.h"

namespace {

using sframe::here::Callers;

std::size_t report(const Callers& walk, sframe_reason* reason) {
  if (reason) *reason = static_cast<sframe_reason>(walk.end); // common.cc compares the enumerations
  return walk.count;
}

std::span<std::uint64_t> span_of(std::uint64_t* frames, std::size_t capacity) {
  return {frames, frames ? capacity : 0};
}

constexpr std::size_t own_frames = 1; ///< of the functions below

} // namespace

// The next two functions must not be inlined or end with a tail call: each is a frame that is skipped.

[[gnu::noinline]] size_t sframe_here(uint64_t* frames, size_t capacity, size_t skip, sframe_reason* reason) {
  return report(sframe::here::callers(span_of(frames, capacity), skip + own_frames), reason);
}

[[gnu::noinline]] size_t sframe_here_in_handler(uint64_t* frames, size_t capacity, size_t skip,
                                                sframe_reason* reason) {
  return report(sframe::here::callers_in_handler(span_of(frames, capacity), skip + own_frames), reason);
}

size_t sframe_here_in_context(const void* context, uint64_t* frames, size_t capacity, sframe_reason* reason) {
  if (!context) return report({}, reason);
  return report(
      sframe::here::callers_in_context(*static_cast<const ucontext_t*>(context), span_of(frames, capacity)),
      reason);
}

sframe_status sframe_here_refresh(void) {
  return sframe::here::refresh() ? SFRAME_OK : SFRAME_NO_MEMORY;
}

uint64_t sframe_here_left_out(void) {
  return sframe::here::left_out();
}

#else

namespace {

std::size_t report_nothing(sframe_reason* reason) {
  if (reason) *reason = SFRAME_REASON_NO_RULE;
  return 0;
}

} // namespace

size_t sframe_here(uint64_t*, size_t, size_t, sframe_reason* reason) {
  return report_nothing(reason);
}
size_t sframe_here_in_handler(uint64_t*, size_t, size_t, sframe_reason* reason) {
  return report_nothing(reason);
}
size_t sframe_here_in_context(const void*, uint64_t*, size_t, sframe_reason* reason) {
  return report_nothing(reason);
}
sframe_status sframe_here_refresh(void) {
  return SFRAME_INVALID;
}
uint64_t sframe_here_left_out(void) {
  return 0;
}

#endif
