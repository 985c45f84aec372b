// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs' common parts: output, numbers, patterns, output files, the command line.

#include "sframe/tool/app.h"
#include "sframe/tool/output.h"
#include "sframe/tool/output_file.h"
#include "sframe/tool/process_limits.h"
#include "sframe/tool/text.h"

#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sframe::tool {
namespace tool_common_test {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / ("sframe-tool-test-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

/// A program whose limits of processor time and memory end with it: the process goes on with other tests.
struct TestApp : App {
  using App::App;
  ~TestApp() { lift_process_limits(); }
};

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(ToolOutput, Formats) {
  Output out(-1);
  out.hex(0x1f).append('|').hex(0x1f, 4).append('|').digits(0xabc, 5).append('|').decimal(42, 5).append('|');
  out.signed_decimal(-7, 4).append('|').padded("ab", 4).append('|').right("ab", 4).append('|').fill('-', 3);
  out << '|' << "end";
  EXPECT_EQ(out.text(), "0x1f|0x001f|00abc|   42|  -7|ab  |  ab|---|end");
  EXPECT_EQ(out.size(), 46u);
  EXPECT_EQ(out.take_text().size(), 46u);
  out.padded("abc", 3).right("abc", 3).padded("abc", 2).right("abc", 2).decimal(42, 2).digits(0xabc, 3);
  EXPECT_EQ(out.text(), "abcabcabcabc42abc");
  EXPECT_EQ(out.size(), 46u + 17u);
}

TEST(ToolOutput, WritesInOrder) {
  Folder folder;
  const fs::path path = folder.path / "out";
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  const std::string large(200000, 'b');
  {
    Output out(fd);
    EXPECT_TRUE(out.flush());
    out << 'a';
    EXPECT_EQ(read(path), "");
    out << large << 'c';
    EXPECT_EQ(read(path), "a" + large);
    EXPECT_EQ(out.size(), large.size() + 2);
    EXPECT_TRUE(out.flush());
    EXPECT_EQ(read(path), "a" + large + "c");
    for (int i = 0; i < 70000; ++i) out << std::string_view("dd");
    EXPECT_GT(fs::file_size(path), large.size() + 100000) << "what is buffered is bounded";
    EXPECT_EQ(out.error(), 0);
    EXPECT_FALSE(out.failed() || out.reader_gone());
  }
  EXPECT_EQ(read(path), "a" + large + "c" + std::string(140000, 'd'));
  ::close(fd);
}

TEST(ToolOutput, EscapesText) {
  Output out(-1);
  out.json_string("a\"\\\n\t\x01\xc3\xa9\xff").append(' ').safe("x\033[31m\n");
  EXPECT_EQ(out.text(), "\"a\\\"\\\\\\n\\t\\u0001\xc3\xa9\xef\xbf\xbd\" x\\x1b[31m\\x0a");
}

/// Every character of the basic plane and every byte, at each place of a name.
TEST(ToolOutput, EscapesControlCharacters) {
  const auto encoded = [](unsigned code) {
    if (code < 0x80) return std::string(1, static_cast<char>(code));
    if (code < 0x800)
      return std::string{static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 63))};
    return std::string{static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 63)),
                       static_cast<char>(0x80 | (code & 63))};
  };
  // C0, DEL and C1; and the Bidi_Control property of Unicode 15 (PropList.txt), line and paragraph separator.
  const auto harmful = [](unsigned code) {
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x61c || code == 0x200e ||
           code == 0x200f || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
           code == 0x2028 || code == 0x2029;
  };
  for (unsigned code = 0; code < 0x10000; ++code) {
    if (code >= 0xd800 && code < 0xe000) continue; // surrogates are no characters
    const std::string text = "a" + encoded(code) + "b";
    std::string escaped;
    for (const char c : encoded(code)) {
      char part[8];
      std::snprintf(part, sizeof part, "\\x%02x", static_cast<unsigned char>(c));
      escaped += part;
    }
    char json[8];
    std::snprintf(json, sizeof json, "\\u%04x", code);
    if (code == '\n' || code == '\t') std::snprintf(json, sizeof json, "\\%c", code == '\n' ? 'n' : 't');
    const bool quoted = code == '"' || code == '\\';
    Output out(-1), out_json(-1);
    EXPECT_EQ(out.safe(text).text(), harmful(code) ? "a" + escaped + "b" : text) << code;
    EXPECT_EQ(out_json.json_string(text).text(), harmful(code)
                                                     ? "\"a" + std::string(json) + "b\""
                                                     : (quoted ? "\"a\\" : "\"a") + text.substr(1) + "\"")
        << code;
  }
  // Bytes that are not UTF-8: alone, cut off, surrogates, beyond U+10FFFF, longer than need be.
  Output out(-1);
  out.safe("\x9b|\xe2\x80|\xed\xa0\x80|\xf4\x90\x80\x80|\xc1\x81|\xf0\x9f\x98\x80");
  EXPECT_EQ(out.text(), "\\x9b|\\xe2\\x80|\\xed\\xa0\\x80|\\xf4\\x90\\x80\\x80|\\xc1\\x81|\xf0\x9f\x98\x80");
}

TEST(ToolOutput, ReportsWriteErrors) {
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  {
    Output out(full);
    out << "text";
    EXPECT_FALSE(out.flush());
    EXPECT_EQ(out.error(), ENOSPC);
    TestApp app("sframe-test", "", "");
    EXPECT_EQ(app.finish(out, exit_ok), exit_failure);
  }
  ::close(full);
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  ::close(pipe[0]);
  TestApp app("sframe-test", "", "");
  const char* arguments[] = {"sframe-test"};
  EXPECT_FALSE(app.parse(1, arguments)); // from here on, a closed pipe is an error and no signal
  Output out(pipe[1]);
  out << "text";
  EXPECT_EQ(app.finish(out, exit_findings), exit_findings);
  EXPECT_TRUE(out.reader_gone());
  ::close(pipe[1]);
}

TEST(ToolText, Numbers) {
  EXPECT_EQ(parse_number("0x1F"), 0x1fu);
  EXPECT_EQ(parse_number("31"), 31u);
  EXPECT_EQ(parse_address("31"), 0x31u);
  EXPECT_EQ(parse_address("0xffffffffffffffff"), ~0ull);
  for (const char* bad : {"", "0x", "x", "12z", "-1", "+1", " 1", "0x1ffffffffffffffff"}) {
    EXPECT_FALSE(parse_number(bad)) << bad;
    EXPECT_FALSE(parse_address(bad)) << bad;
  }
}

TEST(ToolText, Ranges) {
  auto range = parse_address_range("0x10-0x1f");
  ASSERT_TRUE(range);
  EXPECT_TRUE(range->contains(0x10) && range->contains(0x1f) && !range->contains(0x20));
  EXPECT_TRUE(range->overlaps({0, 0x11}));
  EXPECT_FALSE(range->overlaps({0, 0x10}));
  EXPECT_TRUE(range->overlaps({0x1f, 1}));
  EXPECT_FALSE(range->overlaps({0x1f, 0}));
  EXPECT_FALSE(range->overlaps({0x20, 8}));
  EXPECT_TRUE(range->overlaps({0, ~0ull}));
  const auto top = parse_address_range("0xfffffffffffffff8-0xffffffffffffffff");
  EXPECT_TRUE(top->overlaps({0xfffffffffffffff0, 0x10}));
  EXPECT_TRUE(top->overlaps({0xfffffffffffffff0, 0x20})); // past the top: the end would be 0x10
  EXPECT_FALSE(top->overlaps({0xfffffffffffffff0, 8}));
  EXPECT_EQ(parse_address_range("0x10"), (AddressRange{0x10, 1}));
  for (const char* bad : {"", "-", "1-", "-1", "2-1", "1-2-3"}) EXPECT_FALSE(parse_address_range(bad)) << bad;
}

bool glob(std::string_view pattern, std::string_view name) {
  auto parsed = Glob::parse(pattern);
  EXPECT_TRUE(parsed) << pattern;
  return parsed && parsed->matches(name);
}

TEST(ToolText, Globs) {
  EXPECT_TRUE(glob("main", "main"));
  EXPECT_FALSE(glob("main", "main2"));
  EXPECT_TRUE(glob("*", ""));
  EXPECT_FALSE(glob("", "x"));
  EXPECT_TRUE(glob("a*b*c", "aXXbYYbc"));
  EXPECT_FALSE(glob("a*b*c", "aXXbYYb"));
  EXPECT_TRUE(glob("f?o", "foo"));
  EXPECT_TRUE(glob("[a-cx]1", "b1"));
  EXPECT_TRUE(glob("[!a-c]1", "d1"));
  EXPECT_FALSE(glob("[!a-c]1", "a1"));
  EXPECT_TRUE(glob("[]a]", "]"));
  EXPECT_TRUE(glob("[a-]", "-"));
  EXPECT_TRUE(glob("operator\\*", "operator*"));
  EXPECT_FALSE(glob("operator\\*", "operatorx"));
  EXPECT_TRUE(glob("std::*<*>::~*", "std::vector<int>::~vector"));
  EXPECT_TRUE(glob("*abc", "abcababc"));
  EXPECT_FALSE(glob("*abc", "abcab"));
  EXPECT_TRUE(glob("*ab[cd]*e?", "abxabdee"));
  EXPECT_FALSE(glob("*ab[cd]*e?", "abxabd"));
  EXPECT_FALSE(Glob::parse("[a"));
  EXPECT_FALSE(Glob::parse("[]"));
  EXPECT_FALSE(Glob::parse("a\\"));
  EXPECT_TRUE(glob("\\\\[a]", "\\a"));
  EXPECT_FALSE(Glob::parse("\\\\[a"));
}

TEST(ToolText, HostileGlobIsNotExponential) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(glob(pattern + "b", std::string(20000, 'a')));
}

TEST(ToolOutputFile, ReplacesWholeFiles) {
  Folder folder;
  const std::string target = folder.path / "out";
  ASSERT_TRUE(write_file(target, std::string_view("one"), 0751));
  EXPECT_EQ(read(target), "one");
  struct stat info {};
  ASSERT_EQ(::stat(target.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0751u);
  fs::create_symlink("out", folder.path / "link");
  ASSERT_TRUE(write_file(folder.path / "link", std::string_view("two")));
  EXPECT_TRUE(fs::is_symlink(folder.path / "link"));
  EXPECT_EQ(read(target), "two");
  EXPECT_TRUE(write_file("/dev/null", std::string_view("x")));
  // Nothing is left behind.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path), {}), 2);
}

TEST(ToolOutputFile, FailureLeavesNoFile) {
  Folder folder;
  EXPECT_FALSE(write_file(folder.path / "none" / "out", std::string_view("x")));
  EXPECT_FALSE(write_file(folder.path, std::string_view("x")));
  EXPECT_FALSE(write_file("/dev/full", std::string_view("x")));
  EXPECT_TRUE(make_parent_folders(folder.path / "a" / "b" / "out"));
  EXPECT_TRUE(write_file(folder.path / "a" / "b" / "out", std::string_view("x")));
  EXPECT_FALSE(make_parent_folders(folder.path / "a" / "b" / "out" / "c"));
}

/// Parses a command line with standard output and standard error caught.
struct Parsed {
  std::optional<int> code;
  std::string out, err;
};

Parsed parse(std::vector<const char*> arguments) {
  TestApp app("sframe-test", "Test what is tested.", "  sframe-test a.out\n",
              {.output = true, .threads = true});
  std::vector<std::string> files;
  app.cli().add_option("FILE", files, "what to read").required();
  arguments.insert(arguments.begin(), "sframe-test");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Parsed result{app.parse(static_cast<int>(arguments.size()), arguments.data()), {}, {}};
  result.out = testing::internal::GetCapturedStdout();
  result.err = testing::internal::GetCapturedStderr();
  return result;
}

TEST(ToolApp, CommandLine) {
  EXPECT_FALSE(parse({"file", "-q", "-j", "3", "--color=never", "-o", "x"}).code);
  const Parsed help = parse({"--help"});
  EXPECT_EQ(help.code, exit_ok);
  for (const char* part :
       {"Test what is tested.", "EXAMPLES\n  sframe-test a.out", "--version", "--color", "-j", "-o"})
    EXPECT_NE(help.out.find(part), std::string::npos) << part << " in\n" << help.out;
  const Parsed version = parse({"--version"});
  EXPECT_EQ(version.code, exit_ok);
  EXPECT_EQ(version.out.find("sframe-test (sframe-utils) "), 0u);
  for (const auto& bad : std::vector<std::vector<const char*>>{{},
                                                               {"file", "--nonsense"},
                                                               {"file", "--color=blue"},
                                                               {"file", "-j", "0"},
                                                               {"file", "-j", "many"}}) {
    const Parsed parsed = parse(bad);
    EXPECT_EQ(parsed.code, exit_failure);
    EXPECT_EQ(parsed.err.find("sframe-test: error: "), 0u) << parsed.err;
    EXPECT_EQ(std::ranges::count(parsed.err, '\n'), 1) << parsed.err;
    EXPECT_TRUE(parsed.err.ends_with(" (--help shows the options)\n")) << parsed.err;
    EXPECT_EQ(parsed.err.find(". ("), std::string::npos) << parsed.err;
    EXPECT_TRUE(parsed.out.empty());
  }
}

/// The options that an OptionList makes for a command line, by their first names.
std::vector<std::string> made_for(std::vector<const char*> arguments) {
  OptionList list("", "sframe-test", arguments);
  bool all = false, share = false;
  std::string name, file;
  list.add_flag("-a,--all", all);
  list.add_flag("--share,!--no-share", share);
  list.add_option("--name", name).one_of({"a", "b"}).required();
  list.add_option("FILE", file);
  return list.made();
}

TEST(ToolOptionList, MakesTheOptionsThatAreNamed) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(made_for({}), Names({"--help", "FILE"}));
  EXPECT_EQ(made_for({"file", "--all"}), Names({"--help", "--all", "FILE"}));
  EXPECT_EQ(made_for({"-xa"}), Names({"--help", "--all", "FILE"}));
  EXPECT_EQ(made_for({"--no-share", "--name=b"}), Names({"--help", "--share", "--name", "FILE"}));
  const Names every = {"--help", "--all", "--share", "--name", "FILE"};
  for (const char* help : {"-h", "--help", "-ah"}) EXPECT_EQ(made_for({help}), every);
}

TEST(ToolOptionList, ParsesOptionsThatAreNotMade) {
  const std::vector<const char*> arguments = {"sframe-test", "--all"};
  OptionList list("", "sframe-test", arguments);
  bool all = false, other = false;
  list.add_flag("-a,--all", all);
  list.add_flag("--other", other);
  EXPECT_FALSE(list.parse(2, arguments.data()));
  EXPECT_TRUE(all);
  EXPECT_FALSE(other);
  EXPECT_EQ(list.count("--all"), 1u);
  EXPECT_EQ(list.count("--other"), 0u);
}

/// A program with -o, whose work writes `text`, prints an error and returns `code`.
class ToolRun : public ::testing::Test {
protected:
  int run(const std::string& output, std::string_view text, int code,
          const std::vector<std::string>& inputs = {}, App::Errors errors = App::Errors::not_in_file) {
    TestApp app("sframe-test", "", "", {.output = true});
    const char* arguments[] = {"sframe-test", "-o", output.c_str()};
    EXPECT_FALSE(app.parse(3, arguments));
    ran = false;
    testing::internal::CaptureStderr();
    const int result = app.run_with_output(
        inputs,
        [&](Output& out) {
          ran = true;
          out << text;
          if (code == exit_failure) app.messages().error("file", "wrong");
          return code;
        },
        errors);
    err = testing::internal::GetCapturedStderr();
    return result;
  }

  Folder folder;
  const std::string out = folder.path / "out";
  bool ran = false;
  std::string err;
};

TEST_F(ToolRun, WritesItsFile) {
  EXPECT_EQ(run(out, "one", exit_findings), exit_findings);
  EXPECT_EQ(read(out), "one");
  EXPECT_EQ(run(out, "two", exit_failure), exit_failure);
  EXPECT_EQ(read(out), "two");
  EXPECT_EQ(run(out, "", exit_failure), exit_failure);
  EXPECT_EQ(read(out), "two") << "the old file is kept";
  EXPECT_EQ(run(out, "", exit_findings), exit_findings);
  EXPECT_EQ(read(out), "");
  EXPECT_EQ(run(folder.path / "none" / "out", "one", exit_ok), exit_failure);
  EXPECT_TRUE(err.starts_with("sframe-test: error: " + folder.path.string() + "/none/out: ")) << err;
}

TEST_F(ToolRun, ErrorsInTheFile) {
  EXPECT_EQ(run(out, "one\n", exit_failure, {}, App::Errors::in_file), exit_failure);
  EXPECT_EQ(read(out), "one\nsframe-test: error: file: wrong\n");
  EXPECT_EQ(err, "sframe-test: error: file: wrong\n");
  testing::internal::CaptureStdout();
  EXPECT_EQ(run("-", "one\n", exit_failure, {}, App::Errors::in_file), exit_failure);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "one\n");
}

TEST_F(ToolRun, ReplacesNoInput) {
  std::ofstream(out) << "old";
  fs::create_symlink("out", folder.path / "link");
  EXPECT_EQ(run(out, "new", exit_ok, {folder.path / "missing", folder.path / "link"}), exit_failure);
  EXPECT_FALSE(ran);
  EXPECT_EQ(read(out), "old");
  EXPECT_EQ(err, "sframe-test: error: " + out + ": the output would overwrite an input\n");
  EXPECT_EQ(run(out, "new", exit_ok, {folder.path / "missing", "-"}), exit_ok);
  EXPECT_EQ(read(out), "new");
}

TEST(ToolApp, CommonOptions) {
  TestApp app("sframe-test", "", "", {.output = true, .threads = true});
  const char* none[] = {"sframe-test"};
  EXPECT_FALSE(app.parse(1, none));
  EXPECT_GE(app.threads(), 1u);
  EXPECT_EQ(app.output_path(), "-");
  EXPECT_EQ(app.limits(), Limits::standard);
  EXPECT_EQ(app.color(), ColorMode::automatic);
  const char* all[] = {"sframe-test", "-j", "1024", "--limits=off", "--color=always", "-o", "x", "-q", "-v"};
  EXPECT_FALSE(app.parse(9, all));
  EXPECT_EQ(app.threads(), 1024u);
  EXPECT_EQ(app.output_path(), "x");
  EXPECT_EQ(app.limits(), Limits::off);
  EXPECT_EQ(app.color(), ColorMode::always);
  EXPECT_TRUE(app.messages().quiet() && app.messages().verbose());
}

TEST(ToolMessages, Style) {
  Messages messages("sframe-test");
  testing::internal::CaptureStderr();
  messages.error("a.out", Problem{"row runs past the end", ".sframe", 0x1c});
  messages.set_quiet(true);
  messages.warning("a.out", "not shown");
  messages.detail("a.out", "not shown");
  messages.set_quiet(false);
  messages.set_color(ColorMode::always);
  messages.note({}, "line\nbreak");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "sframe-test: error: a.out: row runs past the end (offset 0x1c, section .sframe)\n"
            "sframe-test: \033[1;36mnote:\033[0m line\\x0abreak\n");
  EXPECT_EQ(messages.errors(), 1u);
}

} // namespace tool_common_test
} // namespace sframe::tool
