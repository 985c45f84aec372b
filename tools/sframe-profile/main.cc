// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sframe-profile: records stacks of running programs, or reads a recording of perf, and writes profiles.

#include "options.h"
#include "output.h"
#include "reader.h"

#include <sframe/tool/network_files.h>
#include <sframe/tool/output.h>
#include <sframe/tool/output_file.h>
#include <sframe/tool/program.h>

#include <string>
#include <vector>

namespace {

namespace tool = sframe::tool;
using namespace sframe::profile_tool;

constexpr const char* examples =
    R"(  sframe-profile -a -d 10 -o machine.svg            a flame graph of the whole machine
  sframe-profile -p 4711 -o server.pb.gz            a process, until Ctrl-C; for go tool pprof
  sframe-profile -o a.html -- ./a.out 1 2           a program, until it ends; a page
  sframe-profile -a -e off-cpu -d 10 -o wait.svg    where threads wait
  sframe-profile perf.data -o perf.svg              a recording of perf
  sframe-profile perf.data --format=perf            the text of perf script
)";

/// Names are looked up in the sandbox, as far as files of other processes permit one.
int run_recorder(tool::App& app, Options& options) {
  if (const auto writable = tool::check_target(app.output_path()); !writable) {
    app.messages().error(app.output_path(), writable.error());
    return tool::exit_failure;
  }
  const auto recording = record(options.record, app.messages());
  if (!recording) {
    app.messages().error({}, recording.error());
    return tool::exit_failure;
  }
  app.confine({.read = {"/"}, .traces = true});
  return app.run_with_output(
      {}, [&](tool::Output& out) { return write_profile(app, options, *recording, true, out); });
}

/// A recording of perf. What it names may be anywhere.
int run_reader(tool::App& app, Options& options) {
  app.confine({.read = {"/"}});
  const std::vector<std::string> inputs = {options.file};
  return app.run_with_output(inputs, [&](tool::Output& out) {
    const auto file = read_recording(app, options);
    if (!file) {
      app.messages().error(options.file, file.error());
      return static_cast<int>(tool::exit_failure);
    }
    const int code = write_profile(app, options, file->recording, false, out);
    return code == tool::exit_ok && !file->is_whole ? static_cast<int>(tool::exit_findings) : code;
  });
}

int run_tool(int argc, char** argv) {
  tool::App app("sframe-profile", "Record stacks of running programs, and write profiles of them.", examples,
                {.output = true,
                 .environment = tool::debuginfod_environment(),
                 .exit_codes = {{"0", "Every sample has its whole stack"},
                                {"1", "Samples were lost, or stacks are cut"},
                                {"2", "Nothing could be recorded"}}});
  Options options;
  const auto [arguments, command] = split_arguments({argv, static_cast<std::size_t>(argc)});
  options.record.command = command;
  add_options(app, options);
  if (const auto code = app.parse(static_cast<int>(arguments.size()), arguments.data())) return *code;
  tool::probe_network_files();
  if (const auto wrong = check(app, options)) {
    app.messages().error({}, *wrong);
    return tool::exit_failure;
  }
  for (const std::uint32_t pid : options.record.pids) tool::probe_network_files(pid);
  options.record.files.server = tool::start_debuginfod(options.debuginfod, app.messages());
  return options.file.empty() ? run_recorder(app, options) : run_reader(app, options);
}

} // namespace

int main(int argc, char** argv) {
  return tool::run_program("sframe-profile", argc, argv, run_tool);
}
