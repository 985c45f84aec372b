// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The crash of a made-up core through the C interface: a write to a null pointer (crash_fault_test.cc has the
// other faults).

#include "allocations.h"
#include "crash_core.h"

#include "sframe/c/crash.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>

namespace c_crash_test {

using namespace sframe::test;
using namespace std::literals;

/// mov %rax, 8(%rdi) with rdi = 0
const CrashCore written{.registers = {{at_rax, 5}},
                        .code = "\x48\x89\x47\x08"sv,
                        .info = {.signal = SIGSEGV, .code = SEGV_MAPERR, .address = 8}};

struct CCrash : testing::Test {
  ~CCrash() override {
    sframe_crash_close(crash);
    sframe_close(process);
    std::filesystem::remove(path);
  }

  void open(const CrashCore& made) {
    const auto bytes = made.build();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    const sframe_options options{.size = sizeof options, .no_files = 1};
    process = sframe_open_core(path.c_str(), &options, &error);
    ASSERT_TRUE(process) << error.message;
    crash = sframe_crash_explain(process, &error);
    ASSERT_TRUE(crash) << error.message;
  }

  const std::string path =
      std::filesystem::path(P_tmpdir) / ("sframe-c-crash-test." + std::to_string(::getpid()));
  sframe_error error{.size = sizeof error};
  sframe_process* process = nullptr;
  sframe_crash* crash = nullptr;
  sframe_crash_info info{.size = sizeof info};
  sframe_fault fault{.size = sizeof fault};
};

TEST_F(CCrash, WriteToNull) {
  open(written);
  sframe_close(process), process = nullptr; // the crash remains
  ASSERT_EQ(sframe_crash_get_info(crash, &info), SFRAME_OK);
  EXPECT_EQ(info.tid, 7u);
  EXPECT_FALSE(info.has_sender);
  EXPECT_EQ(info.message, nullptr);
  ASSERT_NE(info.signature, nullptr);
  EXPECT_EQ(std::string_view(info.signature).substr(0, 2), "3:");
  ASSERT_EQ(info.num_signature_frames, 1u);
  EXPECT_STREQ(info.signature_frames[0], "?"); // the pc is in no module
  EXPECT_EQ(info.num_arguments, 0u);
  EXPECT_STREQ(info.command_line, "");
  ASSERT_EQ(sframe_crash_get_fault(crash, SFRAME_FAULT_LAST, &fault), SFRAME_OK);
  EXPECT_EQ(fault.signal, SIGSEGV);
  EXPECT_STREQ(fault.signal_name, "SIGSEGV");
  EXPECT_EQ(fault.frame, 0u);
  EXPECT_TRUE(fault.has_code);
  EXPECT_EQ(fault.code, SEGV_MAPERR);
  EXPECT_STREQ(fault.code_name, "SEGV_MAPERR");
  EXPECT_STREQ(fault.meaning, "write to 0x8, not mapped");
  EXPECT_STREQ(fault.guess, "a null pointer + 0x8");
  EXPECT_EQ(fault.access, SFRAME_ACCESS_WRITE);
  EXPECT_TRUE(fault.has_address);
  EXPECT_EQ(fault.address, 8u);
  EXPECT_EQ(fault.pc, CrashCore::code_at);
  ASSERT_NE(fault.instruction, nullptr);
  EXPECT_EQ(std::string_view(fault.instruction).substr(0, 9), "mov %rax,");
  ASSERT_EQ(fault.num_registers, 2u);
  const char* name = nullptr;
  std::uint64_t value = 0;
  EXPECT_EQ(sframe_crash_get_register(crash, SFRAME_FAULT_LAST, 0, &name, &value), SFRAME_OK);
  EXPECT_STREQ(name, "rax");
  EXPECT_EQ(value, 5u);
  EXPECT_EQ(sframe_crash_get_register(crash, SFRAME_FAULT_LAST, 2, &name, &value), SFRAME_INVALID);
  EXPECT_EQ(sframe_crash_get_fault(crash, SFRAME_FAULT_FIRST, &fault), SFRAME_NO_INFO);
  EXPECT_EQ(sframe_crash_get_register(crash, SFRAME_FAULT_FIRST, 0, &name, &value), SFRAME_INVALID);
}

TEST_F(CCrash, FirstFault) { // div %rcx, by 0, whose handler raised the signal while it was blocked
  open({.code = "\x48\xf7\xf1"sv, .info = {.signal = SIGFPE, .code = SI_TKILL, .address = 7}});
  ASSERT_EQ(sframe_crash_get_info(crash, &info), SFRAME_OK);
  EXPECT_TRUE(info.has_sender);
  EXPECT_EQ(info.sender, 7u);
  ASSERT_EQ(sframe_crash_get_fault(crash, SFRAME_FAULT_FIRST, &fault), SFRAME_OK);
  EXPECT_STREQ(fault.signal_name, "SIGFPE");
  EXPECT_STREQ(fault.code_name, "FPE_INTDIV");
  EXPECT_STREQ(fault.meaning, "integer division by zero");
}

TEST_F(CCrash, NoSignal) {
  open({});
  ASSERT_EQ(sframe_crash_get_info(crash, &info), SFRAME_OK);
  EXPECT_EQ(info.tid, 0u);
  EXPECT_NE(info.signature, nullptr) << "as sframe-unwind has one";
  EXPECT_EQ(sframe_crash_get_fault(crash, SFRAME_FAULT_LAST, &fault), SFRAME_NO_INFO);
}

TEST_F(CCrash, WrongArguments) {
  open(written);
  EXPECT_EQ(sframe_crash_explain(nullptr, &error), nullptr);
  EXPECT_EQ(error.status, SFRAME_INVALID);
  EXPECT_EQ(sframe_crash_get_info(nullptr, &info), SFRAME_INVALID);
  EXPECT_EQ(sframe_crash_get_info(crash, nullptr), SFRAME_INVALID);
  EXPECT_EQ(sframe_crash_get_fault(nullptr, SFRAME_FAULT_LAST, &fault), SFRAME_INVALID);
  EXPECT_EQ(sframe_crash_get_fault(crash, SFRAME_FAULT_LAST, nullptr), SFRAME_INVALID);
  const char* name = nullptr;
  EXPECT_EQ(sframe_crash_get_register(crash, SFRAME_FAULT_LAST, 0, &name, nullptr), SFRAME_INVALID);
  info.size = fault.size = 0;
  EXPECT_EQ(sframe_crash_get_info(crash, &info), SFRAME_INVALID);
  EXPECT_EQ(sframe_crash_get_fault(crash, SFRAME_FAULT_LAST, &fault), SFRAME_INVALID);
  sframe_crash_close(nullptr);
}

TEST_F(CCrash, LittleMemory) {
  open(written);
  const int needed = with_little_memory([&] {
    sframe_crash* const made = sframe_crash_explain(process, &error);
    EXPECT_TRUE(made || error.status == SFRAME_NO_MEMORY) << error.message;
    sframe_crash_close(made);
    return made != nullptr;
  });
  EXPECT_GT(needed, 0);
  EXPECT_LT(needed, 10'000);
}

TEST(CCrashCallbacks, HaveNone) {
  sframe_error error{.size = sizeof error};
  sframe_callbacks callbacks{.size = sizeof callbacks};
  callbacks.read_word = [](std::uint64_t, std::uint64_t*, void*) { return SFRAME_INVALID; };
  callbacks.read_register = [](std::uint16_t, std::uint64_t*, void*) { return SFRAME_BAD_REGISTER; };
  sframe_process* const process = sframe_open_callbacks("amd64", &callbacks, nullptr, nullptr);
  ASSERT_TRUE(process);
  EXPECT_EQ(sframe_crash_explain(process, &error), nullptr);
  EXPECT_EQ(error.status, SFRAME_INVALID);
  EXPECT_STREQ(error.message, "only cores have a crash");
  sframe_close(process);
}

} // namespace c_crash_test
