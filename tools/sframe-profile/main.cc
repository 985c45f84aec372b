// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sframe-profile: records stacks of running programs, or reads a recording of perf, and writes profiles.

#include "options.h"

#include <sframe/tool/output.h>
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

int run_tool(int argc, char** argv) {
  tool::App app("sframe-profile", "Record stacks of running programs, and write profiles of them.", examples,
                {.output = true,
                 .exit_codes = {{"0", "Every sample has its whole stack"},
                                {"1", "Samples were lost, or stacks are cut"},
                                {"2", "Nothing could be recorded"}}});
  Options options;
  const auto [arguments, command] = split_arguments({argv, static_cast<std::size_t>(argc)});
  options.record.command = command;
  add_options(app, options);
  if (const auto code = app.parse(static_cast<int>(arguments.size()), arguments.data())) return *code;
  if (const auto wrong = check(options, app.output_path())) {
    app.messages().error({}, *wrong);
    return tool::exit_failure;
  }
  const auto recording = record(options.record, app.messages());
  if (!recording) {
    app.messages().error({}, recording.error());
    return tool::exit_failure;
  }
  return tool::exit_ok;
}

} // namespace

int main(int argc, char** argv) {
  return tool::run_program("sframe-profile", argc, argv, run_tool);
}
