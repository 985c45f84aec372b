// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files written by editing others: bytes, holes, owners, attributes, links; failures leave nothing behind.

#include "sframe/tool/output_file.h"

#include "sframe/tool/output_lock.h"

#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace sframe::tool {
namespace tool_output_file_test {

namespace fs = std::filesystem;

std::vector<std::byte> bytes(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct stat info(const fs::path& path) {
  struct stat result {};
  EXPECT_EQ(::stat(path.c_str(), &result), 0);
  return result;
}

/// A folder with a file "in" of "0123456789", and an edit that keeps four bytes, moves two, writes over one
/// of each, and adds.
class ToolEdited : public ::testing::Test {
protected:
  ToolEdited() {
    fs::create_directories(folder);
    std::ofstream(in) << "0123456789";
    edit.keep({0, 0, 4});
    edit.keep({10, 7, 2}); // moved
    edit.add(1, bytes("x"));
    edit.add(6, bytes("new"));
    edit.add(11, bytes("y"));
  }
  ~ToolEdited() override { fs::remove_all(folder); }

  Result<void> write(const fs::path& path) const {
    const auto file = elf::File::open(in);
    return write_edited(path, *file, edit);
  }
  /// A failure has left nothing next to what was there.
  void expect_files(std::size_t count) const {
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), static_cast<std::ptrdiff_t>(count));
  }

  const std::string expected = std::string("0x23\0\0new\0"
                                           "7y",
                                           12);
  // Not in TMPDIR: a test needs a folder that another user can enter.
  fs::path folder = fs::path(P_tmpdir) / ("sframe-edited-test-" + std::to_string(::getpid()));
  fs::path in = folder / "in", out = folder / "out";
  edit::Edit edit;
};

TEST_F(ToolEdited, EachMethodWritesSameBytes) {
  ASSERT_TRUE(write(out));
  EXPECT_EQ(read(out), expected);
  EXPECT_EQ(read(in), "0123456789");
  const auto made = edit.apply(bytes("0123456789"));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(made.data()), made.size()), expected);
  const auto memory = elf::File::from_bytes("-", bytes("0123456789")); // no descriptor to copy from
  ASSERT_TRUE(write_edited(out, memory, edit));
  EXPECT_EQ(read(out), expected);
  ASSERT_TRUE(write(in)); // in place
  EXPECT_EQ(read(in), expected);
  expect_files(2);
}

TEST_F(ToolEdited, ReplacesAll) {
  edit = edit::Edit::replace_all(bytes("other"));
  ASSERT_TRUE(write(out));
  EXPECT_EQ(read(out), "other");
}

TEST_F(ToolEdited, KeepsModeOwnerAndAttributes) {
  const bool root = ::geteuid() == 0;
  if (root) {
    ASSERT_EQ(::chown(in.c_str(), 12, 34), 0);
  }
  ASSERT_EQ(::chmod(in.c_str(), 06751), 0);
  const bool attributes = ::setxattr(in.c_str(), "user.note", "kept", 4, 0) == 0;
  ASSERT_TRUE(write(out));
  EXPECT_EQ(info(out).st_mode & 07777, 06751u);
  EXPECT_EQ(info(out).st_uid, info(in).st_uid);
  EXPECT_EQ(info(out).st_gid, info(in).st_gid);
  if (!attributes) GTEST_SKIP() << "no extended attributes here";
  char value[8];
  ASSERT_EQ(::getxattr(out.c_str(), "user.note", value, sizeof(value)), 4);
  EXPECT_EQ(std::string_view(value, 4), "kept");
}

// A copy of another user's setuid program is not a setuid program of ours.
TEST_F(ToolEdited, DropsSetuidOfOtherOwner) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to have another user's file";
  ASSERT_EQ(::chmod(in.c_str(), 06755), 0);
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  for (fs::path above = folder.parent_path(); above != above.root_path(); above = above.parent_path())
    if (!(info(above).st_mode & S_IXOTH))
      GTEST_SKIP() << above << " is private: another user cannot reach the file";
  EXPECT_EXIT(
      {
        if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
        ::_exit(write(out) ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(info(out).st_uid, 65534u);
  EXPECT_EQ(info(out).st_mode & 07777, 0755u);
}

// The kernel takes setuid bits (from others than root) and capabilities off a file that is written to.
TEST_F(ToolEdited, InPlaceWriteKeepsCapabilities) {
  fs::create_hard_link(in, folder / "other name");
  ASSERT_EQ(::chmod(in.c_str(), 04711), 0);
  const std::uint32_t capability[] = {0x02000001, 1 << 10, 0, 0,
                                      0}; // version 2, effective: CAP_NET_BIND_SERVICE
  const bool capable = ::setxattr(in.c_str(), "security.capability", capability, sizeof capability, 0) == 0;
  ASSERT_TRUE(write(in));
  EXPECT_EQ(read(folder / "other name"), expected);
  EXPECT_EQ(info(in).st_mode & 07777, 04711u);
  if (!capable) return; // only root can give it
  std::uint32_t kept[5] = {};
  EXPECT_EQ(::getxattr(in.c_str(), "security.capability", kept, sizeof kept), ssize_t{sizeof kept});
  EXPECT_EQ(kept[1], capability[1]);
}

TEST_F(ToolEdited, KeepsHoles) {
  constexpr std::uint64_t size = std::uint64_t(5) << 30;
  ASSERT_EQ(::truncate(in.c_str(), static_cast<off_t>(size)), 0);
  if (info(in).st_blocks > 1000) GTEST_SKIP() << "no holes on this file system";
  edit = edit::Edit::keep_start(size);
  edit.add(size, bytes("end"));
  ASSERT_TRUE(write(out));
  EXPECT_EQ(info(out).st_size, static_cast<off_t>(size + 3));
  EXPECT_LT(info(out).st_blocks, 1000);
}

TEST_F(ToolEdited, LinksAsInCp) {
  std::ofstream(out) << "old";
  fs::create_symlink("out", folder / "symbolic");
  fs::create_hard_link(out, folder / "hard");
  ASSERT_TRUE(write(folder / "symbolic"));
  EXPECT_TRUE(fs::is_symlink(folder / "symbolic"));
  EXPECT_EQ(read(out), expected);
  EXPECT_EQ(read(folder / "hard"), expected);
  EXPECT_EQ(fs::hard_link_count(out), 2u);
  ASSERT_EQ(::truncate(out.c_str(), 100), 0); // a longer file is cut
  ASSERT_TRUE(write(folder / "hard"));
  EXPECT_EQ(read(out), expected);
  fs::create_hard_link(in, folder / "input");
  ASSERT_TRUE(write(folder / "input")); // in place, by another name
  EXPECT_EQ(read(in), expected);
  expect_files(5);
}

TEST_F(ToolEdited, FailureKeepsOldFile) {
  std::ofstream(out) << "old";
  EXPECT_FALSE(write(folder));
  EXPECT_FALSE(write(folder / "none" / "out"));
  EXPECT_FALSE(write("/dev/full"));

  rlimit unlimited{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  rlimit small = unlimited;
  small.rlim_cur = 5;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto too_large = write(out);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &unlimited), 0);
  ASSERT_FALSE(too_large);
  EXPECT_NE(too_large.error().what.find("File too large"), std::string::npos) << too_large.error().what;
  EXPECT_EQ(read(out), "old");
  EXPECT_EQ(read(in), "0123456789");
  expect_files(2);
}

TEST_F(ToolEdited, RefusesReadOnlyTargets) {
  std::ofstream(out) << "old";
  ASSERT_EQ(::chmod(out.c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
  EXPECT_EXIT(
      {
        if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2); // root may write everything
        ::_exit(write(out) ? 0 : 1);
      },
      ::testing::ExitedWithCode(1), "");
  EXPECT_EQ(read(out), "old");
  expect_files(2);
}

TEST_F(ToolEdited, HardLinksReplaceFiles) {
  std::ofstream(out) << "old";
  ASSERT_TRUE(write_hard_link(in, out));
  EXPECT_TRUE(is_same_file(in, out));
  ASSERT_TRUE(write_hard_link(in, out)) << "again";
  EXPECT_EQ(fs::hard_link_count(in), 2u);
  EXPECT_FALSE(write_hard_link(folder / "none", folder / "new"));
  expect_files(2);
}

TEST_F(ToolEdited, SymbolicLinksAreCopied) {
  const fs::path link = folder / "link", copy = folder / "copy";
  fs::create_symlink("nowhere", link);
  std::ofstream(copy) << "old";
  const auto copied = [&] {
    const auto done = copy_symbolic_link(link, copy);
    return done ? std::optional(*done) : std::nullopt;
  };
  EXPECT_EQ(copied(), true);
  EXPECT_EQ(fs::read_symlink(copy), "nowhere");
  EXPECT_EQ(copied(), false) << "it is there already";
  fs::remove(link);
  fs::create_symlink("elsewhere", link);
  EXPECT_EQ(copied(), true);
  EXPECT_EQ(fs::read_symlink(copy), "elsewhere");
  EXPECT_FALSE(copy_symbolic_link(in, copy)) << "no link";
  EXPECT_FALSE(copy_symbolic_link(link, folder / "none" / "copy"));
  EXPECT_EQ(fs::read_symlink(copy), "elsewhere");
  expect_files(3);
}

TEST_F(ToolEdited, SameFilesByAnyName) {
  fs::create_symlink("in", folder / "link");
  EXPECT_TRUE(is_same_file(in, folder / "." / "link"));
  EXPECT_FALSE(is_same_file(in, out)) << "missing";
  EXPECT_FALSE(is_same_file(out, out)) << "missing";
  EXPECT_FALSE(is_same_file("-", "-"));
  std::ofstream(out) << "0123456789";
  EXPECT_FALSE(is_same_file(in, out));
}

// Locks belong to open files, so that another open file stands for another process.
TEST_F(ToolEdited, WaitsForNoOtherWriter) {
  const int other = ::open(in.c_str(), O_RDONLY);
  ASSERT_GE(other, 0);
  if (::flock(other, LOCK_EX | LOCK_NB) != 0) GTEST_SKIP() << "no locks on this file system";
  const auto refused = OutputLock::take(in);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(), "another process is writing this file; retry when it has finished");
  EXPECT_FALSE(write(in));
  EXPECT_EQ(read(in), "0123456789");
  EXPECT_TRUE(OutputLock::take(out)) << "no file";
  EXPECT_TRUE(OutputLock::take("-"));
  ASSERT_EQ(::flock(other, LOCK_UN), 0);
  {
    const auto taken = OutputLock::take(in);
    ASSERT_TRUE(taken);
    EXPECT_NE(::flock(other, LOCK_EX | LOCK_NB), 0);
    EXPECT_TRUE(OutputLock::take(in)) << "this process has it";
    EXPECT_NE(::flock(other, LOCK_EX | LOCK_NB), 0) << "the first one still has it";
    EXPECT_TRUE(write(in));
  }
  EXPECT_EQ(::flock(other, LOCK_EX | LOCK_NB), 0) << "given back";
  ::close(other);
}

} // namespace tool_output_file_test
} // namespace sframe::tool
