// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "run.h"

#include "keep.h"
#include "live.h"
#include "printer.h"
#include "threads.h"

#include "sframe/elf/budget.h"
#include "sframe/elf/core.h"
#include "sframe/elf/file.h"
#include "sframe/elf/unpack.h"
#include "sframe/walk/steppers.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <unistd.h>
#include <utility>

namespace sframe::unwind {

namespace {

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
  for (const std::string& problem : process.space().generated_code().problems())
    messages.warning(path, problem);
  wrong |= report_modules(messages, process);
  elf::Budget* const budget = process.space().budget();
  if (const auto over = budget ? budget->problem() : std::nullopt) {
    messages.warning(path, *over);
    wrong = true;
  }
  return wrong;
}

/// What unpacking a core may make: zeros, which cost time only, and other bytes.
elf::UnpackLimits unpack_limits(elf::Limits limits, std::uint64_t packed) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20, all = std::numeric_limits<std::uint64_t>::max();
  if (limits == elf::Limits::off) return {.size = all / 2, .memory = all / 2, .expansion = 0};
  const std::uint64_t part = limits == elf::Limits::strict ? 4 : 1;
  const std::uint64_t times = std::min(packed, all / 4096);
  return {.size = (4096 * mib + 1024 * times) / part, .memory = (64 * mib + 64 * times) / part, .expansion = 0};
}

int run_on(tool::App& app, const Options& options, const elf::Core& core, std::uint64_t size, tool::Output& out) {
  tool::Messages& messages = app.messages();
  const auto failed = [&](std::string_view why) {
    messages.error(options.core, why);
    print_failure(out, options.format, options.core, {std::string(why), {}, {}});
    return tool::exit_failure;
  };
  walk::FileOptions files = options.files;
  files.budget = std::make_shared<elf::Budget>(app.limits(), size);
  auto process = walk::CoreProcess::create(core, std::move(files));
  if (!process) return failed(process.error().text());
  walk::CoreSpace& space = (*process)->space();
  const auto threads = wanted_threads(**process, options);
  if (threads.empty()) {
    report(messages, options.core, **process);
    return failed(options.thread ? "has no thread " + std::to_string(*options.thread) : "has no threads");
  }
  auto steppers = choose_steppers(space.abi(), space.main_module(), options);
  if (!steppers) {
    messages.error({}, "--steppers: " + steppers.error().text());
    return tool::exit_failure;
  }
  walk::Walker walker(space, std::move(*steppers));
  walker.set_max_frames(options.max_frames);

  Places places(space, {.names = !options.no_names, .source = options.source});
  const PrintSettings settings = {.registers = options.registers,
                                  .color = app.output_path() == "-" &&
                                           tool::use_color(app.color(), STDOUT_FILENO)};
  const auto printer = options.format == "json" ? make_json_printer(out, places, settings)
                                                : make_text_printer(out, places, settings);
  printer->begin(**process);
  const bool complete = walk_threads(threads, **process, walker, options, *printer, out, messages);
  printer->end(**process);
  const bool wrong = report(messages, options.core, **process);
  keep_generated(messages, options, **process);
  return complete && !wrong ? tool::exit_ok : tool::exit_findings;
}

} // namespace

int run(tool::App& app, const Options& options, tool::Output& out) {
  if (options.list_steppers) return list_steppers(out);
  if (options.pid) return run_live(app, options, out);

  const auto failed = [&](const elf::Problem& why) {
    app.messages().error(options.core, why);
    print_failure(out, options.format, options.core, why);
    return tool::exit_failure;
  };
  const auto file = elf::File::open(options.core);
  if (!file) return failed(file.error());
  std::span<const std::byte> bytes = file->bytes();
  elf::Unpacked unpacked;
  if (elf::is_packed(bytes)) {
    auto result = elf::unpack(bytes, unpack_limits(app.limits(), bytes.size()));
    if (!result) return failed(result.error());
    unpacked = std::move(*result);
    bytes = unpacked.bytes();
    if (unpacked.damaged())
      app.messages().warning(options.core, "the compressed file is damaged or ends early");
  }
  const auto core = elf::Core::parse(bytes);
  if (!core) return failed(core.error());
  // Of a compressed core, zeros count little: its walk is no longer for them.
  const int code = run_on(app, options, *core, std::min<std::uint64_t>(bytes.size(), 64 * file->bytes().size()), out);
  return code == tool::exit_ok && unpacked.damaged() ? tool::exit_findings : code;
}

} // namespace sframe::unwind
