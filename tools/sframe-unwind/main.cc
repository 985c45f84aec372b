// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sframe-unwind: stack traces of every thread in a core file.

#include "run.h"

#include <sframe/tool/network_files.h>
#include <sframe/tool/program.h>

#include <string>
#include <vector>

namespace {

int run_tool(int argc, char** argv) {
  sframe::tool::App app(
      "sframe-unwind",
      "Print the stack of every thread of a core file, minidump or live process, using SFrame or DWARF CFI.",
      "  sframe-unwind core                            all threads; files as named in the core\n"
      "  sframe-unwind core ./server --format=json     another path for the program; JSON output\n"
      "  sframe-unwind core --format=html -o crash.html  a page for a browser\n"
      "  sframe-unwind ./server -c core                the same, as with gdb\n"
      "  sframe-unwind crash.dmp                       a minidump of breakpad, crashpad or Firefox\n"
      "  sframe-unwind core --sframe-dir sidecars      use sidecars from sframe-gen --emit=sidecar\n"
      "  sframe-unwind core --steppers=cfi             only DWARF CFI\n"
      "  sframe-unwind -r /var/crash                   all cores in a directory, grouped by their "
      "signatures\n"
      "  sframe-unwind core --format=svg -o stacks.svg  a flame graph of its threads\n"
      "  sframe-unwind --pid 4711                      a running process\n"
      "  sframe-unwind --pid 4711 --count 500 --format=svg -o flames.svg\n",
      {.output = true,
       .threads = true,
       .environment = sframe::tool::debuginfod_environment(),
       .exit_codes = {{"0", "Every thread was walked to its outermost frame, with matching files"},
                      {"1",
                       "A thread ended early (the reason is below its last frame), the core is truncated "
                       "or damaged, or a needed file is missing or does not match"},
                      {"2", "Nothing could be walked"}}});
  sframe::unwind_tool::Options options;
  sframe::unwind_tool::add_options(app, options);
  if (const auto code = app.parse(argc, argv)) return *code;
  sframe::tool::probe_network_files(options.pid);
  auto wrong = identify_core(options);
  if (!wrong) wrong = check(options);
  if (!wrong) wrong = read_perf_map(options);
  if (!wrong && app.output_path() == "-") wrong = check_terminal(options);
  if (wrong) {
    app.messages().error(wrong->file, wrong->what);
    return sframe::tool::exit_failure;
  }
  if (!options.several) options.origin = sframe::crash::origin_of(options.core);
  options.server = sframe::tool::start_debuginfod(debuginfod_options(options), app.messages());
  options.files.server = options.server;
  app.confine(sandbox_needs(options));
  std::vector<std::string> inputs = sframe::tool::paths(options.cores);
  inputs.insert(inputs.end(), {options.core, options.files.executable});
  return app.run_with_output(
      inputs, [&](sframe::tool::Output& out) { return sframe::unwind_tool::run(app, options, out); },
      options.format == &sframe::unwind_tool::text_format ? sframe::tool::App::Errors::in_file
                                                          : sframe::tool::App::Errors::not_in_file);
}

} // namespace

int main(int argc, char** argv) {
  return sframe::tool::run_program("sframe-unwind", argc, argv, run_tool);
}
