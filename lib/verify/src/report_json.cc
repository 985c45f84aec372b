// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// {"files":[{"path","findings":[{"id","severity","function","pc","message","sframe","cfi","code"}],
// "summary":{...}}]},
// with further keys: docs/sframe-verify.md. Addresses are strings in hexadecimal, offsets and counts are
// numbers; what a finding does not have is null.

#include "json_pieces.h"
#include "sframe/verify/report.h"

namespace sframe::verify {

namespace {

constexpr unsigned depth_of_files = 2; ///< {"files":[

class JsonReport : public FileReport {
public:
  explicit JsonReport(const Context& context) : FileReport(context), pieces_(depth_of_files) {
    json_.objectBegin();
    pieces_.text("path", path());
    json_.attributeBegin("findings");
    json_.arrayBegin();
    channel().begin_element();
    channel().text(pieces_.take());
  }

private:
  void print(const Finding& finding, Severity severity) override {
    json_.objectBegin();
    pieces_.text("id", check(finding.id).name);
    pieces_.text("severity", severity_name(severity));
    pieces_.text("function", finding.at ? names().function(*finding.at) : "");
    pieces_.text("pc", finding.at ? elf::hex(finding.at->pc) : "");
    pieces_.text("end", finding.at ? elf::hex(finding.end) : "");
    pieces_.text("message", finding.message);
    pieces_.text("sframe", finding.sframe);
    pieces_.text("cfi", finding.cfi);
    pieces_.text("code", finding.code);
    if (!finding.instruction.empty()) pieces_.text("instruction", finding.instruction);
    if (finding.compiler) json_.attribute("in_cfi", true);
    if (const auto source = finding.at ? names().source(*finding.at) : std::nullopt) {
      pieces_.text("file", source->file);
      json_.attribute("line", source->line);
    }
    if (finding.at && input().relocatable()) pieces_.text("code_section", code_section(*finding.at));
    pieces_.text("section", finding.table);
    if (finding.offset)
      json_.attribute("offset", *finding.offset);
    else
      json_.attribute("offset", nullptr);
    json_.objectEnd();
    channel().text(pieces_.take());
  }

  void print_end(const Summary& s) override {
    json_.arrayEnd();
    json_.attributeEnd();
    json_.attributeObject("summary", [&] {
      json_.attribute("functions", s.functions);
      json_.attribute("agree", s.agree);
      json_.attribute("contradiction", s.contradiction);
      json_.attribute("contradiction_in_cfi", s.contradiction_in_cfi);
      json_.attribute("undecided", s.undecided);
      json_.attribute("unreached", s.unreached);
      json_.attribute("errors", counts().errors);
      json_.attribute("warnings", counts().warnings);
      json_.attribute("notes", counts().notes);
      json_.attribute("baseline", counts().known);
      json_.attribute("addresses", s.addresses);
      json_.attribute("not_shown", dropped());
    });
    json_.objectEnd();
    channel().text(pieces_.take());
  }

  JsonPieces pieces_;
  llvm::json::OStream& json_ = pieces_.json();
};

class JsonFormat : public Format {
public:
  explicit JsonFormat(ReportOptions options) : options_(std::move(options)) {}

  std::string head() const override { return "{\n  \"files\": ["; }
  std::string tail() const override { return "\n  ]\n}\n"; }
  std::unique_ptr<FileReport> file(std::string path, const Input& input, Names& names,
                                   Channel& channel) const override {
    return std::make_unique<JsonReport>(
        FileReport::Context{std::move(path), input, names, channel, options_});
  }

private:
  ReportOptions options_;
};

} // namespace

std::unique_ptr<Format> make_json_format(ReportOptions options) {
  return std::make_unique<JsonFormat>(std::move(options));
}

} // namespace sframe::verify
