// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text: findings as compilers print theirs, a summary for each file, and the last line, PASSED or FAILED.

#include "sframe/base/printable.h"
#include "sframe/base/problem.h"
#include "sframe/base/text.h"
#include "sframe/verify/report.h"

#include <llvm/Support/FormatVariadic.h>

namespace sframe::verify {

namespace {

std::string painted_text(std::string_view text, std::string_view code) {
  return llvm::formatv("\x1b[1;{}m{}\x1b[0m", code, text).str();
}

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
    for (const auto& [label, text] : evidence_of(finding))
      write(llvm::formatv("    {0,-7} {1}", std::string(label) + ":", text).str());
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

  void print_end(const Summary& s) override {
    if (dropped()) write(llvm::formatv("{}: {} not shown", path(), counted(dropped(), "more finding")).str());
    if (!options().summaries) return;
    // Explains contradictions that do not affect exit code and severities.
    const std::string in_cfi =
        s.contradiction_in_cfi
            ? llvm::formatv(" ({} of them also in the CFI)", with_commas(s.contradiction_in_cfi)).str()
            : "";
    std::string line =
        llvm::formatv("{}: {}: {} agree, {}{}, {} undecided, {} unreached; {}, {}, {}; ", path(),
                      counted(s.functions, "function"), with_commas(s.agree),
                      counted(s.contradiction, "contradiction"), in_cfi, with_commas(s.undecided),
                      with_commas(s.unreached), counted(counts().errors, "error"),
                      counted(counts().warnings, "warning"), counted(counts().notes, "note"))
            .str();
    if (options().baseline) line += llvm::formatv("{} in the baseline; ", with_commas(counts().known)).str();
    write(line + addresses_text(s.addresses));
    if (!s.run) return;
    const RunCoverage& r = *s.run;
    write(llvm::formatv("{}: run: {} of {} reached; {} of {} compared, {} without a row; {} of {} compared",
                        path(), with_commas(r.functions), counted(s.functions, "function"),
                        with_commas(r.addresses_compared), counted(r.addresses, "executed instruction"),
                        with_commas(r.addresses_without_row), with_commas(r.compared),
                        counted(r.steps, "step"))
              .str());
  }

  static std::string addresses_text(std::uint64_t number) {
    return with_commas(number) + (number == 1 ? " address compared" : " addresses compared");
  }

  std::string painted(std::string_view text, std::string_view code) const {
    return options().color ? painted_text(text, code) : std::string(text);
  }

  /// Names come from the file: control characters must not reach the terminal.
  void write(std::string_view line) { channel().text(printable(line) + "\n"); }
};

/// The name of an event for one of them: "threads not followed" happened once to a "thread not followed".
std::string event_text(std::uint64_t count, std::string_view plural) {
  constexpr std::pair<std::string_view, std::string_view> words[] = {
      {"processes", "process"}, {"switches", "switch"}, {"threads", "thread"}, {"programs", "program"},
      {"handlers", "handler"},  {"signals", "signal"},  {"frames", "frame"}};
  std::string text(plural);
  for (const auto& [many, one] : words) {
    const std::size_t at = count == 1 ? text.find(many) : std::string::npos;
    if (at == std::string::npos) continue;
    text.replace(at, many.size(), one);
    break;
  }
  return with_commas(count) + " " + text;
}

std::string run_text(const RunSummary& run) {
  std::string text =
      llvm::formatv("{}: {}{}; {}: {} compared, {} in other code, {} without a row", run.command.front(),
                    run.end, run.limited ? ", not followed to the end" : "", counted(run.steps, "step"),
                    with_commas(run.compared), with_commas(run.elsewhere), with_commas(run.no_row))
          .str();
  for (const auto& [what, count] : run.not_followed)
    if (count) text += llvm::formatv(", {} {}", with_commas(count), what).str();
  text += "; ";
  std::string events;
  for (const auto& [what, count] : run.events)
    if (count) events += (events.empty() ? "" : ", ") + event_text(count, what);
  return printable(text + events) + "\n";
}

class TextFormat : public Format {
public:
  explicit TextFormat(ReportOptions options) : options_(options) {}

  std::unique_ptr<FileReport> file(std::string path, const Input& input, Names& names,
                                   Channel& channel) const override {
    return std::make_unique<TextReport>(
        FileReport::Context{std::move(path), input, names, channel, options_});
  }

  std::string tail(const RunEnd& end) const override {
    std::string text = end.run ? run_text(*end.run) : std::string();
    const bool passed = end.exit_code == 0;
    const std::string_view result = result_name(end.exit_code);
    text += options_.color ? painted_text(result, passed ? "32" : "31") : std::string(result);
    text += ": " + totals_text(end.totals);
    if (end.totals.hidden_notes && options_.summaries)
      text += "; " + counted(end.totals.hidden_notes, "note") + " not shown (-v)";
    return text + "\n";
  }

private:
  ReportOptions options_;
};

} // namespace

std::unique_ptr<Format> make_text_format(ReportOptions options) {
  return std::make_unique<TextFormat>(options);
}

} // namespace sframe::verify
