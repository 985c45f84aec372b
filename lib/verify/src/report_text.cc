// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/base/printable.h"
#include "sframe/base/problem.h"
#include "sframe/verify/report.h"

#include <llvm/Support/FormatVariadic.h>

namespace sframe::verify {

namespace {

class TextReport : public FileReport {
public:
  explicit TextReport(const Context& context) : FileReport(context) {}

private:
  void print(const Finding& finding, Severity severity) override {
    const char* const color = severity == Severity::error     ? "31"
                              : severity == Severity::warning ? "35"
                                                              : "36";
    std::string line = ": ";
    line.append(check(finding.id).name).append(" ");
    if (finding.at) append_place(line, finding);
    line += finding.message;
    if (finding.offset)
      line.append(" (offset ").append(hex(*finding.offset)).append(", section ").append(finding.table) += ')';
    channel().text(printable(path()) + ": " + painted(severity_name(severity), color) + printable(line) +
                   "\n");
    write_side("At:    ", finding.instruction);
    write_side("SFrame:", finding.sframe);
    write_side("CFI:   ", finding.cfi);
    write_side("Code:  ", finding.code);
  }

  void append_place(std::string& line, const Finding& finding) {
    const Location& at = *finding.at;
    if (const std::string_view section = code_section(at); !section.empty()) line.append(section).append("+");
    line += hex(at.pc);
    if (finding.end > at.pc + 1) line.append("-").append(hex(finding.end - 1));
    if (const std::string name = names().describe(at); !name.empty()) line.append(" ").append(name);
    if (const auto source = names().source(at))
      line += llvm::formatv(" ({}:{})", source->file, source->line).str();
    line += ": ";
  }

  void write_side(const char* label, const std::string& text) {
    if (!text.empty()) write(std::string("    ").append(label).append(" ").append(text));
  }

  void print_end(const Summary& s) override {
    if (dropped()) write(llvm::formatv("{}: {} more findings not shown", path(), dropped()).str());
    // Explains contradictions that do not affect exit code and severities.
    const std::string in_cfi =
        s.contradiction_in_cfi ? llvm::formatv(" ({} of them also in the CFI)", s.contradiction_in_cfi).str()
                               : "";
    std::string line =
        llvm::formatv("{}: {} functions: {} agree, {} contradiction{}, {} undecided, {} unreached; {} "
                      "errors, {} warnings, {} notes; ",
                      path(), s.functions, s.agree, s.contradiction, in_cfi, s.undecided, s.unreached,
                      counts().errors, counts().warnings, counts().notes)
            .str();
    if (options().baseline) line += llvm::formatv("{} in the baseline; ", counts().known).str();
    write(line + llvm::formatv("{} addresses compared", s.addresses).str());
    if (!s.run) return;
    const RunCoverage& r = *s.run;
    write(llvm::formatv("{}: run: {} of {} functions reached; {} of {} executed instructions compared, {} "
                        "without a row; {} of {} steps compared",
                        path(), r.functions, s.functions, r.addresses_compared, r.addresses,
                        r.addresses_without_row, r.compared, r.steps)
              .str());
  }

  std::string painted(std::string_view text, std::string_view code) const {
    return options().color ? llvm::formatv("\x1b[1;{}m{}\x1b[0m", code, text).str() : std::string(text);
  }

  /// Names come from the file: control characters must not reach the terminal.
  void write(std::string_view line) { channel().text(printable(line) + "\n"); }
};

class TextFormat : public Format {
public:
  explicit TextFormat(ReportOptions options) : options_(options) {}

  std::unique_ptr<FileReport> file(std::string path, const Input& input, Names& names,
                                   Channel& channel) const override {
    return std::make_unique<TextReport>(
        FileReport::Context{std::move(path), input, names, channel, options_});
  }

  std::string tail(const RunEnd& end) const override {
    if (!end.run) return {};
    const RunSummary& run = *end.run;
    std::string text =
        llvm::formatv("{}: {}{}; {} steps: {} compared, {} in other code, {} without a row",
                      run.command.front(), run.end, run.limited ? ", not followed to the end" : "", run.steps,
                      run.compared, run.elsewhere, run.no_row)
            .str();
    const auto add = [&](const auto& counts) {
      for (const auto& [what, count] : counts)
        if (count) text += llvm::formatv(", {} {}", count, what).str();
    };
    add(run.not_followed);
    text += "; ";
    std::string events;
    for (const auto& [what, count] : run.events)
      if (count) events += llvm::formatv("{}{} {}", events.empty() ? "" : ", ", count, what).str();
    return printable(text + events) + "\n";
  }

private:
  ReportOptions options_;
};

} // namespace

std::unique_ptr<Format> make_text_format(ReportOptions options) {
  return std::make_unique<TextFormat>(options);
}

} // namespace sframe::verify
