// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// {"files":[{"path","findings":[{"id","severity","function","pc","message","sframe","cfi","code"}],
// "summary":{...}}],"result":{...}}, with further keys: docs/json.md. Addresses are hexadecimal strings,
// offsets and counts are numbers; missing values are null.

#include "report_json.h"

#include "sframe/elf/image.h"
#include "sframe/page/page.h"

#include <algorithm>

namespace sframe::verify {

namespace {

constexpr unsigned depth_of_files = 2; ///< {"files":[

void write_coverage(llvm::json::OStream& json, const char* key, const CoveredBytes& bytes) {
  json.attributeObject(key, [&] {
    json.attribute("total", bytes.total);
    json.attribute("covered", bytes.covered);
  });
}

void write_coverage(llvm::json::OStream& json, const RunCoverage& run) {
  json.attributeObject("run", [&] {
    json.attribute("steps", run.steps);
    json.attribute("steps_compared", run.compared);
    json.attribute("functions", run.functions);
    json.attribute("addresses", run.addresses);
    json.attribute("addresses_compared", run.addresses_compared);
    json.attribute("addresses_without_row", run.addresses_without_row);
  });
}

void write_summary(llvm::json::OStream& json, const Summary& s, const Counts& counts, std::uint64_t dropped) {
  json.attributeObject("summary", [&] {
    json.attribute("functions", s.functions);
    json.attribute("agree", s.agree);
    json.attribute("contradiction", s.contradiction);
    json.attribute("contradiction_in_cfi", s.contradiction_in_cfi);
    json.attribute("undecided", s.undecided);
    json.attribute("unreached", s.unreached);
    json.attribute("errors", counts.errors);
    json.attribute("warnings", counts.warnings);
    json.attribute("notes", counts.notes);
    json.attribute("baseline", counts.known);
    json.attribute("addresses", s.addresses);
    write_coverage(json, "executable_bytes", s.coverage.executable);
    write_coverage(json, "pc_bytes", s.coverage.described);
    json.attribute("not_shown", dropped);
    if (s.run) write_coverage(json, *s.run);
  });
}

void write_result(JsonPieces& pieces, const RunEnd& end) {
  llvm::json::OStream& json = pieces.json();
  const Totals& totals = end.totals;
  json.object([&] {
    json.attribute("passed", end.exit_code == 0);
    json.attribute("exit_code", end.exit_code);
    json.attribute("files", totals.files);
    json.attribute("not_verified", totals.not_verified);
    json.attribute("functions", totals.functions);
    json.attribute("errors", totals.errors);
    json.attribute("warnings", totals.warnings);
    json.attribute("notes", totals.notes);
    json.attributeBegin("missing");
    json.array([&] {
      for (const std::string& path : totals.missing) pieces.value(path);
    });
    json.attributeEnd();
  });
}

} // namespace

JsonReport::JsonReport(const Context& context, bool in_page)
    : FileReport(context), in_page_(in_page), pieces_(depth_of_files) {
  json_.objectBegin();
  pieces_.text("path", path());
  if (const elf::Image* const image = input().image(); image && !image->build_id().empty())
    pieces_.text("build_id", elf::to_hex(image->build_id()));
  json_.attributeBegin("findings");
  json_.arrayBegin();
  channel().begin_element();
  write();
}

void JsonReport::write() {
  const std::string text = pieces_.take();
  channel().text(in_page_ ? page::script_json(text) : text);
}

void JsonReport::print(const Finding& finding, Severity severity) {
  json_.objectBegin();
  pieces_.text("id", check(finding.id).name);
  pieces_.text("severity", severity_name(severity));
  pieces_.text("function", finding.at ? names().function(*finding.at) : "");
  pieces_.text("pc", finding.at ? hex(finding.at->pc) : "");
  pieces_.text("end", finding.at ? hex(finding.end) : "");
  pieces_.text("message", finding.message);
  pieces_.text("sframe", finding.sframe);
  pieces_.text("cfi", finding.cfi);
  pieces_.text("code", finding.code);
  if (!finding.orc.empty()) pieces_.text("orc", finding.orc);
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
  add_to_finding(finding);
  json_.objectEnd();
  write();
}

void JsonReport::print_end(const Summary& summary) {
  json_.arrayEnd();
  json_.attributeEnd();
  write_summary(json_, summary, counts(), dropped());
  add_to_file();
  json_.objectEnd();
  write();
}

std::string json_head() {
  return "{\n  \"files\": [";
}

std::string json_tail(const RunEnd& end) {
  std::string text = "\n  ]";
  if (end.run) {
    JsonPieces pieces(depth_of_files - 1);
    pieces.json().objectBegin();
    write_run(pieces, *end.run);
    pieces.json().objectEnd();
    const std::string run = pieces.take();
    text += ",\n  \"run\": " + run.substr(run.find('{'));
  }
  JsonPieces pieces(depth_of_files - 1);
  write_result(pieces, end);
  const std::string result = pieces.take();
  return text + ",\n  \"result\": " + result.substr(result.find('{'));
}

/// All keys are present, so that scripts need not check.
std::string json_unreadable(const Failure& failure) {
  JsonPieces pieces(depth_of_files);
  llvm::json::OStream& json = pieces.json();
  json.object([&] {
    pieces.text("path", failure.path);
    json.attributeObject("error", [&] {
      pieces.text("message", failure.problem.what);
      if (!failure.problem.section.empty()) pieces.text("section", failure.problem.section);
      if (failure.problem.offset) json.attribute("offset", *failure.problem.offset);
    });
    json.attributeArray("findings", [] {});
    write_summary(json, {}, {}, 0);
  });
  return pieces.take();
}

namespace {

class JsonFormat : public Format {
public:
  explicit JsonFormat(ReportOptions options) : options_(options) {}

  std::string head() const override { return json_head(); }
  std::string tail(const RunEnd& end) const override { return json_tail(end) + "\n}\n"; }
  void unreadable(const Failure& failure, Channel& channel) const override {
    channel.begin_element();
    channel.text(json_unreadable(failure));
  }
  std::unique_ptr<FileReport> file(std::string path, const Input& input, Names& names,
                                   Channel& channel) const override {
    return std::make_unique<JsonReport>(
        FileReport::Context{std::move(path), input, names, channel, options_});
  }

private:
  ReportOptions options_;
};

} // namespace

void write_run(JsonPieces& pieces, const RunSummary& run) {
  llvm::json::OStream& json = pieces.json();
  const auto counts = [&](const char* key, const auto& of) {
    json.attributeObject(key, [&] {
      for (const auto& [what, count] : of) {
        std::string name(what);
        std::ranges::replace(name, ' ', '_');
        json.attribute(name, count);
      }
    });
  };
  json.attributeBegin("command");
  json.array([&] {
    for (const std::string& argument : run.command) pieces.value(argument);
  });
  json.attributeEnd();
  pieces.text("end", run.end);
  json.attribute("limited", run.limited);
  json.attribute("steps", run.steps);
  json.attribute("steps_compared", run.compared);
  json.attribute("steps_elsewhere", run.elsewhere);
  json.attribute("steps_without_row", run.no_row);
  counts("not_followed", run.not_followed);
  counts("events", run.events);
}

std::unique_ptr<Format> make_json_format(ReportOptions options) {
  return std::make_unique<JsonFormat>(options);
}

} // namespace sframe::verify
