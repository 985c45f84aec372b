// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "run.h"

#include "hints.h"
#include "keep.h"
#include "module_list.h"
#include "printer.h"
#include "threads.h"

#include "sframe/base/budget.h"
#include "sframe/elf/core_file.h"
#include "sframe/steppers/steppers.h"

#include <memory>
#include <unistd.h>
#include <utility>

namespace sframe::unwind_tool {

namespace {

int list_steppers(tool::Output& out) {
  for (const steppers::StepperInfo& stepper : steppers::ready_steppers()) {
    out.padded(stepper.name, 15);
    out << stepper.description << '\n';
  }
  return tool::exit_ok;
}

/// Reports why frames are missing or doubtful; true if any are.
bool report(tool::Messages& messages, const std::string& path, process::CoreProcess& process) {
  bool wrong = false;
  const elf::Core& core = process.space().core();
  if (core.truncated()) {
    messages.warning(path, "core is truncated: some of the memory is missing");
    wrong = true;
  }
  for (const Problem& problem : core.problems()) {
    messages.warning(path, problem);
    wrong = true;
  }
  for (const std::string& problem : process.space().generated_code().problems())
    messages.warning(path, problem);
  wrong |= report_modules(messages, process);
  Budget* const budget = process.space().budget();
  if (const auto over = budget ? budget->problem() : std::nullopt) {
    messages.warning(path, *over);
    wrong = true;
  }
  return wrong;
}

CoreHeader header_of(const Options& options, process::CoreProcess& process,
                     std::span<const process::Thread* const> threads) {
  CoreHeader header;
  header.command = command_line(process.space().core());
  header.program = process.space().main_module();
  header.origin = options.origin;
  if (threads.front() == &process.threads().front()) header.crash = explain_crash(process);
  return header;
}

int run_on(tool::App& app, const Options& options, const elf::CoreFile& core, tool::Output& out) {
  tool::Messages& messages = app.messages();
  const auto failed = [&](std::string_view why) {
    messages.error(options.core, why);
    print_failure(out, options.format, options.core, {std::string(why), {}, {}});
    return tool::exit_failure;
  };
  modules::FileOptions files = options.files;
  files.budget = std::make_shared<Budget>(app.limits(), core.cost_size());
  auto process = process::CoreProcess::create(core.core(), std::move(files));
  if (!process) return failed(process.error().text());
  process::CoreSpace& space = (*process)->space();
  const auto threads = wanted_threads(**process, options);
  if (threads.empty()) {
    report(messages, options.core, **process);
    return failed(options.thread ? "no thread " + std::to_string(*options.thread) : "no threads");
  }
  auto steppers = choose_steppers(space.abi(), space.main_module(), options);
  if (!steppers) {
    messages.error({}, "--steppers: " + steppers.error().text());
    return tool::exit_failure;
  }
  unwind::Walker walker(space, std::move(*steppers));
  walker.set_max_frames(options.max_frames);

  Symbolizer symbolizer(space, {.names = !options.no_names, .source = options.source});
  const PrintSettings settings = {.registers = options.registers,
                                  .color =
                                      app.output_path() == "-" && tool::use_color(app.color(), STDOUT_FILENO),
                                  .modules = options.modules};
  const auto printer = options.format == "json" ? make_json_printer(out, symbolizer, settings)
                                                : make_text_printer(out, symbolizer, settings);
  const CoreHeader header = header_of(options, **process, threads);
  printer->begin(**process, &header);
  if (options.modules) {
    const bool found = options.format == "json" ? load_modules(**process) : list_modules(**process, out);
    printer->end(**process);
    const bool wrong = report(messages, options.core, **process);
    return found && !wrong ? tool::exit_ok : tool::exit_findings;
  }
  const bool complete = walk_threads(threads, **process, walker, options, *printer, out, messages);
  printer->end(**process);
  const bool wrong = report(messages, options.core, **process);
  print_hints(messages, options, symbolizer);
  keep_generated(messages, options, **process);
  return complete && !wrong ? tool::exit_ok : tool::exit_findings;
}

} // namespace

int run(tool::App& app, const Options& options, tool::Output& out) {
  if (options.list_steppers) return list_steppers(out);
  if (options.pid) return run_live(app, options, out);

  const auto core = elf::CoreFile::open(options.core, app.limits());
  if (!core) {
    app.messages().error(options.core, core.error());
    print_failure(out, options.format, options.core, core.error());
    return tool::exit_failure;
  }
  if (core->damaged()) app.messages().warning(options.core, "compressed file is damaged or truncated");
  const int code = run_on(app, options, *core, out);
  return code == tool::exit_ok && core->damaged() ? tool::exit_findings : code;
}

} // namespace sframe::unwind_tool
