// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sframe-gen: generates SFrame sections. Reads the input, converts, writes, reports; docs/sframe-gen.md.

#include "convert.h"
#include "finish.h"
#include "report.h"
#include "tree.h"

#include <sframe/code/disassembly.h>
#include <sframe/tool/debug_files.h>
#include <sframe/tool/output_lock.h>
#include <sframe/tool/program.h>

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace {

using namespace sframe;
using namespace sframe::gen;

/// Prints the report to its destination. Returns the exit code: `code`, or 2.
int write_report(tool::App& app, const CommandLine& line, const Summary& summary, int code) {
  if (!wants_report(app.messages(), line)) return code;
  const bool json = line.report == ReportFormat::json;
  if (line.report_file.empty() && !json && summary.failure) return code; // messages have reported it
  // If the section itself goes to standard output, the report must not.
  return deliver_report(
      app, line, json && line.output != "-" ? STDOUT_FILENO : STDERR_FILENO, code,
      [&](tool::Output& out) { (json ? write_json_report : write_text_report)(line, summary, out); });
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
  tool::Progress progress(messages, 1, "files");
  progress.expect(progress.size_of(line.input));
  tool::Progress::Item item(progress, progress.size_of(line.input));
  const auto file = elf::File::open(line.input);
  if (!file) return fail({line.input, file.error()});
  Summary summary;
  const auto written = convert(line, *file, messages, summary, item);
  if (!file->is_intact()) return fail({line.input, {tool::cut_input, {}, {}}});
  if (!written) return fail(written.error());
  if (*written) messages.detail((*written)->path, "written");
  const int completeness = completeness_code(messages, line, line.input, summary);
  return write_report(app, line, summary,
                      std::max(completeness, coverage_code(messages, line, line.input, summary)));
}

int run_tool(int argc, char** argv) {
  tool::App app = make_app();
  auto line = parse_command_line(app, argc, argv);
  if (!line) return line.error();
  tool::start_server(line->debug_files, app.messages());
  if (line->tree) return run_tree(app, *line);
  tool::SandboxNeeds needs{.read = {line->input, line->debug, code::disassembler_library()},
                           .write = {line->report_file, line->full_cfi}};
  for (std::string& place : tool::debug_file_places({{line->input}}, line->debug_files.files))
    needs.read.push_back(std::move(place));
  if (goes_by_build_id(line->emit) && names_folder(line->output)) needs.write_below.push_back(line->output);
  app.confine(std::move(needs));
  return run(app, *line);
}

} // namespace

int main(int argc, char** argv) {
  return sframe::tool::run_program("sframe-gen", argc, argv, run_tool);
}
