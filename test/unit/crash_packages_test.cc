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

TEST(CrashPackages, AskedOnce) {
  InstalledPackages installed;
  const std::vector<std::string> paths = {"/usr/bin/no such file", "/usr/bin/no such file", ""};
  for (int i = 0; i < 2; ++i) {
    const auto found = installed.find(paths);
    ASSERT_EQ(found.size(), paths.size());
    for (const Package& package : found) EXPECT_EQ(package.text(), "");
  }
}

// Debian Policy, and the manual pages of dnf-plugins-core and zypper.
TEST(CrashPackages, CommandsForSymbols) {
  using Manager = Package::Manager;
  const std::vector<Package> packages = {
      {"libc6", "2.36-9", Manager::apt}, {"bash", "5.2.15-2", Manager::apt},
      {"libc6", "2.36-9", Manager::apt}, {"zlib", "1.3-1.fc39", Manager::dnf},
      {"xz", "5.4", Manager::zypper},    {"own", "1", Manager::unknown},
      {"--force; rm", "1", Manager::apt}};
  EXPECT_EQ(commands_for_symbols(packages), (std::vector<std::string>{"apt install bash-dbgsym libc6-dbg",
                                                                      "dnf debuginfo-install zlib-1.3-1.fc39",
                                                                      "zypper install xz-debuginfo"}));
  EXPECT_TRUE(commands_for_symbols({}).empty());
}

TEST(CrashPackages, Text) {
  EXPECT_EQ((Package{"server", "1.2-3"}.text()), "server 1.2-3");
  EXPECT_EQ((Package{"server", ""}.text()), "server");
}

} // namespace crash_packages_test
