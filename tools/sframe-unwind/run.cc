// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "run.h"

#include "core_walk.h"
#include "folded.h"
#include "hints.h"
#include "keep.h"
#include "module_list.h"
#include "printer.h"
#include "threads.h"

#include "sframe/base/budget.h"
#include "sframe/core/core_file.h"
#include "sframe/steppers/steppers.h"

namespace sframe::unwind_tool {

namespace {

int list_steppers(tool::Output& out) {
  for (const steppers::StepperInfo& stepper : steppers::ready_steppers()) {
    out.padded(stepper.name, 15);
    out << stepper.description << '\n';
  }
  return tool::exit_ok;
}

/// The stacks of all threads, as --format=folded or svg.
int print_all_counts(tool::App& app, const Options& options, CoreWalk& walk, tool::Output& out) {
  tool::Messages& messages = app.messages();
  FoldedStacks stacks(walk.symbolizer());
  walk.walker().set_max_frames(options.max_frames);
  const bool complete =
      walk_threads(walk.threads(), walk.process(), walk.walker(), options, stacks, out, nullptr, &messages);
  print_counts(*options.format, stacks.counts(), {walk.process().name()}, out);
  report_cut(messages, options.core, stacks.cut());
  const bool wrong = walk.report(messages);
  crash::InstalledPackages installed;
  print_hints(messages, options, walk.symbolizer(), installed);
  keep_generated(messages, options, walk.process());
  return complete && !wrong ? tool::exit_ok : tool::exit_findings;
}

int run_on(tool::App& app, const Options& options, const core::CoreFile& core, tool::Output& out) {
  tool::Messages& messages = app.messages();
  CoreWalk walk(options, options.core, core, app.limits(), nullptr);
  if (const auto failure = walk.open()) {
    if (failure->is_option) {
      messages.error({}, failure->what);
      return tool::exit_failure;
    }
    walk.report(messages);
    messages.error(options.core, failure->what);
    print_failure(out, *options.format, options.core, {failure->what, {}, {}});
    return tool::exit_failure;
  }
  process::CoreProcess& process = walk.process();
  if (options.format->counts) return print_all_counts(app, options, walk, out);
  const auto printer = make_printer(options, out, walk.symbolizer(), print_settings(app, options));
  CoreHeader header = walk.header(options.origin);
  crash::InstalledPackages installed;
  walk.find_packages(header, installed);
  printer->begin(process, &header);
  if (options.modules) {
    const bool found = options.format == &json_format ? load_modules(process) : list_modules(process, out);
    printer->end(process);
    const bool wrong = walk.report(messages);
    return found && !wrong ? tool::exit_ok : tool::exit_findings;
  }
  const bool complete = walk_threads(walk.threads(), process, walk.walker(), options, *printer, out,
                                     walk.languages(), &messages);
  printer->end(process);
  const bool wrong = walk.report(messages);
  print_hints(messages, options, walk.symbolizer(), installed);
  keep_generated(messages, options, process);
  return complete && !wrong ? tool::exit_ok : tool::exit_findings;
}

} // namespace

int run(tool::App& app, const Options& options, tool::Output& out) {
  if (options.list_steppers) return list_steppers(out);
  if (options.pid) return run_live(app, options, out);

  if (options.several) return run_many(app, options, out);

  const auto core = core::CoreFile::open(options.core, app.limits());
  if (!core) {
    app.messages().error(options.core, core.error());
    print_failure(out, *options.format, options.core, core.error());
    return tool::exit_failure;
  }
  if (core->damaged()) app.messages().warning(options.core, "compressed file is damaged or truncated");
  const int code = run_on(app, options, *core, out);
  return code == tool::exit_ok && core->damaged() ? tool::exit_findings : code;
}

} // namespace sframe::unwind_tool
