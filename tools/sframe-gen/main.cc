// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sframe-gen: makes SFrame sections. Reads the input, converts, writes, reports; docs/sframe-gen.md.

#include "convert.h"
#include "report.h"

#include <sframe/tool/output_file.h>

#include <unistd.h>

namespace {

using namespace sframe;
using namespace sframe::gen;

/// Prints the report where it is to go. The exit code: `code`, or 2.
int write_report(tool::App& app, const CommandLine& line, const Summary& summary, int code) {
  if (line.report == ReportFormat::none) return code;
  const bool json = line.report == ReportFormat::json;
  const auto write = [&](tool::Output& out) {
    (json ? write_json_report : write_text_report)(line, summary, out);
  };
  if (!line.report_file.empty()) {
    tool::Output out(-1);
    write(out);
    const auto written = tool::write_file(line.report_file, out.text());
    if (written) return code;
    app.messages().error(line.report_file, written.error());
    return tool::exit_failure;
  }
  if (!json && app.messages().quiet()) return code;
  // Where the section itself goes to standard output, the report must not.
  tool::Output out(json && line.output != "-" ? STDOUT_FILENO : STDERR_FILENO);
  write(out);
  return app.finish(out, code);
}

int verdict(tool::Messages& messages, const CommandLine& line, const conversion::Report& report) {
  int code = report.faults.empty() ? tool::exit_ok : tool::exit_findings;
  if (line.strict && !report.complete()) {
    messages.error(line.input, "not everything could be represented");
    code = tool::exit_findings;
  }
  if (line.min_coverage && report.coverage() < *line.min_coverage) {
    messages.error(line.input, "coverage is below --min-coverage");
    code = tool::exit_findings;
  }
  return code;
}

int run(tool::App& app, const CommandLine& line) {
  tool::Messages& messages = app.messages();
  const auto fail = [&](const std::string& file, const elf::Problem& problem) {
    messages.error(file, problem);
    return tool::exit_failure;
  };
  const auto file = elf::File::open(line.input);
  if (!file) return fail(line.input, file.error());
  Summary summary;
  const auto written = convert(line, *file, messages, summary);
  if (!written) return fail(written.error().file, written.error().problem);
  messages.detail(*written, "written");
  return write_report(app, line, summary, verdict(messages, line, summary.report));
}

} // namespace

int main(int argc, char** argv) {
  tool::App app = make_app();
  const auto line = parse_command_line(app, argc, argv);
  return line ? run(app, *line) : line.error();
}
