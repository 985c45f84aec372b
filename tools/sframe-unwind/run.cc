// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "run.h"

#include "printer.h"

#include "sframe/elf/core.h"
#include "sframe/elf/file.h"
#include "sframe/walk/steppers.h"

#include <unistd.h>

namespace sframe::unwind {

namespace {

/// Hands frames to the printer; ends the walk when nobody reads any more.
class Forward final : public walk::FrameReceiver {
public:
  Forward(Printer& printer, const tool::Output& out) : printer_(printer), out_(out) {}
  bool frame(const walk::Frame& frame, const walk::Registers& registers) override {
    printer_.frame(frame, registers);
    return !out_.failed();
  }

private:
  Printer& printer_;
  const tool::Output& out_;
};

int list_steppers(tool::Output& out) {
  for (const walk::StepperInfo& stepper : walk::ready_steppers()) {
    out.padded(stepper.name, 15);
    out << stepper.description << '\n';
  }
  return tool::exit_ok;
}

/// What made frames missing or doubtful; true where something did.
bool report(tool::Messages& messages, const std::string& path, walk::CoreProcess& process) {
  bool wrong = false;
  const elf::Core& core = process.space().core();
  if (core.truncated()) {
    messages.warning(path, "is truncated: some of the memory is missing");
    wrong = true;
  }
  for (const elf::Problem& problem : core.problems()) {
    messages.warning(path, problem);
    wrong = true;
  }
  for (walk::Module& module : process.space().modules()) {
    if (!module.loaded() || module.problem_so_far().empty()) continue;
    messages.warning({}, module.problem_so_far());
    wrong |= module.file_missing();
  }
  return wrong;
}

/// Walks the threads asked for. Nothing where there is none; else true where all were complete.
std::optional<bool> walk_threads(walk::CoreProcess& process, walk::Walker& walker, const Options& options,
                                 Printer& printer, const tool::Output& out) {
  Forward forward(printer, out);
  std::optional<bool> complete;
  for (const walk::Thread& thread : process.threads()) {
    if (options.thread && thread.tid != *options.thread) continue;
    printer.begin_thread(thread);
    const walk::WalkEnd end = walker.walk(thread.registers, forward);
    printer.end_thread(end);
    complete = complete.value_or(true) && end.complete;
    if (out.failed()) break;
  }
  return complete;
}

bool has_thread(const walk::CoreProcess& process, const Options& options) {
  for (const walk::Thread& thread : process.threads())
    if (!options.thread || thread.tid == *options.thread) return true;
  return false;
}

int run_on(tool::App& app, const Options& options, const elf::Core& core, tool::Output& out) {
  tool::Messages& messages = app.messages();
  const auto failed = [&](std::string_view why) {
    messages.error(options.core, why);
    return tool::exit_failure;
  };
  auto process = walk::CoreProcess::create(core, options.files);
  if (!process) return failed(process.error().text());
  walk::CoreSpace& space = (*process)->space();
  if (!has_thread(**process, options)) {
    report(messages, options.core, **process);
    return failed(options.thread ? "has no thread " + std::to_string(*options.thread) : "has no threads");
  }

  walk::StepperList steppers = walk::default_steppers(space.abi(), space.main_module());
  if (!options.steppers.empty()) {
    auto chosen = walk::select_steppers(std::move(steppers), options.steppers);
    if (!chosen) {
      messages.error({}, "--steppers: " + chosen.error().text());
      return tool::exit_failure;
    }
    steppers = std::move(*chosen);
  }
  walk::Walker walker(space, std::move(steppers));
  walker.set_max_frames(options.max_frames);

  Places places(space, !options.no_names);
  const PrintSettings settings = {.registers = options.registers,
                                  .color = app.output_path() == "-" &&
                                           tool::use_color(app.color(), STDOUT_FILENO)};
  const auto printer = options.format == "json" ? make_json_printer(out, places, settings)
                                                : make_text_printer(out, places, settings);
  printer->begin(**process);
  const auto complete = walk_threads(**process, walker, options, *printer, out);
  printer->end(**process);
  const bool wrong = report(messages, options.core, **process);
  return complete.value_or(false) && !wrong ? tool::exit_ok : tool::exit_findings;
}

} // namespace

int run(tool::App& app, const Options& options, tool::Output& out) {
  if (options.list_steppers) return list_steppers(out);

  auto file = elf::File::open(options.core);
  if (!file) {
    app.messages().error(options.core, file.error());
    return tool::exit_failure;
  }
  const auto core = elf::Core::parse(file->bytes());
  if (!core) {
    app.messages().error(options.core, core.error());
    return tool::exit_failure;
  }
  return run_on(app, options, *core, out);
}

} // namespace sframe::unwind
