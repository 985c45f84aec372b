// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What reports have of findings: docs/json.md, SARIF 2.1.0 (sections 3.28, 3.29 and 3.33 for locations), and
// text. One file with two named functions and one without a name.

#include "elf_builder.h"

#include <sframe/abi.h>
#include <sframe/builder.h>
#include <sframe/elf/image.h>
#include <sframe/verify/report.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace sframe::test {
namespace verify_report_test {

using namespace verify;

constexpr std::uint64_t text_at = 0x1000, sframe_at = 0x2000;

/// first is [0x1000, 0x1010), second [0x1010, 0x1020); [0x1020, 0x1030) has no name.
TestElf named() {
  Builder builder({.abi = Abi::amd64});
  for (const std::uint64_t start : {0x1000, 0x1010, 0x1020})
    EXPECT_TRUE(builder.add({.start = start, .size = 16}, std::vector{traits(Abi::amd64).entry_row()}));
  const auto section = builder.finish(sframe_at);
  EXPECT_TRUE(section);
  const std::vector<std::byte> text(0x30, std::byte{0x90});
  Writer symbols;
  symbols.append(symbol(0, 0, 0, 0, 0))
      .append(symbol(1, 0x12, 1, 0x1000, 16))
      .append(symbol(7, 0x12, 1, 0x1010, 16));
  TestElf file;
  file.type = elf::et_dyn;
  file.sections = {
      {".text", elf::sht_progbits, elf::shf_alloc | elf::shf_execinstr, text_at, text},
      {".sframe", elf::sht_gnu_sframe, elf::shf_alloc, sframe_at, *section},
      {".symtab", elf::sht_symtab, 0, 0, symbols.bytes, 4},
      {".strtab", elf::sht_strtab, 0, 0, Writer().text(std::string_view("\0first\0second\0", 14)).bytes}};
  file.segments = {{elf::pt_load, elf::pf_r | elf::pf_x, text_at, text}};
  return file;
}

class VerifyReport : public ::testing::Test, public Channel {
protected:
  void SetUp() override {
    bytes_ = named().build();
    image_ = *elf::Image::parse(bytes_);
    input_ = *Input::load({.image = &*image_});
  }

  void begin_element() override {
    if (elements_++) text_ += ',';
  }
  void text(std::string_view text) override { text_ += text; }

  /// The whole output for these findings.
  std::string report(const Format& format, const std::vector<Finding>& findings, const RunEnd& end = {},
                     const Summary& summary = {}) {
    text_ = format.head();
    elements_ = 0;
    Names names({&*image_});
    const auto file = format.file("dir/name.so", *input_, names, *this);
    for (const Finding& finding : findings) file->add(finding);
    counts_ = file->counts();
    file->finish(summary);
    return text_ + format.tail(end);
  }

  Finding at(Id id, std::uint64_t begin, std::uint64_t end) const {
    return input_->finding(id, begin, end, "message of " + sframe::hex(begin));
  }

  std::vector<std::byte> bytes_;
  std::optional<elf::Image> image_;
  std::optional<Input> input_;
  std::string text_;
  std::size_t elements_ = 0;
  Counts counts_;
};

/// True if each line is indented by two for each bracket that is open; brackets in strings do not count.
::testing::AssertionResult is_indented(const std::string& json) {
  std::size_t depth = 0;
  std::istringstream lines(json);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == line.npos) return ::testing::AssertionFailure() << "an empty line in " << json;
    const bool closes = line[first] == '}' || line[first] == ']';
    if (first + 2 * closes != 2 * depth) return ::testing::AssertionFailure() << line << "\nin " << json;
    bool in_string = false;
    for (std::size_t i = first; i < line.size(); ++i) {
      const char c = line[i];
      if (c == '"')
        in_string = !in_string;
      else if (in_string)
        i += c == '\\';
      else if (c == '{' || c == '[')
        ++depth;
      else if (c == '}' || c == ']')
        --depth;
    }
  }
  if (depth) return ::testing::AssertionFailure() << "not closed: " << json;
  return ::testing::AssertionSuccess();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

RunSummary run_of_a_program() {
  return {.command = {"./program", "an argument"},
          .end = "exited with 0",
          .limited = true,
          .steps = 10,
          .compared = 5,
          .elsewhere = 3,
          .no_row = 2,
          .not_followed = {{"unknown caller", 4}, {"other", 0}},
          .events = {{"signals", 1}, {"tail calls", 6}}};
}

TEST_F(VerifyReport, Json) {
  const auto format = make_json_format({});
  Finding whole = at(Id::S004, 0, 0);
  whole.at.reset();
  whole.table = ".sframe";
  whole.offset = 12;
  const RunSummary run = run_of_a_program();
  const std::string text =
      report(*format, {at(Id::C102, 0x1004, 0x1008), whole}, {.run = &run}, {.functions = 3});
  EXPECT_TRUE(is_indented(text));
  EXPECT_TRUE(has(text, R"("path": "dir/name.so")"));
  EXPECT_TRUE(has(text, R"("function": "first")"));
  EXPECT_TRUE(has(text, R"("pc": "0x1004")"));
  EXPECT_TRUE(has(text, R"("end": "0x1008")"));
  EXPECT_TRUE(has(text, R"("offset": 12)"));
  EXPECT_TRUE(has(text, R"("offset": null)"));
  EXPECT_TRUE(has(text, R"("functions": 3)"));
  EXPECT_TRUE(has(text, R"("limited": true)"));
  EXPECT_TRUE(has(text, R"("unknown_caller": 4)"));
  EXPECT_TRUE(has(text, R"("tail_calls": 6)"));
  EXPECT_FALSE(has(text, "code_section")) << "of objects only";
  // No findings, no run; a file that cannot be read.
  const std::string none = report(*format, {});
  EXPECT_TRUE(is_indented(none));
  EXPECT_FALSE(has(none, "\"run\""));
  text_ = format->head();
  elements_ = 0;
  format->unreadable({.path = "bad", .problem = {"damaged", ".text", 16}}, *this);
  format->unreadable({.path = "worse", .problem = {"missing", {}, {}}}, *this);
  text_ += format->tail({});
  EXPECT_TRUE(is_indented(text_));
  EXPECT_TRUE(has(text_, R"("section": ".text")"));
  EXPECT_TRUE(has(text_, R"("offset": 16)"));
}

TEST_F(VerifyReport, Sarif) {
  const auto format = make_sarif_format({}, {.version = "1.2", .command_line = "sframe-verify x"});
  const auto with_run = run_of_a_program();
  const std::string text = report(*format, {at(Id::C102, 0x1014, 0x1018)}, {.run = &with_run});
  EXPECT_TRUE(is_indented(text));
  // A physical location with an address, and the function as a logical one.
  EXPECT_TRUE(has(text, R"("absoluteAddress": 4116)"));
  EXPECT_TRUE(has(text, R"("length": 4)"));
  EXPECT_TRUE(has(text, R"("name": "0x1014 second+0x4")"));
  EXPECT_TRUE(has(text, R"("logicalLocations")"));
  EXPECT_TRUE(has(text, R"("fullyQualifiedName": "second")"));
  EXPECT_TRUE(has(text, R"("fileFunctionKind/v1": "name.so:C102:second:1")"));
  EXPECT_TRUE(has(text, R"("executionSuccessful": true)"));
  EXPECT_TRUE(has(text, R"("limited": true)"));
  // Without a name, there is none; the second of two findings has another fingerprint.
  const std::string nameless = report(*format, {at(Id::C102, 0x1020, 0x1020), at(Id::C102, 0x1028, 0x1028)});
  EXPECT_TRUE(is_indented(nameless));
  EXPECT_FALSE(has(nameless, R"("logicalLocations")"));
  EXPECT_FALSE(has(nameless, R"("length")"));
  EXPECT_TRUE(has(nameless, R"("name": "0x1020")"));
  EXPECT_TRUE(has(nameless, R"("fileFunctionKind/v1": "name.so:C102::1")"));
  EXPECT_TRUE(has(nameless, R"("fileFunctionKind/v1": "name.so:C102::2")"));
  EXPECT_FALSE(has(nameless, "\"properties\": {\n          \"run\""));
  // A warning about a file leaves the execution a success; an error does not.
  for (const bool warning : {true, false}) {
    const Failure failures[] = {{.path = "bad", .problem = {"damaged", {}, {}}, .warning = warning}};
    const std::string failed = report(*format, {}, {.failures = failures, .exit_code = 2});
    EXPECT_TRUE(is_indented(failed));
    EXPECT_EQ(has(failed, R"("executionSuccessful": true)"), warning);
    EXPECT_TRUE(has(failed, warning ? R"("level": "warning")" : R"("level": "error")"));
    EXPECT_TRUE(has(failed, R"("exitCode": 2)"));
  }
}

TEST_F(VerifyReport, Text) {
  const auto format = make_text_format({});
  EXPECT_EQ(
      report(*format, {at(Id::C102, 0x1004, 0x1008), at(Id::C102, 0x1020, 0x1020)}, {},
             {.functions = 3, .agree = 1, .contradiction = 2, .addresses = 48}),
      "dir/name.so: error: C102 0x1004-0x1007 first+0x4: message of 0x1004\n"
      "dir/name.so: error: C102 0x1020: message of 0x1020\n"
      "dir/name.so: 3 functions: 1 agree, 2 contradictions, 0 undecided, 0 unreached; 2 errors, 0 warnings, "
      "0 notes; 48 addresses compared\n"
      "PASSED: 0 files, 0 functions, 0 errors, 0 warnings\n");
  const RunSummary run = run_of_a_program();
  Totals totals{.files = 1, .functions = 3, .errors = 1, .warnings = 2, .notes = 5, .hidden_notes = 4};
  EXPECT_EQ(
      format->tail({.exit_code = 1, .run = &run, .totals = totals}),
      "./program: exited with 0, not followed to the end; 10 steps: 5 compared, 3 in other code, 2 without "
      "a row, 4 unknown caller; 1 signal, 6 tail calls\n"
      "FAILED: 1 file, 3 functions, 1 error, 2 warnings; 4 notes not shown (-v)\n");
  totals = {.files = 2, .functions = 1, .not_verified = 1, .missing = {"a", "b"}};
  EXPECT_EQ(format->tail({.exit_code = 2, .totals = totals}),
            "FAILED: 2 files, 1 function, 0 errors, 0 warnings; 1 file not verified; 2 files without a "
            "section\n");
}

// --werror: what would be a warning, whatever made it one.
TEST_F(VerifyReport, WarningsAreErrors) {
  Policy policy;
  Finding warning = at(Id::C107, 0x1000, 0x1001), of_compiler = at(Id::K201, 0x1000, 0x1001);
  of_compiler.compiler = true;
  EXPECT_EQ(policy.severity(warning), Severity::warning);
  EXPECT_EQ(policy.severity(of_compiler), Severity::warning);
  EXPECT_FALSE(policy.set_warnings_are_errors("")) << "of no identifier";
  EXPECT_FALSE(policy.set_warnings_are_errors("C9"));
  EXPECT_TRUE(policy.set_warnings_are_errors("K2"));
  EXPECT_EQ(policy.severity(warning), Severity::warning);
  EXPECT_EQ(policy.severity(of_compiler), Severity::error);
  policy.set_warnings_are_errors();
  EXPECT_EQ(policy.severity(warning), Severity::error);
  EXPECT_EQ(policy.severity(at(Id::C108, 0x1000, 0x1001)), Severity::note);
  EXPECT_TRUE(policy.set("C107", Policy::Action::note));
  EXPECT_EQ(policy.severity(warning), Severity::note) << "not a warning any more";
}

// What is counted, what is printed, and what neither.
TEST_F(VerifyReport, Counts) {
  const std::vector<Finding> findings = {at(Id::C102, 0x1000, 0x1001), at(Id::C107, 0x1010, 0x1011),
                                         at(Id::C108, 0x1020, 0x1021), at(Id::K301, 0x1020, 0x1021)};
  const auto lines = [&](const ReportOptions& options) {
    const std::string text = report(*make_text_format(options), findings);
    return std::ranges::count(text, '\n') - 2; // the summary, and the last line
  };
  const auto counts = [&] {
    return std::vector{counts_.errors, counts_.warnings, counts_.notes, counts_.known};
  };
  using Numbers = std::vector<std::uint64_t>;
  const auto severity = [](Id id) { return check(id).severity; };
  ASSERT_EQ(severity(Id::C102), Severity::error);
  ASSERT_EQ(severity(Id::C107), Severity::warning);
  ASSERT_EQ(severity(Id::C108), Severity::note);
  ASSERT_EQ(severity(Id::K301), Severity::note);
  EXPECT_EQ(lines({}), 4);
  EXPECT_EQ(counts(), (Numbers{1, 1, 2, 0}));
  EXPECT_EQ(lines({.level = Severity::error}), 1);
  EXPECT_EQ(counts(), (Numbers{1, 1, 2, 0}));
  EXPECT_EQ(counts_.hidden_notes, 2);
  EXPECT_EQ(lines({.level = Severity::warning}), 2);
  EXPECT_EQ(lines({.usual_notes = false}), 3);
  EXPECT_EQ(counts(), (Numbers{1, 1, 2, 0}));
  EXPECT_EQ(counts_.hidden_notes, 1);
  for (const std::uint64_t most : {0, 1, 3, 4}) {
    const bool is_cut = most < 4; // which a line reports
    EXPECT_EQ(lines({.max_findings = most}), static_cast<std::ptrdiff_t>(most + is_cut));
    EXPECT_EQ(counts(), (Numbers{1, 1, 2, 0}));
  }
  Baseline known;
  known.add(Baseline::key("dir/name.so", "C107", "second"));
  known.add(Baseline::key("dir/name.so", "C108", ""));
  EXPECT_EQ(lines({.baseline = &known}), 3);
  EXPECT_EQ(counts(), (Numbers{1, 0, 2, 1})) << "notes are never known";
}

} // namespace verify_report_test
} // namespace sframe::test
