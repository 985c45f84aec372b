// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sframe-gen: makes SFrame sections. Reads the input, converts, writes, reports; docs/sframe-gen.md.

#include "emit.h"
#include "report.h"

#include <sframe/tool/output_file.h>

#include <algorithm>
#include <unistd.h>

namespace {

using namespace sframe;
using namespace sframe::gen;

constexpr std::size_t max_faults_told = 10;

void tell_faults(tool::Messages& messages, const std::string& file, const conversion::Report& report) {
  const std::size_t told = std::min(report.faults.size(), max_faults_told);
  for (const conversion::Fault& fault : std::span(report.faults).first(told))
    messages.warning(
        file, elf::Problem{cfi::message(fault.error.kind), std::string(fault.section), fault.error.offset});
  if (told < report.faults.size())
    messages.warning(file, std::to_string(report.faults.size() - told) + " more entries that cannot be read");
}

/// Prints the report where it is to go. The exit code: `code`, or 2.
int write_report(tool::App& app, const CommandLine& line, const Input& input, const Generated& generated,
                 int code) {
  if (line.report == ReportFormat::none) return code;
  const bool json = line.report == ReportFormat::json;
  const auto write = [&](tool::Output& out) {
    (json ? write_json_report : write_text_report)(line, input, generated, out);
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
  const auto input = open_input(line);
  if (!input) return fail(line.input, input.error());
  if (input->image)
    for (const elf::Problem& problem : input->image->problems()) messages.warning(line.input, problem);
  const auto generated = generate(line, *input);
  if (!generated) return fail(line.input, generated.error());
  tell_faults(messages, line.input, generated->report);
  const auto written = emit(line, *input, *generated);
  if (!written) return fail(written.error().file, written.error().problem);
  messages.detail(*written, "written");
  return write_report(app, line, *input, *generated, verdict(messages, line, generated->report));
}

} // namespace

int main(int argc, char** argv) {
  tool::App app = make_app();
  const auto line = parse_command_line(app, argc, argv);
  return line ? run(app, *line) : line.error();
}
