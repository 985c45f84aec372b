// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which files of the command line, of lists and of folders are worked on, and in which order.

#include "sframe/tool/input_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace sframe::tool {
namespace tool_input_files_test {

namespace fs = std::filesystem;
using Kind = FoundFile::Kind;

/// A folder "root" with files, a FIFO and symbolic links: to a file, to the folder itself, to nothing.
class ToolInputFiles : public ::testing::Test {
protected:
  ToolInputFiles() {
    fs::create_directories(root / "b" / "deep");
    for (const char* name : {"a", "b/deep/x.so", "b/y", "c", "two\nlines"})
      std::ofstream(root / name) << name;
    fs::create_hard_link(root / "a", root / "z");
    fs::create_symlink("a", root / "link");
    fs::create_symlink(".", root / "b" / "loop");
    fs::create_symlink("nowhere", root / "broken");
    EXPECT_EQ(::mkfifo((root / "fifo").c_str(), 0600), 0);
  }
  ~ToolInputFiles() override { fs::remove_all(root); }

  std::vector<FoundFile> find(const InputOptions& options, elf::File::Id output = {}) {
    const auto named = name_inputs(options);
    EXPECT_TRUE(named);
    return find_files(*named, output);
  }
  static std::vector<std::string> places(const std::vector<FoundFile>& files) {
    std::vector<std::string> all;
    for (const FoundFile& file : files) all.push_back(file.place);
    return all;
  }
  static elf::File::Id id(const fs::path& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return {info.st_dev, info.st_ino};
  }

  const fs::path root = fs::temp_directory_path() / ("sframe-inputs-" + std::to_string(::getpid()));
  using Names = std::vector<std::string>;
};

TEST_F(ToolInputFiles, WalksFolders) {
  const auto files = find({.inputs = {root}, .recursive = true});
  EXPECT_EQ(places(files), (Names{"", "a", "b", "b/deep", "b/deep/x.so", "b/loop", "b/y", "broken", "c",
                                  "fifo", "link", "two\nlines", "z"}));
  const auto kind = [&](const char* place) {
    return std::ranges::find(files, place, &FoundFile::place)->kind;
  };
  EXPECT_EQ(kind("b"), Kind::folder);
  EXPECT_EQ(kind("a"), Kind::regular);
  for (const char* link : {"b/loop", "broken", "link"}) EXPECT_EQ(kind(link), Kind::symbolic_link) << link;
  EXPECT_EQ(kind("fifo"), Kind::special);
  EXPECT_EQ(files[1].path, root / "a");
  EXPECT_EQ(files[1].size, 1u);
  EXPECT_EQ(files[1].id, files.back().id) << "one file, two names";
  EXPECT_NE(files[1].id, files[4].id);
}

TEST_F(ToolInputFiles, ExcludesNamesAndPaths) {
  const auto left = [&](std::vector<std::string> patterns) {
    return places(find({.inputs = {root / "b"}, .recursive = true, .excluded = std::move(patterns)}));
  };
  EXPECT_EQ(left({"*.so"}), (Names{"", "deep", "loop", "y"}));
  EXPECT_EQ(left({"deep"}), (Names{"", "loop", "y"}));
  EXPECT_EQ(left({"deep/x*", "[l-y]*"}), (Names{"", "deep"}));
  EXPECT_EQ(left({"x.s"}), (Names{"", "deep", "deep/x.so", "loop", "y"})) << "whole names";
  EXPECT_EQ(left({"b"}), Names{}) << "the input itself";
  EXPECT_FALSE(name_inputs({.excluded = {"[a"}}));
}

TEST_F(ToolInputFiles, NamesThatAreGiven) {
  EXPECT_EQ(places(find({.inputs = {root / "b/y", root / "a", root / "link"}})), (Names{"y", "a", "link"}));
  EXPECT_EQ(find({.inputs = {root / "link"}})[0].kind, Kind::regular) << "an input is followed";
  const auto folder = find({.inputs = {root / "b", root / "missing"}});
  ASSERT_EQ(folder.size(), 2u);
  EXPECT_EQ(folder[0].kind, Kind::failure);
  EXPECT_EQ(folder[0].what, "is a directory (-r includes the files in it)");
  EXPECT_EQ(folder[1].what, "cannot open: No such file or directory");
}

TEST_F(ToolInputFiles, Lists) {
  const fs::path list = root / "list";
  std::ofstream(list) << root.string() << "/b/../a\n\n" << root.string() << "/b/";
  const std::string below = root.relative_path();
  EXPECT_EQ(places(find({.recursive = true, .files_from = list, .excluded = {"deep"}})),
            (Names{below + "/a", below + "/b", below + "/b/loop", below + "/b/y"}));
  std::ofstream(list) << root.string() << "/two\nlines" << '\0' << root.string() << "/c" << '\0';
  EXPECT_EQ(places(find({.files_from = list, .null_separated = true})),
            (Names{below + "/two\nlines", below + "/c"}));
  EXPECT_FALSE(name_inputs({.files_from = root / "missing"}));
}

TEST_F(ToolInputFiles, LeavesOutTheOutput) {
  EXPECT_EQ(places(find({.inputs = {root / "b"}, .recursive = true}, id(root / "b/deep"))),
            (Names{"", "loop", "y"}));
}

} // namespace tool_input_files_test
} // namespace sframe::tool
