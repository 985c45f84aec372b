// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signatures as docs/sframe-unwind-reference.md ("The signature") specifies them: SHA-256 of the signal's
// name and of the frames, a line each.

#include "crash_core.h"

#include "sframe/crash/signature.h"
#include "sframe/modules/symbols.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

namespace crash_signature_test {

using namespace sframe;
using Names = std::vector<std::string>;

/// The signature of frames with these names, none of which is in a module.
crash::Signature signature_of(const Names& names) {
  crash::SignatureFrames frames;
  for (const std::string& name : names) {
    modules::NamedFrame named{.module = nullptr,
                              .function = modules::FunctionName{.name = name, .symbol = name}};
    if (!frames.add(unwind::Frame{}, named, nullptr)) break;
  }
  return frames.finish(SIGSEGV);
}

TEST(CrashSignature, TextIsTheHash) {
  // sha256sum of "SIGSEGV\nparse\nmain\n"
  EXPECT_EQ(crash::signature_text(SIGSEGV, Names{"parse", "main"}), "3:08c70b32f9c55746");
  EXPECT_NE(crash::signature_text(SIGABRT, Names{"parse", "main"}), "3:08c70b32f9c55746");
}

TEST(CrashSignature, FramesThatSayNothing) {
  EXPECT_EQ(signature_of({"__pthread_kill_implementation", "raise", "abort", "check", "work"}).frames,
            (Names{"check", "work"}));
  EXPECT_TRUE(crash::is_silent("abort"));
  EXPECT_TRUE(crash::is_silent("_Unwind_RaiseException")); // "_Unwind_*"
  EXPECT_TRUE(crash::is_silent("std::sys::unix::abort_internal"));
  EXPECT_FALSE(crash::is_silent("aborted"));
  EXPECT_FALSE(crash::is_silent("my_abort"));
}

TEST(CrashSignature, FiveNamesEachOnce) {
  EXPECT_EQ(signature_of({"a", "b", "a", "b", "c", "d", "e", "f"}).frames, (Names{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(signature_of({"a", "a", "b"}).text, signature_of({"a", "b", "b"}).text);
}

// If no frame says anything, all count.
TEST(CrashSignature, OnlySilentFrames) {
  EXPECT_EQ(signature_of({"raise", "abort"}).frames, (Names{"raise", "abort"}));
}

TEST(CrashSignature, NoFrames) {
  EXPECT_TRUE(signature_of({}).frames.empty());
}

} // namespace crash_signature_test
