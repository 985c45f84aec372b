// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packages of installed files, as dpkg-query reports them.

#include "sframe/crash/packages.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace crash_packages_test {

using namespace sframe::crash;

std::string output_of(const char* command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command, "r"), ::pclose);
  std::array<char, 256> text{};
  return pipe && std::fgets(text.data(), text.size(), pipe.get()) ? text.data() : std::string();
}

TEST(CrashPackages, OfInstalledFiles) {
  const std::string version = output_of("dpkg-query -W -f='${Version}' dpkg 2>/dev/null");
  if (version.empty()) GTEST_SKIP() << "dpkg has no package here";
  const std::vector<std::string> paths = {"/usr/bin/dpkg", "/usr/bin/no such file", "relative", ""};
  const auto found = installed_packages(paths);
  ASSERT_EQ(found.size(), paths.size());
  EXPECT_EQ(found[0].name, "dpkg");
  EXPECT_EQ(found[0].version, version);
  for (std::size_t i = 1; i < found.size(); ++i) EXPECT_EQ(found[i].text(), "") << paths[i];
}

TEST(CrashPackages, Text) {
  EXPECT_EQ((Package{"server", "1.2-3"}.text()), "server 1.2-3");
  EXPECT_EQ((Package{"server", ""}.text()), "server");
}

} // namespace crash_packages_test
