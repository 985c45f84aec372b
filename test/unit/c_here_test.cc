// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface to the calling thread's stack: the same frames as the C++ interface finds from the same
// place.

#include "sframe/c/here.h"

#include "sframe/here/here.h"

#include <gtest/gtest.h>

#include <csignal>

#include <ucontext.h>

namespace c_here_test {

struct Walks {
  std::uint64_t ours[64], theirs[64];
  std::size_t count = 0, expected = 0;
  sframe_reason reason = SFRAME_REASON_NONE;
};

[[gnu::noinline]] void walk_both(Walks& walks, std::size_t skip) {
  walks.expected = sframe::here::callers(walks.theirs, skip).count;
  walks.count = sframe_here(walks.ours, 64, skip, &walks.reason);
  asm volatile("" : : : "memory"); // no tail call
}

TEST(CHere, FramesAreThoseOfTheCaller) {
  Walks walks;
  walk_both(walks, 0);
  ASSERT_GT(walks.count, 3u);
  ASSERT_EQ(walks.count, walks.expected);
  // The first addresses are after two different calls in walk_both().
  EXPECT_GT(walks.ours[0], walks.theirs[0]);
  EXPECT_LT(walks.ours[0] - walks.theirs[0], 200u);
  for (std::size_t i = 1; i < walks.count; ++i) EXPECT_EQ(walks.ours[i], walks.theirs[i]) << i;
  EXPECT_TRUE(walks.reason == SFRAME_REASON_BOTTOM || walks.reason == SFRAME_REASON_ZERO_PC)
      << sframe_reason_text(walks.reason);
  Walks rest;
  walk_both(rest, 2);
  ASSERT_EQ(rest.count, walks.count - 2);
  EXPECT_EQ(rest.ours[1], walks.ours[3]);
}

TEST(CHere, InHandlers) {
  ASSERT_EQ(sframe_here_refresh(), SFRAME_OK);
  static std::uint64_t frames[64], interrupted[64];
  static std::size_t count, interrupted_count;
  static sframe_reason reason;
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t*, void* context) {
    count = sframe_here_in_handler(frames, 64, 0, &reason);
    interrupted_count = sframe_here_in_context(context, interrupted, 64, nullptr);
  };
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &before, nullptr);
  ASSERT_GT(interrupted_count, 3u);
  ASSERT_GT(count, interrupted_count) << "also the handler's frames";
  // The interrupted pc is exact, what follows are return addresses: the ends are the same.
  for (std::size_t i = 1; i < interrupted_count; ++i)
    EXPECT_EQ(interrupted[interrupted_count - i], frames[count - i]);
}

TEST(CHere, SmallAndNull) {
  sframe_reason reason = SFRAME_REASON_NONE;
  std::uint64_t frame = 0;
  EXPECT_EQ(sframe_here(&frame, 1, 0, &reason), 1u);
  EXPECT_EQ(reason, SFRAME_REASON_FRAME_LIMIT);
  EXPECT_EQ(sframe_here(nullptr, 64, 0, nullptr), 0u);
  EXPECT_EQ(sframe_here_in_handler(nullptr, 64, 0, nullptr), 0u);
  EXPECT_EQ(sframe_here_in_context(nullptr, &frame, 1, &reason), 0u);
  EXPECT_EQ(sframe_here_left_out(), sframe::here::left_out());
  EXPECT_STREQ(sframe_reason_text(SFRAME_REASON_BOTTOM),
               sframe::unwind::message(sframe::unwind::StopReason::bottom));
  EXPECT_STREQ(sframe_reason_text(static_cast<sframe_reason>(SFRAME_REASON_OTHER_MODE + 1)),
               "unknown reason");
}

} // namespace c_here_test
