// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cores in crash reports of apport ("The Apport crash report format", section 2). The core is the one of
// elf_unpack_test.cc, compressed by gzip; its pieces were encoded by Python's base64, as apport does.

#include "sframe/core/core_file.h"
#include "sframe/core/crash_report.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

namespace sframe::core {

using namespace elf;
namespace core_crash_report_test {

const std::string pieces[] = {
    "H4sIAAAAAAACAw==",
    "7cwxDoJAEAXQWWOs9QpewcbKbAFUtF6BK0BHZzyGRwWK1YAXoHgvmfxM5mfGum0OKUVxjEf8togc/3Lcv50lT/MM5Q"
    "==",
    "eF53P6+0yrT59e67Z3W7XgIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADYjQknOeGuGIcBAA=="};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

std::string report(std::string_view core) {
  return "ProblemType: Crash\nArchitecture: amd64\nCoreDumpx: base64\n QUJD\n" + std::string(core) +
         "ExecutablePath: /usr/bin/server\nPackage: server 1.2-3\nProcStatus:\n Name: server\n Pid: 7\n";
}

std::string whole() {
  std::string text = "CoreDump: base64\n";
  for (const std::string& piece : pieces) text += ' ' + piece + '\n';
  return report(text);
}

TEST(CrashReport, Core) {
  const std::string text = whole();
  EXPECT_TRUE(is_crash_report(bytes_of(text)));
  EXPECT_FALSE(is_crash_report(bytes_of(text.substr(1))));
  const auto file = CoreFile::view(bytes_of(text), Limits::standard);
  if (!file && file.error().what.find("this build does not support") != std::string::npos)
    GTEST_SKIP() << "built without zlib";
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_FALSE(file->damaged());
  EXPECT_EQ(file->core().read_word(0x1008), 0x1122334455667788u);
  EXPECT_EQ(file->cost_size(), 64 * text.size());
  // The field may be the last one.
  const auto last = CoreFile::view(bytes_of(text).first(text.find("ExecutablePath")), Limits::standard);
  ASSERT_TRUE(last);
  EXPECT_FALSE(last->damaged());
}

TEST(CrashReport, Fields) {
  const std::string text = whole();
  EXPECT_EQ(report_field(bytes_of(text), "Package"), "server 1.2-3");
  EXPECT_EQ(report_field(bytes_of(text), "ProblemType"), "Crash");
  EXPECT_EQ(report_field(bytes_of(text), "ProcStatus"), "");
  EXPECT_EQ(report_field(bytes_of(text), "Name"), ""); // inside another field
  EXPECT_EQ(report_field(bytes_of(text), "Pack"), "");
  EXPECT_EQ(report_field({}, "Package"), "");
}

// Cut at any place: what is there is decoded. gzip finds that its end is missing.
TEST(CrashReport, Cut) {
  const std::string text = whole();
  std::size_t before = 0;
  const std::size_t start = text.find(" H4sI"), end = text.find("ExecutablePath") - 1;
  for (std::size_t size = start; size < end; ++size) {
    const auto core = core_in_report(bytes_of(text).first(size));
    ASSERT_TRUE(core);
    EXPECT_GE(core->size(), before);
    before = core->size();
    const auto file = CoreFile::view(bytes_of(text).first(size), Limits::standard);
    if (file && size + 8 < end) {
      EXPECT_TRUE(file->damaged()) << size;
    }
  }
  EXPECT_EQ(before + 0u, 201u);
}

TEST(CrashReport, Damaged) {
  for (const char* digit : {"*", "\t", "\xff", "="}) {
    std::string text = whole();
    const std::size_t at = text.find(pieces[1]) + 8;
    text.replace(at, 1, digit);
    const auto core = core_in_report(bytes_of(text));
    ASSERT_TRUE(core);
    EXPECT_EQ(core->size(), 10u + 6u) << digit; // up to there
  }
}

TEST(CrashReport, WithoutCore) {
  const auto problem = [](const std::string& text) {
    const auto core = CoreFile::view(bytes_of(text), Limits::standard);
    return core ? std::string() : core.error().what;
  };
  EXPECT_EQ(problem(report("")), "crash report without a core (field CoreDump)");
  EXPECT_EQ(problem(report("CoreDump: text\n")), "the field CoreDump of the crash report is not base64");
  EXPECT_EQ(problem(report("CoreDump: base64\n")), "unknown compression format");
  EXPECT_EQ(problem(report("CoreDump: base64\n QUJD\n")), "unknown compression format");
}

} // namespace core_crash_report_test
} // namespace sframe::core
