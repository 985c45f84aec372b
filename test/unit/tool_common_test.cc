// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs' common parts: output, numbers, patterns, output files, the command line.

#include "sframe/tool/app.h"
#include "sframe/tool/output.h"
#include "sframe/tool/output_file.h"
#include "sframe/tool/process_limits.h"
#include "sframe/tool/text.h"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
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
  app.cli().add_option("FILE", files, "what to read");
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
  const Parsed help = parse({"--help-all"});
  EXPECT_EQ(help.code, exit_ok);
  for (const char* part :
       {"Test what is tested.", "EXAMPLES\n  sframe-test a.out", "--version", "--color", "-j", "-o"})
    EXPECT_NE(help.out.find(part), std::string::npos) << part << " in\n" << help.out;
  const Parsed version = parse({"--version"});
  EXPECT_EQ(version.code, exit_ok);
  EXPECT_EQ(version.out.find("sframe-test (sframe-utils) "), 0u);
  for (const auto& bad : std::vector<std::vector<const char*>>{
           {"file", "--nonsense"}, {"file", "--color=blue"}, {"file", "-j", "0"}, {"file", "-j", "many"}}) {
    const Parsed parsed = parse(bad);
    EXPECT_EQ(parsed.code, exit_failure);
    EXPECT_EQ(parsed.err.find("sframe-test: error: "), 0u) << parsed.err;
    EXPECT_EQ(std::ranges::count(parsed.err, '\n'), 1) << parsed.err;
    EXPECT_TRUE(parsed.err.ends_with(" (--help shows the options)\n")) << parsed.err;
    EXPECT_EQ(parsed.err.find(". ("), std::string::npos) << parsed.err;
    EXPECT_TRUE(parsed.out.empty());
  }
}

/// A list with an option of each kind; `columns` is the width of help texts.
class ToolOptionList : public ::testing::Test {
protected:
  ToolOptionList() {
    list.add_option("FILE", files, "What to read");
    list.add_choice("--format", format, formats, "Output format").common();
    list.add_flag("--share,!--no-share", share, "Store identical rows of several functions once");
    list.add_flag("--repair{apply}", repair, "Fix rows").one_of({"apply", "list"});
    list.add_option("--section", section, "Only this section").type_name("NAME");
    list.add_option("--rows", rows, "Rows").type_name("N").range(1u, 40u).show_default();
    list.add_option("--check", checks, "Checks").one_of({"cfi", "code"}).delimiter(',').type_name("LIST");
    list.add_option("--explain", explained, "A finding").completed_by([] { return Strings{"C1", "C2"}; });
    list.add_help_and_version("Common options");
  }

  std::optional<OptionList::Ended> parse(std::vector<const char*> arguments, const char* columns = "50") {
    ::setenv("COLUMNS", columns, 1);
    arguments.insert(arguments.begin(), "sframe-test");
    return list.parse(static_cast<int>(arguments.size()), arguments.data());
  }
  std::string error(std::vector<const char*> arguments) {
    const auto ended = parse(std::move(arguments));
    return ended && ended->is_error ? ended->text : "no error";
  }

  using Strings = std::vector<std::string>;
  const Choices<int> formats = {{"text", 1}, {"llvm", 2}, {"json", 3}};
  Strings files, checks;
  int format = 0;
  bool share = false;
  std::string repair, section, explained;
  std::uint32_t rows = 20;
  OptionList list{{.name = "sframe-test",
                   .version = "1.2",
                   .summary = "Test what is tested.",
                   .examples = "  sframe-test a.out       one file\n"
                               "  sframe-test 'a  b' --rows=30\n"
                               "                          one whose name has blanks\n",
                   .environment = {{"NO_COLOR", "No colours"}},
                   .exit_codes = {{"0", "Done"}}}};
};

TEST_F(ToolOptionList, PrintsCommonOptions) {
  const auto help = parse({"--help"});
  ASSERT_TRUE(help && !help->is_error);
  EXPECT_EQ(help->text, R"(Test what is tested.
Usage: sframe-test [OPTIONS] FILE...

  FILE...       What to read

Options:
  --format text|llvm|json
                Output format

Common options:
  -h, --help    Print the most used options and
                exit
  --help-all    Print all options, environment
                variables and exit codes
  --version     Print the version and exit

EXAMPLES
  sframe-test a.out          one file
  sframe-test 'a  b' --rows=30
                             one whose name has
                             blanks
)");
}

TEST_F(ToolOptionList, PrintsAllOptions) {
  const auto help = parse({"--help-all", "--nonsense"});
  ASSERT_TRUE(help && !help->is_error);
  for (const char* part :
       {"\n  --share, --no-share\n                Store identical rows of several\n"
        "                functions once\n",
        "\n  --repair[=apply|list]\n                Fix rows\n", "\n  --section NAME\n",
        "\n  --rows N      Rows (default: 20)\n", "\n  --check LIST  Checks\n",
        "\nEnvironment:\n  NO_COLOR      No colours\n", "\nExit codes:\n  0             Done\n"})
    EXPECT_NE(help->text.find(part), std::string::npos) << part << " in\n" << help->text;
  std::istringstream lines(help->text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 50u) << line;
  // Too narrow, or no number.
  EXPECT_EQ(parse({"--help-all"}, "1")->text, parse({"--help-all"}, "40")->text);
  EXPECT_EQ(parse({"--help-all"}, "many")->text, parse({"--help-all"}, "80")->text);
}

TEST_F(ToolOptionList, DescribesItself) {
  const auto json = parse({"--help-json"});
  ASSERT_TRUE(json && !json->is_error);
  for (
      const char* part :
      {R"("names":["FILE"],"argument":"","optional":false,"values":[],"list":false,"repeatable":true)",
       R"("names":["--format"],"argument":"text|llvm|json","optional":false,"values":["text","llvm","json"])",
       R"("names":["--repair"],"argument":"apply|list","optional":true,"values":["apply","list"])",
       R"("names":["--check"],"argument":"LIST","optional":false,"values":["cfi","code"],"list":true)",
       R"("names":["--explain"],"argument":"VALUE","optional":false,"values":["C1","C2"],"list":false)",
       R"({"command":"sframe-test 'a  b' --rows=30","text":"one whose name has blanks"})"})
    EXPECT_NE(json->text.find(part), std::string::npos) << part << " in\n" << json->text;
}

TEST_F(ToolOptionList, Suggests) {
  EXPECT_EQ(error({"a", "--fromat", "text"}), "unknown option --fromat; did you mean --format?");
  EXPECT_EQ(error({"--noshare"}), "unknown option --noshare; did you mean --no-share?");
  EXPECT_EQ(error({"--sect=x"}), "unknown option --sect; did you mean --section?");
  EXPECT_EQ(error({"--nonsense"}), "unknown option --nonsense");
  EXPECT_EQ(error({"-Z"}), "unknown option -Z");
  EXPECT_EQ(error({"--format=jsn"}), "--format: 'jsn' is none of text, llvm, json; did you mean json?");
  EXPECT_EQ(error({"--format", "yaml"}), "--format: 'yaml' is none of text, llvm, json");
  EXPECT_EQ(error({"--check=cfi,cod"}), "--check: 'cod' is none of cfi, code; did you mean code?");
  EXPECT_EQ(error({"--repair=lst"}), "--repair: 'lst' is none of apply, list; did you mean list?");
}

TEST_F(ToolOptionList, TakesWhatFollowsTwoDashesForNoOption) {
  ASSERT_FALSE(parse({"--rows=7", "--", "a.out", "--format"}));
  EXPECT_EQ(rows, 7u);
  EXPECT_EQ(files, (Strings{"a.out", "--format"}));
  EXPECT_EQ(error({"--nonsense", "--", "a.out"}), "unknown option --nonsense");
}

TEST_F(ToolOptionList, ReportsWrongValues) {
  EXPECT_EQ(error({"--rows=0"}), "--rows: must be a number from 1 to 40, not '0'");
  EXPECT_EQ(error({"--rows=many"}), "--rows: must be a number from 1 to 40, not 'many'");
  EXPECT_EQ(error({"--section"}), "--section: the value is missing");
  EXPECT_EQ(error({"--section=a", "--section=b"}), "--section: given more than once");
  EXPECT_EQ(error({"--share=perhaps"}), "--share: 'perhaps' is not a valid value");
}

TEST_F(ToolOptionList, SetsVariables) {
  EXPECT_FALSE(
      parse({"a", "--format", "llvm", "--repair", "b", "--check=cfi,code", "--share", "--explain=x"}));
  EXPECT_EQ(files, Strings({"a", "b"}));
  EXPECT_EQ(checks, Strings({"cfi", "code"}));
  EXPECT_EQ(format, 2);
  EXPECT_TRUE(share);
  EXPECT_EQ(repair, "apply");
  EXPECT_EQ(explained, "x");
  EXPECT_EQ(list.count("--share"), 1u);
  EXPECT_EQ(list.count("--section"), 0u);
  EXPECT_FALSE(parse({"--no-share", "--repair=list"}));
  EXPECT_FALSE(share);
  EXPECT_EQ(repair, "list");
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
