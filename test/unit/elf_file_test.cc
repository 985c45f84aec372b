// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files, archives and sidecars.

#include "elf_builder.h"
#include "inputs.h"
#include "sframe/elf/archive.h"
#include "sframe/elf/file.h"
#include "sframe/elf/sidecar.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <unistd.h>

namespace sframe::elf {
namespace elf_file_test {

using test::Writer;

TEST(ElfFile, OpensFilesWithoutSize) {
  auto maps = File::open("/proc/self/maps"); // its size reads as 0
  ASSERT_TRUE(maps);
  EXPECT_GT(maps->bytes().size(), 100u);

  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  std::thread writer([&] {
    const std::string text(300000, 'x');
    EXPECT_EQ(::write(pipe[1], text.data(), text.size()), 300000);
    ::close(pipe[1]);
  });
  auto stream = File::open("/dev/fd/" + std::to_string(pipe[0]));
  writer.join();
  ::close(pipe[0]);
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->bytes().size(), 300000u);

  auto empty = File::open("/dev/null");
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->bytes().empty());
}

TEST(ElfFile, ErrorMessages) {
  EXPECT_EQ(File::open("/").error().what, "is a directory");
  EXPECT_EQ(File::open("/no/such/file").error().what, "cannot open: No such file or directory");
}

TEST(ElfFile, SeesChanges) {
  namespace fs = std::filesystem;
  const fs::path path = fs::temp_directory_path() / ("sframe-changes-" + std::to_string(::getpid()));
  const auto make = [&](const char* text) { std::ofstream(path) << text; };
  make("one");
  const auto file = File::open(path);
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->is_unchanged());
  const auto time = fs::last_write_time(path);
  fs::last_write_time(path, time + std::chrono::seconds(1));
  EXPECT_FALSE(file->is_unchanged());
  fs::last_write_time(path, time);
  EXPECT_TRUE(file->is_unchanged());
  std::ofstream(path, std::ios::app) << "more";
  fs::last_write_time(path, time);
  EXPECT_FALSE(file->is_unchanged()) << "its size";
  fs::rename(path, path.string() + ".old");
  EXPECT_FALSE(file->is_unchanged()) << "it is not there";
  make("one");
  fs::last_write_time(path, time);
  EXPECT_FALSE(file->is_unchanged()) << "another file";
  fs::remove(path);
  fs::remove(path.string() + ".old");
  EXPECT_TRUE(File::from_bytes("x", {}).is_unchanged());
}

TEST(ElfFile, MoveKeepsBytes) {
  auto file = File::open("/proc/self/exe");
  ASSERT_TRUE(file);
  const std::byte* at = file->bytes().data();
  EXPECT_TRUE(file->mode() & 0100);
  File moved = std::move(*file);
  EXPECT_EQ(moved.bytes().data(), at);
  File memory = File::from_bytes("x", Writer().text("abc").bytes);
  at = memory.bytes().data();
  moved = std::move(memory);
  EXPECT_EQ(moved.bytes().data(), at);
  EXPECT_EQ(moved.bytes().size(), 3u);
  EXPECT_EQ(moved.path(), "x");
}

/// A folder of its own, removed at the end.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name = ::testing::TempDir() + "sframe-files-XXXXXX";
    EXPECT_TRUE(::mkdtemp(name.data()));
    path_ = std::filesystem::canonical(name);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

// Neither ".." nor a link leaves the root: a link's target is a path in it.
TEST(ElfFile, NamedFilesAreInTheirRoot) {
  const TemporaryFolder folder;
  const auto root = folder.path() / "root", outside = folder.path() / "outside";
  std::filesystem::create_directories(root / "in");
  std::ofstream(outside) << "not for readers";
  std::ofstream(root / "in" / "file") << "inside";
  std::filesystem::create_symlink(outside, root / "away");
  std::filesystem::create_symlink("../../outside", root / "in" / "up");
  std::filesystem::create_symlink("/in/file", root / "link");
  const auto text = [&](const std::string& path) {
    const auto file = File::open_named(path, {.root = root, .network = true});
    if (!file) return "error: " + file.error().what;
    return std::string(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  };
  EXPECT_EQ(text("/in/file"), "inside");
  EXPECT_EQ(text("/in/../../../in/file"), "inside");
  EXPECT_EQ(text("/link"), "inside");
  for (const char* path : {"/away", "/in/up", "/../outside", "/in/../../outside"})
    EXPECT_TRUE(text(path).starts_with("error: ")) << path;
  // What the same path names in the root.
  std::ofstream(root / "outside") << "the root's";
  EXPECT_EQ(text("/in/up"), "the root's");
  EXPECT_EQ(text("/../outside"), "the root's");
  EXPECT_FALSE(File::open_named("in/file", {.root = root, .network = true}));
}

TEST(ElfFile, ReplacesMissingParts) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::string path = ::testing::TempDir() + "cut-while-mapped";
  std::ofstream(path) << std::string(3 * page, 'x');
  const std::byte* at = nullptr;
  {
    auto opened = File::open(path);
    ASSERT_TRUE(opened);
    at = opened->bytes().data();
    EXPECT_FALSE(File::replace_missing(at - 1));
    EXPECT_FALSE(File::replace_missing(at + 3 * page));
    const File file = std::move(*opened);
    EXPECT_TRUE(file.is_intact());
    ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(page)), 0);
    const auto missing = File::replace_missing(at + page + 7);
    ASSERT_TRUE(missing);
    EXPECT_STREQ(missing->path, path.c_str());
    EXPECT_TRUE(missing->is_first);
    EXPECT_FALSE(file.is_intact());
    EXPECT_EQ(file.bytes()[page - 1], std::byte('x'));
    EXPECT_EQ(file.bytes()[page], std::byte(0));
    EXPECT_EQ(file.bytes()[3 * page - 1], std::byte(0));
    const auto again = File::replace_missing(at + 2 * page);
    ASSERT_TRUE(again);
    EXPECT_FALSE(again->is_first);
    const auto other = File::open("/proc/self/exe");
    ASSERT_TRUE(other);
    EXPECT_TRUE(other->is_intact());
  }
  EXPECT_FALSE(File::replace_missing(at));
  const File memory = File::from_bytes("x", Writer().text("abc").bytes);
  EXPECT_FALSE(File::replace_missing(memory.bytes().data()));
  EXPECT_TRUE(memory.is_intact());
  ::unlink(path.c_str());
}

TEST(ElfArchive, ListsMembers) {
  for (const auto& path : test::inputs_ending("gas247.a")) {
    const auto bytes = test::read_file(path);
    ASSERT_TRUE(is_archive(bytes));
    auto members = archive_members(bytes);
    ASSERT_TRUE(members) << members.error().text();
    ASSERT_FALSE(members->empty());
    for (const Member& member : *members) {
      EXPECT_TRUE(member.name.ends_with(".o")) << member.name;
      auto image = Image::parse(member.bytes);
      ASSERT_TRUE(image) << member.name;
      EXPECT_EQ(image->sframe_tables().size(), 1u);
    }
  }
}

TEST(ElfArchive, RefusesThinAndDamaged) {
  const auto thin = Writer().text("!<thin>\n").bytes;
  EXPECT_TRUE(is_archive(thin));
  EXPECT_TRUE(archive_members(thin).error().what.starts_with("thin archive"));
  EXPECT_FALSE(archive_members(Writer().text("!<arch>\nabc").bytes));
  EXPECT_TRUE(archive_members(Writer().text("!<arch>\n").bytes)->empty());

  // A member whose name is in a table of long names that is not there: no archive without it.
  const auto header = [](std::string name) {
    name.resize(48, ' ');
    return name + "2         `\n";
  };
  EXPECT_EQ(archive_members(Writer().text("!<arch>\n" + header("a.o/") + "aa").bytes)->size(), 1u);
  EXPECT_FALSE(
      archive_members(Writer().text("!<arch>\n" + header("a.o/") + "aa" + header("/7") + "bb").bytes));

  const auto paths = test::inputs_ending("gas247.a");
  ASSERT_FALSE(paths.empty());
  const auto whole = test::read_file(paths[0]);
  std::mt19937 random(1);
  for (unsigned i = 0; i < 300; ++i) {
    auto bytes = whole;
    if (i < 100) bytes.resize(random() % bytes.size());
    if (!bytes.empty())
      bytes[random() % std::min<std::size_t>(bytes.size(), 200)] ^= std::byte(1u << random() % 8);
    auto members = archive_members(bytes);
    if (!members) continue;
    for (const Member& member : *members) {
      EXPECT_TRUE(member.bytes.empty() ||
                  (member.bytes.data() >= bytes.data() &&
                   member.bytes.data() + member.bytes.size() <= bytes.data() + bytes.size()));
    }
  }
}

TEST(ElfSidecar, ReadsBack) {
  const auto id = test::hex("0123456789abcdef0123456789abcdef01234567");
  const auto table = Writer().text("the section").bytes;
  for (ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
    const auto bytes = make_sidecar(
        {.machine = 183, .byte_order = order, .build_id = id, .section = table, .section_address = 0x7008});
    auto image = Image::parse(bytes);
    ASSERT_TRUE(image);
    EXPECT_TRUE(image->problems().empty());
    EXPECT_EQ(image->byte_order(), order);
    EXPECT_EQ(image->machine(), 183);
    EXPECT_EQ(image->type(), et_dyn);
    EXPECT_TRUE(std::ranges::equal(image->build_id(), id));
    const auto tables = image->sframe_tables();
    ASSERT_EQ(tables.size(), 1u);
    EXPECT_EQ(tables[0].address, 0x7008u);
    EXPECT_EQ(tables[0].section->type, sht_gnu_sframe);
    EXPECT_EQ(tables[0].section->flags, shf_alloc);
    EXPECT_EQ(tables[0].section->align, 8u);
    EXPECT_EQ(tables[0].section->offset % 8, 0u);
    EXPECT_TRUE(std::ranges::equal(image->contents(tables[0])->bytes(), table));
  }
  // The fields that Image does not show (System V ABI, "ELF Header" and "Sections").
  const auto whole = make_sidecar({.machine = 22,
                                   .byte_order = ByteOrder::big,
                                   .type = et_exec,
                                   .flags = 0x01020304,
                                   .build_id = id,
                                   .section = table,
                                   .section_address = 0x7008});
  const auto at = [&](std::size_t offset, unsigned size) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i)
      value = value << 8 | std::to_integer<std::uint64_t>(whole[offset + i]);
    return value;
  };
  EXPECT_EQ(at(0, 8), 0x7f454c4602020100u); // magic, 64 bits, big endian, version 1
  EXPECT_EQ(at(16, 2), et_exec);
  EXPECT_EQ(at(20, 4), 1u);          // e_version
  EXPECT_EQ(at(48, 4), 0x01020304u); // e_flags
  EXPECT_EQ(at(52, 2), 64u);         // e_ehsize
  EXPECT_EQ(at(58, 2), 64u);         // e_shentsize
  EXPECT_EQ(at(60, 2), 4u);          // e_shnum
  EXPECT_EQ(at(62, 2), 3u);          // e_shstrndx
  const std::size_t headers = at(40, 8);
  EXPECT_EQ(headers % 8, 0u);
  EXPECT_EQ(headers + 4 * 64, whole.size());
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(whole[headers + i], std::byte(0));
  const std::uint64_t note = headers + 64, names = headers + 3 * 64;
  EXPECT_EQ(at(note + 4, 4), sht_note);
  EXPECT_EQ(at(note + 8, 8), 0u) << "not loaded";
  EXPECT_EQ(at(note + 24, 8), 64u);
  EXPECT_EQ(at(note + 32, 8), 16u + 20);
  EXPECT_EQ(at(note + 48, 8), 4u);
  EXPECT_EQ(at(names + 4, 4), sht_strtab);
  EXPECT_EQ(at(names + 8, 8), 0u) << "not loaded";
  EXPECT_EQ(at(names + 48, 8), 1u);
  EXPECT_EQ(Image::parse(whole)->sections()[3].name, ".shstrtab");
  EXPECT_EQ(sidecar_path(id), ".build-id/01/23456789abcdef0123456789abcdef01234567.sframe");
  EXPECT_EQ(sidecar_path({}), "");
  EXPECT_EQ(sidecar_path(test::hex("ab")), "") << "a folder, but no name in it";
  EXPECT_EQ(sidecar_path(test::hex("abcd")), ".build-id/ab/cd.sframe");
  // The address counts: at one that is no multiple of 8 the section cannot ask for an alignment of 8.
  const auto odd = make_sidecar({.machine = 62, .section = table, .section_address = 0x7004});
  EXPECT_EQ(Image::parse(odd)->sframe_tables().at(0).section->align, 1u);
  EXPECT_EQ(Image::parse(odd)->sframe_tables().at(0).address, 0x7004u);
  // A note's contents are filled up to a multiple of 4.
  for (const std::size_t size : {1, 3, 4, 5}) {
    const auto short_id = std::span(id).first(size);
    const auto bytes = make_sidecar({.machine = 62, .build_id = short_id, .section = table});
    EXPECT_EQ(Image::parse(bytes)->sections()[1].size, 16 + (size + 3) / 4 * 4) << size;
    EXPECT_TRUE(std::ranges::equal(Image::parse(bytes)->build_id(), short_id)) << size;
  }
  // Section headers are aligned to 8, as near as they can be.
  for (std::size_t size = 0; size < 9; ++size) {
    const auto bytes = make_sidecar({.machine = 62, .section = std::span(id).first(size)});
    const auto sized = Image::parse(bytes);
    std::uint64_t offset = 0;
    std::memcpy(&offset, bytes.data() + 40, sizeof offset);
    const SectionHeader& last = sized->sections().back();
    EXPECT_EQ(offset, (last.offset + last.size + 7) / 8 * 8) << size;
  }
  const auto bare = make_sidecar({.machine = 62});
  auto image = Image::parse(bare);
  ASSERT_TRUE(image);
  EXPECT_TRUE(image->build_id().empty());
  EXPECT_EQ(image->sections().size(), 3u) << "no note without an ID";
}

TEST(ElfProblem, Text) {
  EXPECT_EQ((Problem{"bad", {}, {}}).text(), "bad");
  EXPECT_EQ((Problem{"bad", {}, 16}).text(), "bad (offset 0x10)");
  EXPECT_EQ((Problem{"bad", ".sframe", {}}).text(), "bad (section .sframe)");
  const sframe::Error error{ErrorKind::bad_magic, 4, sframe::Error::none, sframe::Error::none};
  EXPECT_EQ(to_problem(error, ".sframe", 0x20).text(), describe(error) + " (offset 0x24, section .sframe)");
}

} // namespace elf_file_test
} // namespace sframe::elf
