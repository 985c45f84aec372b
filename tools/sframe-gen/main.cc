// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sframe-gen: generates SFrame sections. Reads the input, converts, writes, reports; docs/sframe-gen.md.

#include "convert.h"
#include "report.h"

#include <sframe/tool/output_file.h>
#include <sframe/tool/output_lock.h>
#include <sframe/tool/program.h>

#include <unistd.h>

namespace {

using namespace sframe;
using namespace sframe::gen;

/// Prints the report to its destination. Returns the exit code: `code`, or 2.
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
  if (!json && (app.messages().quiet() || summary.failure)) return code; // messages have reported it
  // If the section itself goes to standard output, the report must not.
  tool::Output out(json && line.output != "-" ? STDOUT_FILENO : STDERR_FILENO);
  write(out);
  return app.finish(out, code);
}

int verdict(tool::Messages& messages, const CommandLine& line, const Summary& summary) {
  const generate::Report& report = summary.report;
  int code = report.faults.empty() ? tool::exit_ok : tool::exit_findings;
  if (line.strict && !report.complete()) {
    messages.error(line.input, "not everything could be represented (--strict)");
    code = tool::exit_findings;
  }
  const auto demand = [&](std::optional<double> least, double percent, const char* of_what) {
    if (!least || percent >= *least) return;
    messages.error(line.input, "covers " + percent_text(percent) + " % of " + of_what +
                                   ", less than the required " + percent_text(*least) + " %");
    code = tool::exit_findings;
  };
  if (line.min_coverage && !summary.executable && summary.unconverted.empty()) {
    messages.error(line.input, "--min-coverage needs an ELF file: a raw section has no executable bytes");
    code = tool::exit_findings;
  } else if (summary.executable) {
    demand(line.min_coverage, summary.executable->percent(), "the executable bytes");
  }
  demand(line.min_cfi_coverage, report.pc_bytes.percent(), "the bytes that the input describes");
  return code;
}

int run(tool::App& app, const CommandLine& line) {
  tool::Messages& messages = app.messages();
  const auto fail = [&](const FileProblem& failure) {
    if (failure.problem.what != tool::cut_input) messages.error(failure.file, failure.problem);
    Summary nothing;
    nothing.failure = failure;
    nothing.executable.emplace();
    return write_report(app, line, nothing, tool::exit_failure);
  };
  // Before the input is read: it may be the same file as the output, under this name or another.
  const auto lock = tool::OutputLock::take(line.output);
  if (!lock) return fail({line.output, lock.error()});
  const auto file = elf::File::open(line.input);
  if (!file) return fail({line.input, file.error()});
  Summary summary;
  const auto written = convert(line, *file, messages, summary);
  if (!file->is_intact()) return fail({line.input, {tool::cut_input, {}, {}}});
  if (!written) return fail(written.error());
  if (*written) messages.detail(**written, "written");
  return write_report(app, line, summary, verdict(messages, line, summary));
}

int run_tool(int argc, char** argv) {
  tool::App app = make_app();
  const auto line = parse_command_line(app, argc, argv);
  if (!line) return line.error();
  app.confine({.read = {line->input}, .write = {line->output, line->report_file}});
  return run(app, *line);
}

} // namespace

int main(int argc, char** argv) {
  return sframe::tool::run_program("sframe-gen", argc, argv, run_tool);
}
