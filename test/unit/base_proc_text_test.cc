// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts of /proc (proc(5)), of this process and damaged ones.

#include "sframe/base/proc_text.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace sframe {
namespace base_proc_text_test {

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(BaseProcText, Mounts) {
  const auto mounts =
      parse_mounts("27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
                   "36 27 0:39 /root /mnt/a\\040b\\134 rw shared:1 master:7 - fuse.sshfs x:/ rw\n"
                   "37 27 0:40 / /cut rw\n"
                   "38 27 / /no-device rw - nfs x rw\n"
                   "39 36 0:41 / /mnt\\04 rw - nfs4 - x rw");
  ASSERT_EQ(mounts.size(), 3u);
  EXPECT_EQ(mounts[0].id, 27u);
  EXPECT_EQ(mounts[0].device, makedev(254, 0));
  EXPECT_EQ(mounts[0].point, "/");
  EXPECT_EQ(mounts[1].parent, 27u);
  EXPECT_EQ(mounts[1].device, makedev(0, 39));
  EXPECT_EQ(mounts[1].point, "/mnt/a b\\");
  EXPECT_EQ(mounts[1].type, "fuse.sshfs");
  EXPECT_EQ(mounts[2].point, "/mnt\\04");
  EXPECT_EQ(mounts[2].type, "nfs4");
  EXPECT_FALSE(parse_mounts(text_of("/proc/self/mountinfo")).empty());
}

TEST(BaseProcText, LinesOfMaps) {
  const auto lines = parse_maps("00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/a b (deleted)\n"
                                "7ffd0000-7ffd2000 r-xp 00000000 00:00 0                [vdso]\n"
                                "e000-f000 ---p 00000000 00:00 0 \n");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].start, 0x400000u);
  EXPECT_EQ(lines[0].end, 0x452000u);
  EXPECT_EQ(lines[0].offset, 0x1000u);
  EXPECT_EQ(lines[0].inode, 173521u);
  EXPECT_TRUE(lines[0].readable && lines[0].executable && !lines[0].writable);
  EXPECT_EQ(lines[0].path, "/usr/bin/a b (deleted)");
  EXPECT_TRUE(lines[1].is_vdso());
  EXPECT_TRUE(lines[2].path.empty() && !lines[2].readable && !lines[2].executable);
}

TEST(BaseProcText, InvalidLinesAreSkipped) {
  EXPECT_TRUE(parse_maps("").empty());
  EXPECT_TRUE(parse_maps("\n\n-\n1-2\n1-2 r\n2-1 r-xp 0 0:0 0 \n1-1 r-xp 0 0:0 0 \n").empty());
  EXPECT_TRUE(parse_maps("10000000000000000-20000000000000000 r-xp 0 0:0 0 \n").empty());
  EXPECT_EQ(parse_maps("x\n1-2 r-xp 0 0:0 0 \n").size(), 1u);
}

TEST(BaseProcText, OwnMaps) {
  const std::string text = text_of("/proc/self/maps");
  const auto lines = parse_maps(text);
  bool found = false;
  for (const MapsLine& line : lines) {
    const auto here = reinterpret_cast<std::uint64_t>(&parse_maps);
    if (here >= line.start && here < line.end) found = line.executable && line.path.starts_with('/');
  }
  EXPECT_TRUE(found);
}

TEST(BaseProcText, ValuesOfStatus) {
  const std::string status = text_of("/proc/self/status");
  EXPECT_EQ(status_value(status, "Pid"), std::to_string(::getpid()));
  EXPECT_FALSE(status_value(status, "Name").empty()) << "the first line";
  EXPECT_EQ(status_value("Name:\ta\nPid:\t7", "Pid"), "7");
  EXPECT_EQ(status_value("Name:\tPid:\t8\n", "Pid"), "");
}

} // namespace base_proc_text_test
} // namespace sframe
