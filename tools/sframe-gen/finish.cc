// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "finish.h"

#include <sframe/tool/output_file.h>

#include <unistd.h>

namespace sframe::gen {

int completeness_code(tool::MessageSink& messages, const CommandLine& line, const std::string& file,
                      const Summary& summary) {
  const generate::Report& report = summary.report;
  if (summary.limit) messages.error(file, *summary.limit);
  if (summary.limit && !line.strict) return tool::exit_findings;
  if (!line.strict || report.complete()) return report.faults.empty() ? tool::exit_ok : tool::exit_findings;
  messages.error(file, "some rows or functions were left out (--strict)");
  return tool::exit_findings;
}

int coverage_code(tool::MessageSink& messages, const CommandLine& line, const std::string& file,
                  const Summary& summary) {
  int code = tool::exit_ok;
  const auto demand = [&](std::optional<double> least, double percent, const char* of_what) {
    if (!least || percent >= *least) return;
    messages.error(file, "covers " + percent_text(percent) + " % of " + of_what +
                             ", less than the required " + percent_text(*least) + " %");
    code = tool::exit_findings;
  };
  if (line.coverage.executable && !summary.executable && summary.unconverted.empty()) {
    messages.error(file, "--min-coverage needs an ELF file: a raw section has no executable bytes");
    code = tool::exit_findings;
  } else if (summary.executable) {
    demand(line.coverage.executable, summary.executable->percent(), "the executable bytes");
  }
  demand(line.coverage.described, summary.report.pc_bytes.percent(), "the bytes that the input describes");
  return code;
}

bool wants_report(const tool::Messages& messages, const CommandLine& line) {
  if (line.report == ReportFormat::none) return false;
  return line.report == ReportFormat::json || !line.report_file.empty() || !messages.quiet();
}

int deliver_report(tool::App& app, const CommandLine& line, int descriptor, int code,
                   const std::function<void(tool::Output&)>& write) {
  if (line.report_file.empty()) {
    tool::Output out(descriptor);
    if (::isatty(descriptor) == 1) out.set_status(app.messages().status());
    write(out);
    out.flush();
    // A summary is for people, as messages are: a program that did its work has not failed because nobody can
    // read it. What was asked for as JSON is a result.
    if (out.failed() && descriptor == STDERR_FILENO && line.report == ReportFormat::text) return code;
    return app.finish(out, code);
  }
  tool::Output out(-1);
  write(out);
  if (const auto written = tool::write_file(line.report_file, out.text()); !written) {
    app.messages().error(line.report_file, written.error());
    return tool::exit_failure;
  }
  return code;
}

} // namespace sframe::gen
