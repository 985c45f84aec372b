// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which files may be opened, by whom they are named and what the user permits (docs/limits.md), and what is
// read of them.

#include "elf_builder.h"

#include <sframe/files/access.h>
#include <sframe/files/source_file.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace files_access_test {

using namespace sframe;
using namespace sframe::files;
using sframe::test::TestElf;
using Strings = std::vector<std::string>;

std::string text_of(const elf::File& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

/// Has one file for every question.
struct OneFile final : FileServer {
  Result<std::string> fetch(ServedFile, std::span<const std::byte>, std::string_view) override {
    ++asked;
    return path;
  }
  std::string path;
  int asked = 0;
};

/// A folder with files whose contents are their paths in it.
class FilesAccess : public ::testing::Test {
protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "sframe files XXXXXX";
    ASSERT_TRUE(::mkdtemp(name.data()));
    folder_ = std::filesystem::canonical(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& path) const {
    std::filesystem::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << path;
    return (folder_ / path).string();
  }

  std::string at(const std::string& path) const { return (folder_ / path).string(); }

  static std::string open(const FileOptions& options, const std::string& path, NamedBy by) {
    const auto file = FileAccess(options).open(path, by);
    return file ? text_of(*file) : "no: " + file.error().what;
  }

  static std::string companion(const FileOptions& options, const std::string& path, const Origin& origin) {
    const auto file = FileAccess(options).open_companion(path, origin);
    return file ? text_of(*file) : "no";
  }

  std::filesystem::path folder_;
};

// What a core names is below the sysroot; what the user or the kernel names is not.
TEST_F(FilesAccess, NamesOfCoresAreBelowTheSysroot) {
  write("root/lib/a.so");
  const std::string outside = write("lib/a.so");
  std::filesystem::create_symlink(outside, at("root/lib/link.so"));
  FileOptions options;
  options.sysroot = at("root");
  EXPECT_EQ(open(options, "/lib/a.so", NamedBy::core), "root/lib/a.so");
  EXPECT_EQ(open(options, "/../lib/a.so", NamedBy::core), "root/lib/a.so");
  EXPECT_EQ(open(options, "/lib/link.so", NamedBy::core).substr(0, 4), "no: ");
  EXPECT_EQ(open(options, outside, NamedBy::core).substr(0, 4), "no: ");
  EXPECT_EQ(open(options, "lib/a.so", NamedBy::core).substr(0, 4), "no: ");
  for (const NamedBy by : {NamedBy::user, NamedBy::kernel}) EXPECT_EQ(open(options, outside, by), "lib/a.so");
}

TEST_F(FilesAccess, EveryAttemptCosts) {
  const std::string path = write("file");
  FileOptions options;
  options.add_budget(0);
  const std::uint64_t before = options.budget->left(Resource::files);
  EXPECT_EQ(open(options, path, NamedBy::user), "file");
  EXPECT_EQ(companion(options, at("missing"), {}), "no");
  EXPECT_EQ(options.budget->left(Resource::files), before - 2);
  options.budget->take(Resource::files, before - 2);
  EXPECT_EQ(open(options, path, NamedBy::user), "no: not opened: too many files");
  EXPECT_EQ(companion(options, path, {}), "no");
}

// In the order in which they are searched.
TEST_F(FilesAccess, FoldersOfDebugFiles) {
  FileOptions options;
  options.more_debug_dirs = {"/first", "/second"};
  const Origin here, container{.path = "/proc/1/root/bin/x", .root = "/proc/1/root"};
  const auto folders = [&](const Origin& origin) { return FileAccess(options).debug_folders(origin); };
  EXPECT_EQ(folders(here), (Strings{"/first", "/second", "/usr/lib/debug"}));
  EXPECT_EQ(folders(container),
            (Strings{"/first", "/second", "/proc/1/root/usr/lib/debug", "/usr/lib/debug"}));
  options.trust = FileTrust::none;
  EXPECT_EQ(folders(container), (Strings{"/first", "/second"}));
  options.sysroot = at("root"); // that is the user's choice, too
  EXPECT_EQ(folders(container), (Strings{"/first", "/second", at("root/usr/lib/debug")}));
  options.debug_dir.clear();
  EXPECT_EQ(folders(here), (Strings{"/first", "/second"}));
}

TEST_F(FilesAccess, CompanionsOutsideTheSysroot) {
  write("root/usr/lib/debug/a");
  const std::string outside = write("elsewhere/a");
  FileOptions options;
  options.sysroot = at("root");
  const Origin by_core{.path = "/bin/x", .named_by = NamedBy::core};
  const Origin by_user{.path = "/bin/x", .named_by = NamedBy::user};
  EXPECT_EQ(companion(options, at("root/usr/lib/debug/a"), by_core), "root/usr/lib/debug/a");
  EXPECT_EQ(companion(options, outside, by_core), "no");
  EXPECT_EQ(companion(options, outside, {}), "no"); // an image without a file
  EXPECT_EQ(companion(options, outside, by_user), "elsewhere/a");
  options.more_debug_dirs = {at("elsewhere")};
  EXPECT_EQ(companion(options, outside, by_core), "elsewhere/a");
  options.more_debug_dirs = {at("else")}; // a part of its name is no folder
  EXPECT_EQ(companion(options, outside, by_core), "no");
}

// Below the root of a process in a container, links lead to files of the container.
TEST_F(FilesAccess, CompanionsOfContainers) {
  write("container/debug/a");
  write("debug/b");
  std::filesystem::create_symlink("/debug/a", at("container/debug/link"));
  std::filesystem::create_symlink("../../debug/b", at("container/debug/out"));
  const FileOptions options;
  const Origin origin{
      .path = at("container/bin/x"), .named_by = NamedBy::kernel, .name = "/bin/x", .root = at("container")};
  EXPECT_EQ(companion(options, at("container/debug/a"), origin), "container/debug/a");
  EXPECT_EQ(companion(options, at("container/debug/link"), origin), "container/debug/a");
  EXPECT_EQ(companion(options, at("container/debug/out"), origin), "no");
}

// Only the build ID ties a served file to the image.
TEST_F(FilesAccess, FilesFromAServer) {
  const auto server = std::make_shared<OneFile>();
  server->path = write("served");
  FileOptions options;
  const std::vector<std::byte> id(8), none;
  const auto fetch = [&](const std::vector<std::byte>& build_id) {
    return FileAccess(options).fetch(ServedFile::executable, build_id).has_value();
  };
  EXPECT_FALSE(fetch(id));
  options.server = server;
  EXPECT_TRUE(fetch(id));
  EXPECT_EQ(server->asked, 1);
  EXPECT_FALSE(fetch(none));
  options.open_files = false;
  EXPECT_FALSE(fetch(id));
  EXPECT_EQ(server->asked, 1);
}

TEST_F(FilesAccess, SourceFiles) {
  write("tree/src/a.c");
  write("tree/a.c");
  write("other/b.c");
  FileOptions options;
  const Strings folders = {at("tree"), at("other")};
  const auto find = [&](const std::string& path, std::vector<std::byte> id = {}) {
    const auto file = find_source(FileAccess(options), folders, id, path);
    return file ? text_of(*file) : "no";
  };
  EXPECT_EQ(find("/build/src/a.c"), "tree/src/a.c"); // most of the last components
  EXPECT_EQ(find("/build/a.c"), "tree/a.c");
  EXPECT_EQ(find("/build/x/../src/./a.c"), "tree/src/a.c");
  EXPECT_EQ(find("b.c"), "other/b.c");
  EXPECT_EQ(find("../../other/b.c"), "other/b.c"); // ".." has no meaning elsewhere
  const std::string elsewhere = write("c.c");
  EXPECT_EQ(find(elsewhere), "no");
  options.trust = FileTrust::all;
  EXPECT_EQ(find(elsewhere), "c.c");
  const auto server = std::make_shared<OneFile>();
  server->path = write("served");
  options.server = server;
  EXPECT_EQ(find("/build/d.c"), "no"); // without a build ID
  EXPECT_EQ(find("/build/d.c", std::vector<std::byte>(8)), "served");
  EXPECT_EQ(find("d.c", std::vector<std::byte>(8)), "no");
  std::filesystem::resize_file(at("tree/a.c"), largest_source + 1);
  EXPECT_EQ(find("a.c"), "no");
}

// The headers are read at the first question, and at the file's expense.
TEST(OpenedFile, ImageAndBudget) {
  TestElf elf;
  elf.type = elf::et_dyn;
  elf.sections.push_back(
      {".text", elf::sht_progbits, elf::shf_alloc | elf::shf_execinstr, 0x1000, std::vector<std::byte>(16)});
  OpenedFile file(elf::File::from_bytes("a", elf.build()), Limits::strict);
  EXPECT_EQ(file.path(), "a");
  EXPECT_EQ(file.budget().limits(), Limits::strict);
  EXPECT_EQ(file.known_image(), nullptr);
  ASSERT_TRUE(file.image());
  EXPECT_EQ(file.known_image(), &*file.image());
  const auto* const bytes = file.bytes().data();
  OpenedFile moved = std::move(file);
  EXPECT_EQ(moved.bytes().data(), bytes);
  EXPECT_TRUE(moved.known_image()->find_section(".text"));

  OpenedFile text(elf::File::from_bytes("b", std::vector<std::byte>(100)), Limits::standard);
  EXPECT_FALSE(text.image());
  EXPECT_EQ(text.known_image(), nullptr);
}

// A user of the same file gets the same image; a debug file is not one with debug files.
TEST(OpenFiles, OneImageForEachFileAndRole) {
  const std::string path = ::testing::TempDir() + "sframe-open-" + std::to_string(::getpid());
  std::ofstream(path) << "a";
  OpenFiles files;
  const auto add = [&](OpenFiles::Role role) {
    return files.add(std::move(*elf::File::open(path)), role, Limits::standard);
  };
  const auto first = add(OpenFiles::Role::module);
  EXPECT_EQ(add(OpenFiles::Role::module), first);
  EXPECT_NE(add(OpenFiles::Role::debug_file), first);
  EXPECT_EQ(files.size(), 2u);
  EXPECT_EQ(first->image(), nullptr);
  EXPECT_NE(first->problem(), "");
  EXPECT_EQ(first->derived<std::vector<int>>().size(), 0u);
  first->derived<std::vector<int>>().push_back(1);
  EXPECT_EQ(add(OpenFiles::Role::module)->derived<std::vector<int>>().size(), 1u);
  std::filesystem::remove(path);
}

// A limit that was reached stays reported after the limits apply again.
TEST(SharedImage, LimitsAreReportedAfterRefill) {
  SharedImage image(elf::File::from_bytes("a", std::vector<std::byte>(100)), Limits::standard);
  EXPECT_EQ(image.reached_limit(), std::nullopt);
  Budget& budget = *image.budget();
  EXPECT_FALSE(budget.take(Resource::rows, budget.left(Resource::rows) + 1));
  const auto reached = image.reached_limit();
  ASSERT_TRUE(reached);
  EXPECT_TRUE(reached->starts_with("a: "));
  image.refill();
  EXPECT_FALSE(budget.is_used_up());
  EXPECT_EQ(image.reached_limit(), reached);
  EXPECT_EQ(image.any_reached_limit(), reached);
}

} // namespace files_access_test
