// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A crash in one line.

#include "sframe/crash/headline.h"

#include <gtest/gtest.h>

#include <string>

namespace crash_headline_test {

using namespace sframe::crash;
using Access = Fault::Access;

constexpr std::int32_t sigabrt = 6, sigfpe = 8, sigsegv = 11;

Crash fault(Access access, std::uint64_t address, std::string meaning, std::string guess = {}) {
  Crash crash;
  crash.access = access;
  crash.address = address;
  crash.meaning = std::move(meaning);
  crash.guess = std::move(guess);
  return crash;
}

TEST(CrashHeadline, WhatWasAccessed) {
  EXPECT_EQ(headline("redis-server", sigsegv,
                     fault(Access::write, 0x55d0,
                           "write to 0x55d0, not permitted: read-only memory of redis-server + 0x10"),
                     {}, "debugCommand"),
            "redis-server: SIGSEGV, write to read-only memory in debugCommand");
  EXPECT_EQ(headline("a", sigsegv, fault(Access::read, 0x7f00, "read of 0x7f00, not mapped"), {}, "f"),
            "a: SIGSEGV, read of unmapped memory in f");
  EXPECT_EQ(headline("a", sigsegv, fault(Access::execute, 0x7f00, "execute at 0x7f00, not permitted: data"),
                     {}, ""),
            "a: SIGSEGV, execution of data");
}

TEST(CrashHeadline, Guesses) {
  EXPECT_EQ(headline("a", sigsegv, fault(Access::read, 8, "read of 0x8, not mapped", "a null pointer + 0x8"),
                     {}, "f"),
            "a: SIGSEGV, read through a null pointer in f");
  EXPECT_EQ(headline("a", sigsegv, fault(Access::execute, 0, "execute at 0x0, not mapped", "a null pointer"),
                     {}, "f"),
            "a: SIGSEGV, call through a null pointer in f");
  EXPECT_EQ(headline("a", sigsegv,
                     fault(Access::write, 0x7000, "write to 0x7000, not mapped", "a stack overflow"), {},
                     "f"),
            "a: SIGSEGV, stack overflow in f");
}

TEST(CrashHeadline, WhatTheProgramSays) {
  Crash crash;
  crash.code_name = "SI_TKILL";
  crash.meaning = "raised by the process itself";
  EXPECT_EQ(headline("a", sigabrt, crash, {}, "f"), "a: SIGABRT in f");
  crash.message = "free(): invalid pointer";
  EXPECT_EQ(headline("a", sigabrt, crash, {}, "f"), "a: SIGABRT, free(): invalid pointer in f");
  EXPECT_EQ(headline("a", sigabrt, crash, "std::out_of_range: map::at", "f"),
            "a: SIGABRT, std::out_of_range: map::at in f");
}

// The signal that ended the process is that of the handler.
TEST(CrashHeadline, TheFirstFault) {
  Crash crash;
  crash.code_name = "SI_TKILL";
  HandledFault& first = crash.first_fault.emplace();
  first.meaning = "integer division by zero";
  first.from.info.signal = sigfpe;
  EXPECT_EQ(headline("a", sigabrt, crash, {}, "f"), "a: SIGFPE, integer division by zero in f");
}

TEST(CrashHeadline, NothingKnown) {
  EXPECT_EQ(headline("", sigsegv, {}, {}, ""), "SIGSEGV");
  EXPECT_EQ(headline("a", 0, {}, {}, ""), "a");
  EXPECT_EQ(headline("a", sigabrt, {}, std::string(200, 'x'), ""),
            "a: SIGABRT, " + std::string(120, 'x') + "...");
}

} // namespace crash_headline_test
