// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// {"files":[{"path","findings":[{"id","severity","function","pc","message","sframe","cfi","code"}],
// "summary":{...}}]},
// with further keys "end", "section" and "offset" in findings and "addresses" in the summary. Addresses are
// strings in hexadecimal, offsets and counts are numbers; what a finding does not have is null.

#include "sframe/verify/report.h"

#include <llvm/Support/FormatVariadic.h>
#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

namespace sframe::verify {

namespace {

/// Hands on what JSON writes in large pieces.
class CallbackStream : public llvm::raw_ostream {
public:
  explicit CallbackStream(const std::function<void(std::string_view)>& write) : write_(write) {
    SetBufferSize(1 << 16);
  }
  ~CallbackStream() override { flush(); }

private:
  void write_impl(const char* data, std::size_t size) override {
    at_ += size;
    write_({data, size});
  }
  std::uint64_t current_pos() const override { return at_; }

  const std::function<void(std::string_view)>& write_;
  std::uint64_t at_ = 0;
};

std::string hex(std::uint64_t value) {
  return llvm::formatv("{:x}", value).str();
}

class JsonReport : public Report {
public:
  explicit JsonReport(Options options)
      : Report(std::move(options)), stream_(this->options().write), json_(stream_, 2) {
    json_.objectBegin();
    json_.attributeBegin("files");
    json_.arrayBegin();
  }

  void finish() override {
    json_.arrayEnd();
    json_.attributeEnd();
    json_.objectEnd();
    json_.flush();
    stream_ << '\n';
    stream_.flush();
  }

private:
  void print_begin() override {
    json_.objectBegin();
    text("path", path());
    json_.attributeBegin("findings");
    json_.arrayBegin();
  }

  void print(const Finding& finding, Severity severity) override {
    json_.objectBegin();
    text("id", check(finding.id).name);
    text("severity", severity_name(severity));
    text("function", finding.at ? names().function(*finding.at) : "");
    text("pc", finding.at ? hex(finding.at->pc) : "");
    text("end", finding.at ? hex(finding.end) : "");
    text("message", finding.message);
    text("sframe", finding.sframe);
    text("cfi", finding.cfi);
    text("code", "");
    std::string_view section = finding.table;
    if (finding.at && input().relocatable() && finding.at->section < input().image()->sections().size())
      text("code_section", input().image()->sections()[finding.at->section].name);
    text("section", section);
    if (finding.offset)
      json_.attribute("offset", *finding.offset);
    else
      json_.attribute("offset", nullptr);
    json_.objectEnd();
  }

  void print_end(const Summary& s) override {
    json_.arrayEnd();
    json_.attributeEnd();
    json_.attributeObject("summary", [&] {
      json_.attribute("functions", s.functions);
      json_.attribute("agree", s.agree);
      json_.attribute("contradiction", s.contradiction);
      json_.attribute("undecided", s.undecided);
      json_.attribute("unreached", s.unreached);
      json_.attribute("errors", counts().errors);
      json_.attribute("warnings", counts().warnings);
      json_.attribute("notes", counts().notes);
      json_.attribute("addresses", s.addresses);
      json_.attribute("not_shown", dropped());
    });
    json_.objectEnd();
  }

  void text(llvm::StringRef key, std::string_view value) {
    if (value.empty())
      json_.attribute(key, nullptr);
    else
      json_.attribute(key, llvm::json::fixUTF8(llvm::StringRef(value.data(), value.size())));
  }

  CallbackStream stream_;
  llvm::json::OStream json_;
};

} // namespace

std::unique_ptr<Report> make_json_report(Report::Options options) {
  return std::make_unique<JsonReport>(std::move(options));
}

} // namespace sframe::verify
