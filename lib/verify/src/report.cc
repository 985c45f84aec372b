// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/verify/report.h"

#include <llvm/Support/FormatVariadic.h>

namespace sframe::verify {

std::optional<elf::SymbolTable::Match> Names::find(const Location& at) {
  if (!table_) {
    table_.emplace();
    for (const elf::Image* image : images_) {
      if (!table_->symbols().empty()) break;
      table_ = elf::SymbolTable::load(*image);
    }
  }
  return table_->find(at.section, at.pc);
}

std::string Names::function(const Location& at) {
  const auto match = find(at);
  return match ? elf::demangle(match->symbol->name) : std::string();
}

std::string Names::describe(const Location& at) {
  const auto match = find(at);
  if (!match) return {};
  std::string out = elf::demangle(match->symbol->name);
  if (match->offset) out += llvm::formatv("+{:x}", match->offset).str();
  return out;
}

void Report::begin_file(std::string_view path, const Input& input, Names& names) {
  path_ = path;
  input_ = &input;
  names_ = &names;
  counts_ = {};
  printed_ = dropped_ = 0;
  print_begin();
}

void Report::add(Finding finding) {
  const auto severity = options_.policy.severity(finding.id);
  if (!severity) return;
  for (Counts* counts : {&counts_, &total_})
    ++(*severity == Severity::error     ? counts->errors
       : *severity == Severity::warning ? counts->warnings
                                        : counts->notes);
  if (options_.errors_only && *severity != Severity::error) return;
  if (printed_ >= options_.max_findings) {
    ++dropped_;
    return;
  }
  ++printed_;
  print(finding, *severity);
}

void Report::end_file(const Summary& summary) {
  print_end(summary);
}

namespace {

class TextReport : public Report {
public:
  explicit TextReport(Options options) : Report(std::move(options)) {}

private:
  void print_begin() override {}

  void print(const Finding& finding, Severity severity) override {
    std::string line(path());
    line += ": ";
    line += painted(severity_name(severity), severity == Severity::error     ? "31"
                                             : severity == Severity::warning ? "35"
                                                                             : "36");
    line += llvm::formatv(": {} ", check(finding.id).name).str();
    if (finding.at) append_place(line, finding);
    line += finding.message;
    if (finding.offset)
      line += llvm::formatv(" (offset {:x}, section {})", *finding.offset, finding.table).str();
    write(line);
    if (!finding.sframe.empty()) write("    SFrame: " + finding.sframe);
    if (!finding.cfi.empty()) write("    CFI:    " + finding.cfi);
  }

  void append_place(std::string& line, const Finding& finding) {
    const Location& at = *finding.at;
    if (input().relocatable() && at.section < input().image()->sections().size())
      line += llvm::formatv("{}+", input().image()->sections()[at.section].name).str();
    line += llvm::formatv("{:x}", at.pc).str();
    if (finding.end > at.pc + 1) line += llvm::formatv("-{:x}", finding.end - 1).str();
    if (const std::string name = names().describe(at); !name.empty()) line += " " + name;
    line += ": ";
  }

  void print_end(const Summary& s) override {
    if (dropped()) write(llvm::formatv("{}: {} more findings not shown", path(), dropped()).str());
    write(llvm::formatv("{}: {} functions: {} agree, {} contradiction, {} undecided, {} unreached; {} "
                        "errors, {} warnings, {} notes; "
                        "{} addresses compared",
                        path(), s.functions, s.agree, s.contradiction, s.undecided, s.unreached,
                        counts().errors, counts().warnings, counts().notes, s.addresses)
              .str());
  }

  std::string painted(std::string_view text, std::string_view code) const {
    return options().color ? llvm::formatv("\x1b[1;{}m{}\x1b[0m", code, text).str() : std::string(text);
  }

  /// Names come from the file: nothing in them may steer the terminal.
  void write(std::string_view line) {
    constexpr char digits[] = "0123456789abcdef";
    std::string out;
    out.reserve(line.size() + 1);
    for (const char c : line) {
      const auto byte = static_cast<unsigned char>(c);
      const bool ours = byte == 0x1b && options().color;
      if ((byte < 0x20 || byte == 0x7f) && !ours)
        out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
      else
        out += c;
    }
    out += '\n';
    options().write(out);
  }
};

} // namespace

std::unique_ptr<Report> make_text_report(Report::Options options) {
  return std::make_unique<TextReport>(std::move(options));
}

} // namespace sframe::verify
