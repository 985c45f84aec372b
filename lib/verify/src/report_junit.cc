// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JUnit XML, in the form that Jenkins and GitLab read: <testsuites>, in it a <testsuite> for each file, in it
// a <testcase> for each check that was made:
//
//    <testcase name="cfi" classname="libfoo.so">
//      <failure message="2 errors: C102 CFA offset differs" type="C102">0x4f0-0x4f7 f: CFA is sp+16 in...
//
// A case with errors failed; warnings and notes are its <system-out>. No times: equal inputs have equal
// reports. The findings of a file wait for its end, since the attributes of an element have their number.

#include "sframe/base/text.h"
#include "sframe/page/page.h"
#include "sframe/verify/report.h"

#include <algorithm>
#include <llvm/Support/FormatVariadic.h>
#include <map>

namespace sframe::verify {

namespace {

/// The check (of --check, or what it stands for) that makes findings with this identifier.
std::string_view case_of(Id id) {
  const std::string_view name = check(id).name;
  if (name.starts_with("R4")) return "run";
  switch (name.front()) {
  case 'S': return "structure";
  case 'C': return "cfi";
  case 'P': return "requirements";
  case 'O': return "orc";
  default: return "code";
  }
}

/// Text for an element or attribute. Lines stay apart, which markup_text() does not do: it is for names.
std::string xml_lines(std::string_view text) {
  std::string out;
  for (;;) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += page::markup_text(text.substr(0, end));
    if (end == text.size()) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

class JunitReport final : public FileReport {
public:
  JunitReport(const Context& context, const std::vector<std::string>& checks)
      : FileReport(context), checks_(checks) {}

private:
  struct Case {
    std::uint64_t errors = 0;
    std::string first;            ///< the first error's identifier
    std::string failures, others; ///< lines
  };

  /// Also of findings that --max-findings leaves out: the case has failed.
  void count(const Finding& finding, Severity severity) override {
    Case& one = cases_[std::string(case_of(finding.id))];
    if (severity == Severity::error && one.errors++ == 0) one.first = check(finding.id).name;
  }

  void print(const Finding& finding, Severity severity) override {
    Case& one = cases_[std::string(case_of(finding.id))];
    const Check& kind = check(finding.id);
    std::string line = std::string(severity_name(severity)) + ": " + std::string(kind.name);
    if (finding.at) {
      line += " " + hex(finding.at->pc);
      if (const std::string name = names().describe(*finding.at); !name.empty()) line += " " + name;
      if (const auto source = names().source(*finding.at))
        line += " (" + source->file + ":" + std::to_string(source->line) + ")";
    }
    line += ": " + finding.message + "\n";
    for (const auto& [label, text] : evidence_of(finding))
      line += llvm::formatv("    {0,-7} {1}\n", std::string(label) + ":", text).str();
    (severity == Severity::error ? one.failures : one.others) += line;
  }

  void print_end(const Summary& summary) override {
    std::vector<std::string> names = checks_;
    for (const auto& [name, one] : cases_)
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    const auto failed = static_cast<std::size_t>(
        std::ranges::count_if(cases_, [](const auto& one) { return one.second.errors != 0; }));
    const std::string file = page::markup_text(path());
    std::string out = "  <testsuite name=\"" + file + "\" tests=\"" + std::to_string(names.size()) +
                      "\" failures=\"" + std::to_string(failed) + "\" errors=\"0\" skipped=\"0\">\n";
    for (const std::string& name : names) out += case_text(name, file);
    out += "    <system-out>" + counted(summary.functions, "function") + ": " + with_commas(summary.agree) +
           " agree, " + counted(summary.contradiction, "contradiction") + ", " +
           with_commas(summary.undecided) + " undecided, " + with_commas(summary.unreached) +
           " unreached</system-out>\n  </testsuite>\n";
    channel().text(out);
  }

  std::string case_text(const std::string& name, const std::string& file) {
    const Case& one = cases_[name];
    std::string out = "    <testcase name=\"" + name + "\" classname=\"" + file + "\"";
    if (one.errors == 0 && one.others.empty()) return out + "/>\n";
    out += ">\n";
    if (one.errors) {
      const Check* const first = find_check(one.first);
      out += "      <failure message=\"" + counted(one.errors, "error") + "; " + one.first + " " +
             page::markup_text(first->title) + "\" type=\"" + one.first + "\">" + xml_lines(one.failures) +
             "</failure>\n";
    }
    if (!one.others.empty()) out += "      <system-out>" + xml_lines(one.others) + "</system-out>\n";
    return out + "    </testcase>\n";
  }

  const std::vector<std::string>& checks_;
  std::map<std::string, Case> cases_;
};

/// A suite with one case, which `counter` ("errors", "skipped") counts.
std::string suite_of_one(std::string_view path, std::string_view name, std::string_view counter,
                         std::string_view element) {
  const std::string file = page::markup_text(path);
  std::string out = "  <testsuite name=\"" + file + "\" tests=\"1\" failures=\"0\"";
  for (const std::string_view one : {"errors", "skipped"})
    out.append(" ").append(one).append(one == counter ? "=\"1\"" : "=\"0\"");
  out.append(">\n    <testcase name=\"").append(name).append("\" classname=\"").append(file);
  return out.append("\">\n      ").append(element).append("\n    </testcase>\n  </testsuite>\n");
}

class JunitFormat final : public Format {
public:
  JunitFormat(ReportOptions options, std::vector<std::string> checks)
      : options_(options), checks_(std::move(checks)) {}

  std::string head() const override {
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sframe-verify\">\n";
  }
  /// Files without a section are skipped cases.
  std::string tail(const RunEnd& end) const override {
    std::string out;
    for (const std::string& path : end.totals.missing)
      out += suite_of_one(path, "section", "skipped", "<skipped message=\"no section .sframe\"/>");
    if (end.exit_code != 0 && end.totals.files == 0 && end.totals.not_verified == 0)
      out += suite_of_one("sframe-verify", "files", "errors",
                          "<error message=\"nothing was verified\" type=\"not-verified\"/>");
    return out + "</testsuites>\n";
  }
  void unreadable(const Failure& failure, Channel& channel) const override {
    channel.text(suite_of_one(failure.path, "readable", "errors",
                              "<error message=\"" + page::markup_text(failure.problem.text()) +
                                  "\" type=\"not-verified\"/>"));
  }
  std::unique_ptr<FileReport> file(std::string path, const Input& input, Names& names,
                                   Channel& channel) const override {
    return std::make_unique<JunitReport>(
        FileReport::Context{std::move(path), input, names, channel, options_}, checks_);
  }

private:
  ReportOptions options_;
  std::vector<std::string> checks_;
};

} // namespace

std::unique_ptr<Format> make_junit_format(ReportOptions options, std::vector<std::string> checks) {
  return std::make_unique<JunitFormat>(options, std::move(checks));
}

} // namespace sframe::verify
