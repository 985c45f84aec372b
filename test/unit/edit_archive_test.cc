// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replacement of archive members: archives written out field by field (ar(5)), their symbol indexes compared
// with the positions of the members' headers.

#include "elf_builder.h"

#include "sframe/edit/archive.h"
#include "sframe/elf/archive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

namespace sframe::edit {

using namespace elf;
namespace edit_archive_test {

using Bytes = std::vector<std::byte>;
using Replacements = std::vector<std::optional<Bytes>>;
using test::Writer;

Bytes text(std::string_view value) {
  return Writer().text(value).bytes;
}

/// A member's header: name 16, date 12, owner and group 6 each, mode 8, size 10, an end mark of 2 bytes.
std::string header(std::string name, std::size_t size) {
  std::string decimal = std::to_string(size);
  name.resize(16, ' ');
  decimal.resize(10, ' ');
  return name + "0           0     0     644     " + decimal + "`\n";
}

/// Contents at an even place: a line feed fills up.
std::string member(const std::string& name, std::string contents) {
  const std::size_t size = contents.size();
  if (size % 2) contents += '\n';
  return header(name, size) + contents;
}

/// How numbers of an index are written.
struct Form {
  std::string name;
  unsigned width;
  ByteOrder order;
  bool pairs; ///< BSD's: bytes of pairs, then a name's offset and the place of each; the names follow with
              ///< their size
};

const Form forms[] = {{"/", 4, ByteOrder::big, false},
                      {"/SYM64/", 8, ByteOrder::big, false},
                      {"#1/12", 4, ByteOrder::little, true},
                      {"#1/12", 8, ByteOrder::little, true}};

/// An archive of `members` whose index has a symbol for each of `symbols`: numbers of members.
struct Example {
  std::string bytes;
  std::size_t index_at = 0;        ///< of the index's contents
  std::vector<std::size_t> places; ///< of the members' headers
};

Example make(const Form& form, const std::vector<std::string>& members,
             const std::vector<std::size_t>& symbols) {
  const std::string names = std::string("first\0second\0third\0\0", 20);
  const std::size_t entries = symbols.size() * form.width * (form.pairs ? 2 : 1);
  const std::size_t index_size = form.width + entries + (form.pairs ? form.width : 0) + names.size();
  Example made;
  made.bytes = "!<arch>\n";
  // BSD's name is in front of the contents, filled up to a multiple of 4. Darwin has one for wide numbers.
  const std::string narrow("__.SYMDEF\0\0\0", 12), wide = "__.SYMDEF_64";
  const std::string name = !form.pairs ? "" : form.width == 4 ? narrow : wide;
  made.index_at = made.bytes.size() + 60 + name.size();
  std::size_t at = made.index_at + index_size;
  for (const std::string& one : members) {
    made.places.push_back(at);
    at += one.size();
  }
  Writer index(form.order);
  index.number(form.pairs ? entries : symbols.size(), form.width);
  for (const std::size_t symbol : symbols) {
    if (form.pairs) index.number(0, form.width);
    index.number(made.places[symbol], form.width);
  }
  if (form.pairs) index.number(names.size(), form.width);
  index.text(names);
  made.bytes += member(
      form.name, name + std::string(reinterpret_cast<const char*>(index.bytes.data()), index.bytes.size()));
  for (const std::string& one : members) made.bytes += one;
  return made;
}

TEST(ElfArchiveWrite, TheIndexFollowsTheMembers) {
  for (const Form& form : forms) {
    const std::vector<std::string> old = {member("a.o/", "first"), member("b.o/", "second"),
                                          member("c.o/", "third!")};
    const std::vector<std::size_t> symbols = {0, 2, 1, 2};
    const Example before = make(form, old, symbols);
    // A longer member of odd size, and a shorter one.
    for (const auto& [first, second] :
         {std::pair{std::string(1235, 'x'), "22"}, {std::string("1"), "2222222"}}) {
      const auto after =
          make(form, {member("a.o/", first), member("b.o/", second), member("c.o/", "third!")}, symbols);
      const auto made =
          replace_members(text(before.bytes), Replacements{text(first), text(second), std::nullopt});
      ASSERT_TRUE(made) << form.name << ": " << made.error().text();
      EXPECT_EQ(*made, text(after.bytes)) << form.name;
      const auto members = archive_members(*made);
      ASSERT_TRUE(members);
      ASSERT_EQ(members->size(), 3u);
      EXPECT_TRUE(std::ranges::equal((*members)[1].bytes, text(second)));
    }
    EXPECT_EQ(replace_members(text(before.bytes), Replacements(3)).value(), text(before.bytes));
  }
}

// Fewer contents than members would lose members.
TEST(ElfArchiveWrite, OneEntryForEachMember) {
  for (const Form& form : forms) {
    const Bytes archive =
        text(make(form, {member("a.o/", "first"), member("b.o/", "second")}, {0}).bytes); // a symbol of a.o
    for (const std::size_t count : {0, 1, 3}) {
      const auto made = replace_members(archive, Replacements(count));
      ASSERT_FALSE(made) << form.name << ", " << count;
      EXPECT_EQ(made.error().what, "the contents to write are not one for each member of the archive");
    }
    EXPECT_EQ(replace_members(archive, Replacements(2)).value(), archive);
  }
  for (const Bytes& empty : {text("!<arch>\n"), text(make(forms[0], {}, {}).bytes)}) {
    EXPECT_EQ(replace_members(empty, {}).value(), empty);
    EXPECT_FALSE(replace_members(empty, Replacements(1)));
  }
}

// BSD writes long names before the contents and counts them as contents.
TEST(ElfArchiveWrite, BsdNames) {
  const std::string name = "a-name-of-20-bytes.o";
  const auto with = [&](const std::string& contents) {
    return make(forms[2], {member("#1/20", name + contents), member("b.o", "second")}, {1, 0});
  };
  const auto made = replace_members(text(with("first").bytes), Replacements{text("another"), std::nullopt});
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(*made, text(with("another").bytes));
}

TEST(ElfArchiveWrite, WithoutAnIndex) {
  const auto made = replace_members(text("!<arch>\n" + member("a.o/", "first") + member("b.o/", "second")),
                                    Replacements{text("1"), std::nullopt});
  ASSERT_TRUE(made);
  EXPECT_EQ(*made, text("!<arch>\n" + member("a.o/", "1") + member("b.o/", "second")));
}

TEST(ElfArchiveWrite, Refuses) {
  EXPECT_EQ(replace_members(text("!<thin>\n"), Replacements(1)).error().what,
            "thin archive: contains only file names; pass these files instead");
  for (const char* none : {"", "!<arch>", "no archive",
                           "\x7f"
                           "ELF"})
    EXPECT_FALSE(replace_members(text(none), {})) << none;
  for (const Form& form : forms) {
    const std::vector<std::string> members = {member("a.o/", "first"), member("b.o/", "second")};
    const auto sound = make(form, members, {0, 1});
    const std::size_t entry = form.width * (form.pairs ? 2 : 1);
    const auto with = [&](std::size_t at, std::uint64_t value) {
      Bytes bytes = text(sound.bytes);
      const Bytes number = Writer(form.order).number(value, form.width).bytes;
      std::ranges::copy(number, bytes.begin() + static_cast<std::ptrdiff_t>(at));
      const auto made = replace_members(bytes, Replacements{text("other"), std::nullopt});
      return made ? std::optional<Problem>() : std::optional(made.error());
    };
    // The last place, which is the second symbol's.
    const std::size_t last = sound.index_at + form.width + 2 * entry - form.width;
    EXPECT_FALSE(with(last, sound.places[1]));
    EXPECT_FALSE(with(last, sound.places[0]));
    for (const std::uint64_t nowhere :
         {sound.places[0] + 1, sound.places[1] + 1, std::size_t{8}, std::size_t{0}}) {
      const auto problem = with(last, nowhere);
      ASSERT_TRUE(problem) << form.name;
      EXPECT_EQ(problem->what, "archive's symbol index refers to a missing member");
      EXPECT_EQ(problem->offset, last);
    }
  }
  // An index whose name is in its header is a member like others to LLVM's reader: it would keep the old
  // places.
  const auto unknown =
      replace_members(text("!<arch>\n" + member("__.SYMDEF", "\4\0\0\0") + member("a.o", "first")),
                      Replacements{std::nullopt, text("other")});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().what, "archive's symbol index has an unknown format");
  // Two members of the name "/": a COFF import library, whose second index has another format (Microsoft's
  // "PE Format", "Archive (Library) File Format").
  const auto coff = replace_members(text("!<arch>\n" + member("/", std::string(4, '\0')) +
                                         member("/", std::string(8, '\0')) + member("a.o/", "first")),
                                    Replacements{text("other")});
  ASSERT_FALSE(coff);
  EXPECT_EQ(coff.error().what, "archive's symbol index has an unknown format");
  // More symbols than the index has room for: numbers of 4 bytes in 4 + 2 * 4 + 20 bytes.
  const auto sound = make(forms[0], {member("a.o/", "first")}, {0, 0});
  for (const std::uint32_t count : {8u, 0xffffffffu}) {
    Bytes bytes = text(sound.bytes);
    std::ranges::copy(Writer(ByteOrder::big).u32(count).bytes,
                      bytes.begin() + static_cast<std::ptrdiff_t>(sound.index_at));
    const auto made = replace_members(bytes, Replacements{text("x")});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().what, "archive's symbol index is damaged");
    EXPECT_EQ(made.error().offset, sound.index_at);
  }
  // As many as there is room for are places, the last of which is in the names.
  Bytes filled = text(sound.bytes);
  std::ranges::copy(Writer(ByteOrder::big).u32(7).bytes,
                    filled.begin() + static_cast<std::ptrdiff_t>(sound.index_at));
  const auto names = replace_members(filled, Replacements{text("x")});
  ASSERT_FALSE(names);
  EXPECT_EQ(names.error().what, "archive's symbol index refers to a missing member");
  EXPECT_EQ(names.error().offset, sound.index_at + 4 + 2 * 4);
  // An index without room for the number of symbols.
  for (const auto& [name, size] : {std::pair{"/", 3}, {"/SYM64/", 7}}) {
    const auto made =
        replace_members(text("!<arch>\n" + member(name, std::string(static_cast<std::size_t>(size), '\0')) +
                             member("a.o/", "first")),
                        Replacements{text("x")});
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().what, "archive's symbol index is damaged");
    EXPECT_EQ(made.error().offset, 8u + 60);
  }
}

// The member that is replaced may have the index's last symbol, or none; one that stays keeps its odd size.
TEST(ElfArchiveWrite, OddSizes) {
  const std::vector<std::string> old = {member("a.o/", "first"), member("b.o/", "second")};
  const auto before = make(forms[0], old, {});
  const auto made = replace_members(text(before.bytes), Replacements{std::nullopt, text("odd")});
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(*made, text(make(forms[0], {old[0], member("b.o/", "odd")}, {}).bytes));
  EXPECT_EQ(made->size() % 2, 0u);
}

} // namespace edit_archive_test
} // namespace sframe::edit
