// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands of GitHub's workflows ("Workflow commands", Setting an error message), which are lines of a step's
// output:
//
//    ::error file=src/f.s,line=12,title=C102 CFA offset differs::app 0x4f0 f+0x4: CFA is sp+16 in SFrame...
//
// In a message %, CR and LF are percent-encoded, in a property also the colon and the comma. Other lines are
// text: the last one has the totals.

#include "sframe/base/printable.h"
#include "sframe/verify/report.h"

namespace sframe::verify {

namespace {

/// `also`: characters that are encoded besides %.
std::string encoded(std::string_view text, std::string_view also) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (c != '%' && also.find(c) == std::string_view::npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return out;
}

/// Text from a file has no line ends after printable(); those that are left are ours.
std::string message_text(std::string_view text) {
  return encoded(text, "\r\n");
}

std::string property_text(std::string_view text) {
  return encoded(printable(text), "\r\n:,");
}

std::string command(Severity severity, std::string_view properties, std::string_view message) {
  std::string line = severity == Severity::error     ? "::error"
                     : severity == Severity::warning ? "::warning"
                                                     : "::notice";
  line.append(" ").append(properties).append("::").append(message_text(message));
  return line + "\n";
}

class GithubReport final : public FileReport {
public:
  explicit GithubReport(const Context& context) : FileReport(context) {}

private:
  void print(const Finding& finding, Severity severity) override {
    const auto source = finding.at ? names().source(*finding.at) : std::nullopt;
    std::string properties = "file=" + property_text(source ? source->file : path());
    if (source) properties += ",line=" + std::to_string(source->line);
    const Check& kind = check(finding.id);
    properties += ",title=" + property_text(std::string(kind.name).append(" ").append(kind.title));
    std::string message = printable(path());
    if (finding.at) message += " " + place(*finding.at);
    message += ": " + printable(finding.message);
    for (const auto& [label, text] : evidence_of(finding))
      message.append("\n").append(label).append(": ").append(printable(text));
    channel().text(command(severity, properties, message));
  }

  void print_end(const Summary&) override {}

  std::string place(const Location& at) {
    std::string text = hex(at.pc);
    if (const std::string_view section = code_section(at); !section.empty())
      text = printable(section) + "+" + text;
    if (const std::string name = names().describe(at); !name.empty()) text += " " + printable(name);
    return text;
  }
};

class GithubFormat final : public Format {
public:
  explicit GithubFormat(ReportOptions options) : options_(options) {}

  void unreadable(const Failure& failure, Channel& channel) const override {
    channel.text(command(Severity::error, "file=" + property_text(failure.path) + ",title=Not verified",
                         printable(failure.problem.text())));
  }
  std::string tail(const RunEnd& end) const override {
    return std::string(result_name(end.exit_code)) + ": " + totals_text(end.totals) + "\n";
  }
  std::unique_ptr<FileReport> file(std::string path, const Input& input, Names& names,
                                   Channel& channel) const override {
    return std::make_unique<GithubReport>(
        FileReport::Context{std::move(path), input, names, channel, options_});
  }

private:
  ReportOptions options_;
};

} // namespace

std::unique_ptr<Format> make_github_format(ReportOptions options) {
  return std::make_unique<GithubFormat>(options);
}

} // namespace sframe::verify
