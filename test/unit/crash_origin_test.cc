// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a core was made, by the name and the attributes that systemd-coredump(8) gives it.

#include "sframe/crash/origin.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <sys/xattr.h>
#include <unistd.h>

namespace crash_origin_test {

using namespace sframe::crash;
using Time = std::optional<std::uint64_t>;

const std::string boot = "0123456789abcdef0123456789abcdef";

TEST(CoreOrigin, TimeInName) {
  const std::string name = "core.bash.1000." + boot + ".4321.1700000000123456";
  for (const char* extension : {"", ".zst", ".xz", ".lz4", ".gz"})
    EXPECT_EQ(time_in_name(name + extension), Time(1700000000123456)) << extension;
  EXPECT_EQ(time_in_name("/var/lib/systemd/coredump/" + name), Time(1700000000123456));
  EXPECT_EQ(time_in_name("core.my.pro.gram.0." + boot + ".1.1700000000123456"), Time(1700000000123456));
  EXPECT_EQ(time_in_name("core.bash.1000." + boot + ".4321.1700000000"), Time(1700000000000000))
      << "seconds, of old versions";
  EXPECT_EQ(time_in_name("core.bash.1000." + boot + ".4321.99999999999"), Time(99999999999000000));
  EXPECT_EQ(time_in_name("core.bash.1000." + boot + ".4321.100000000000"), Time(100000000000));
  EXPECT_EQ(time_in_name("core.bash.1000." + boot + ".4321.253402300799999999"), Time(253402300799999999))
      << "the last second of the year 9999";
}

TEST(CoreOrigin, OtherNamesHaveNoTime) {
  for (const std::string& name :
       {std::string("core"), std::string("core.4321"), std::string("core.1.2.3"),
        "bash.1000." + boot + ".4321.1700000000123456", "core.bash.root." + boot + ".4321.1700000000123456",
        "core.bash.1000." + boot.substr(1) + ".4321.1700000000123456",
        "core.bash.1000." + boot + "0.4321.1700000000123456",
        "core.bash.1000.X" + boot.substr(1) + ".4321.1700000000123456",
        "core.bash.1000." + boot + ".thread.1700000000123456",
        "core.bash.1000." + boot + "..1700000000123456", "core.bash.1000." + boot + ".4321.0",
        "core.bash.1000." + boot + ".4321.soon", "core.bash.1000." + boot + ".4321.253402300800000000",
        "core.bash.1000." + boot + ".4321.1.zst.xz",
        "core.bash.1000." + boot + ".4321.999999999999999999999"})
    EXPECT_EQ(time_in_name(name), std::nullopt) << name;
}

/// False if the file system has no extended attributes.
bool set_attributes(const std::string& path) {
  return ::setxattr(path.c_str(), "user.coredump.timestamp", "1700000000000000", 16, 0) == 0 &&
         ::setxattr(path.c_str(), "user.coredump.hostname", "host", 4, 0) == 0;
}

TEST(CoreOrigin, AttributesComeFirst) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(P_tmpdir) / ("sframe-origin-test." + std::to_string(::getpid()));
  fs::create_directory(folder);
  const std::string path = folder / ("core.test.0." + boot + ".1.1600000000000000");
  std::ofstream(path) << "core";
  EXPECT_EQ(origin_of(path).time, Time(1600000000000000));
  EXPECT_EQ(origin_of(path).host, "");
  const bool has_attributes = set_attributes(path);
  const CoreOrigin origin = origin_of(path);
  // "-" is standard input, also where a file has that name.
  const fs::path here = fs::current_path();
  fs::current_path(folder);
  std::ofstream("-") << "core";
  set_attributes("-");
  EXPECT_EQ(origin_of("-").time, std::nullopt);
  fs::current_path(here);
  fs::remove_all(folder);
  if (!has_attributes) GTEST_SKIP() << "no extended attributes here";
  EXPECT_EQ(origin.time, Time(1700000000000000));
  EXPECT_EQ(origin.host, "host");
}

TEST(CoreOrigin, TimesAsText) {
  EXPECT_EQ(time_text(0), "1970-01-01 00:00:00 UTC");
  EXPECT_EQ(time_text(1'700'000'000'999'999), "2023-11-14 22:13:20 UTC");
  EXPECT_EQ(time_text(253'402'300'799'000'000), "9999-12-31 23:59:59 UTC");
}

} // namespace crash_origin_test
