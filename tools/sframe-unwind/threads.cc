// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// walk_threads() chooses between walk_each(), walk_groups() and compare_each(), and goroutines follow. To
// group, each stack is walked once for a hash of its frames, and each group once more to be printed: walking
// is cheaper than keeping the frames. The last part makes steppers, printers and settings from the options.

#include "threads.h"

#include "stack_tree.h"

#include "sframe/base/budget.h"
#include "sframe/steppers/steppers.h"
#include "sframe/tool/progress.h"
#include "sframe/unwind/compare.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sframe::unwind_tool {

namespace {

/// Passes frames to the printer; ends the walk if the output is closed or its limit is reached.
class PrintingReceiver final : public unwind::FrameReceiver {
public:
  PrintingReceiver(Printer& printer, const tool::Output& out, Budget* budget)
      : printer_(printer), out_(out), budget_(budget), charge_(printer, out, budget) {}
  bool frame(const unwind::Frame& frame, const unwind::Registers& registers) override {
    printer_.frame(frame, registers);
    return !out_.failed() && charge_.may_go_on();
  }

  /// Walks a stack and prints its end. True if the walk was complete.
  bool walk(const unwind::FrameState& start, unwind::Walker& walker) {
    unwind::WalkEnd end = walker.walk(start, *this);
    if (end.reason == unwind::StopReason::interrupted && budget_ && budget_->is_used_up())
      end.reason = unwind::StopReason::budget;
    printer_.end_thread(end);
    return end.complete;
  }

private:
  Printer& printer_;
  const tool::Output& out_;
  Budget* budget_;
  PrintCharge charge_;
};

/// Hashes a stack, so that stacks can be compared without storing them: walking again is cheap.
class StackHash final : public unwind::FrameReceiver {
public:
  bool frame(const unwind::Frame& frame, const unwind::Registers&) override {
    add(frame.pc);
    add(reinterpret_cast<std::uintptr_t>(frame.found_by) << 1 | frame.signal_frame);
    return true;
  }
  void add(std::uint64_t value) {
    low_ = (low_ ^ value) * 0x9e3779b97f4a7c15;
    low_ ^= low_ >> 32;
    high_ = (high_ + value) * 0xd6e8feb86659fd93;
    high_ ^= high_ >> 29;
  }
  std::pair<std::uint64_t, std::uint64_t> value() const { return {low_, high_}; }

private:
  std::uint64_t low_ = 0, high_ = 0;
};

/// What a walk and its output need.
struct Context {
  unwind::Walker& walker;
  Printer& printer;
  const tool::Output& out;
  Budget* budget;
  Languages* languages;     ///< may be nullptr
  tool::Progress* progress; ///< may be nullptr

  void step() const {
    if (progress) progress->step();
  }
  std::optional<languages::PythonStack> python_stack(const process::Thread& thread) const {
    return languages ? languages->python_stack(thread.tid) : std::nullopt;
  }
};

bool walk_each(std::span<const process::Thread* const> threads, const Context& context) {
  PrintingReceiver forward(context.printer, context.out, context.budget);
  bool complete = true;
  for (const process::Thread* thread : threads) {
    context.printer.begin_thread(std::span(&thread, 1));
    if (const auto python = context.python_stack(*thread)) context.printer.python(*python);
    complete &= forward.walk(thread->frame(), context.walker);
    context.step();
    if (context.out.failed()) break;
  }
  return complete;
}

/// Groups stacks with the same frames, in the order of their first ones. `start_of(stack)` is its innermost
/// frame; `add_more(stack, hash)` adds what else must be equal.
template <class Stack, class StartOf, class AddMore>
std::vector<std::vector<const Stack*>> group(std::span<const Stack* const> stacks, const Context& context,
                                             StartOf&& start_of, AddMore&& add_more) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> places;
  std::vector<std::vector<const Stack*>> groups;
  for (const Stack* stack : stacks) {
    StackHash hash;
    const unwind::WalkEnd end = context.walker.walk(start_of(*stack), hash);
    hash.add(static_cast<std::uint64_t>(end.reason));
    hash.add(end.detail);
    if (end.overwritten) hash.add(end.overwritten->frame), hash.add(end.overwritten->found);
    add_more(*stack, hash);
    const auto [at, added] = places.try_emplace(hash.value(), groups.size());
    if (added) groups.emplace_back();
    groups[at->second].push_back(stack);
  }
  return groups;
}

void add(StackHash& hash, std::string_view text) {
  hash.add(text.size());
  for (const char c : text) hash.add(static_cast<unsigned char>(c));
}

/// A group is printed at the position of its first thread. The Python frames must be equal, too.
bool walk_groups(std::span<const process::Thread* const> threads, const Context& context) {
  const auto groups = group(
      threads, context, [](const process::Thread& thread) { return thread.frame(); },
      [&](const process::Thread& thread, StackHash& hash) {
        context.step();
        const auto python = context.python_stack(thread);
        if (!python) return;
        hash.add(python->holds_gil);
        for (const languages::PythonFrame& frame : python->frames)
          add(hash, frame.function), add(hash, frame.file), hash.add(frame.line);
      });
  PrintingReceiver forward(context.printer, context.out, context.budget);
  bool complete = true;
  for (const auto& group : groups) {
    context.printer.begin_thread(group);
    if (const auto python = context.python_stack(*group.front())) context.printer.python(*python);
    complete &= forward.walk(group.front()->frame(), context.walker);
    if (context.out.failed()) break;
  }
  return complete;
}

/// Goroutines whose frames are not those of a thread.
bool walk_goroutines(process::ProcessState& process, const Context& context, bool grouped) {
  if (!context.languages) return true;
  const std::vector<languages::Goroutine> all = context.languages->goroutines();
  const AbiTraits& abi = process.space().abi();
  std::vector<const languages::Goroutine*> parked;
  for (const languages::Goroutine& goroutine : all) {
    const bool has_thread =
        goroutine.tid != 0 &&
        std::ranges::find(process.threads(), goroutine.tid, &process::Thread::tid) != process.threads().end();
    if (has_thread)
      context.printer.running_goroutine(goroutine);
    else
      parked.push_back(&goroutine);
  }
  std::vector<std::vector<const languages::Goroutine*>> groups;
  if (grouped)
    groups = group(
        std::span<const languages::Goroutine* const>(parked), context,
        [&](const languages::Goroutine& goroutine) { return goroutine.frame(abi); },
        [](const languages::Goroutine& goroutine, StackHash& hash) {
          add(hash, goroutine.status), add(hash, goroutine.wait_reason), hash.add(goroutine.creator_pc);
        });
  else
    for (const languages::Goroutine* goroutine : parked) groups.push_back({goroutine});
  PrintingReceiver forward(context.printer, context.out, context.budget);
  bool complete = true;
  for (const auto& group : groups) {
    context.printer.begin_goroutine(group);
    complete &= forward.walk(group.front()->frame(abi), context.walker);
    if (context.out.failed()) break;
  }
  return complete;
}

/// All steppers that can be used from any frame.
unwind::StepperList compared_steppers(const AbiTraits& abi) {
  unwind::StepperList list;
  list.push_back(steppers::make_sframe_stepper(abi));
  list.push_back(steppers::make_cfi_stepper(abi));
  list.push_back(steppers::make_frame_pointer_stepper(abi));
  list.push_back(steppers::make_analysis_stepper(abi));
  return list;
}

bool compare_each(std::span<const process::Thread* const> threads, process::ProcessState& process,
                  unwind::Walker& walker, Printer& printer, const tool::Output& out,
                  tool::Progress* progress) {
  unwind::Comparison comparison(process.space(), compared_steppers(process.space().abi()));
  bool agreed = true;
  for (const process::Thread* thread : threads) {
    printer.begin_thread(std::span(&thread, 1));
    comparison.begin();
    const unwind::WalkEnd end = walker.walk(thread->frame(), comparison);
    comparison.end(end);
    printer.comparison(comparison.results());
    printer.end_thread(end);
    agreed &= end.complete;
    for (const unwind::StepperComparison& result : comparison.results())
      agreed &= result.trust != unwind::Trust::exact || result.differs == 0;
    if (progress) progress->step();
    if (out.failed()) break;
  }
  return agreed;
}

} // namespace

Result<unwind::StepperList> choose_steppers(const AbiTraits& abi, modules::Module* main,
                                            const Options& options) {
  unwind::StepperList steppers = steppers::default_steppers(abi, main);
  if (!options.steppers.empty()) return steppers::select_steppers(std::move(steppers), options.steppers);
  if (options.compare || shows_variables(options)) steppers::put_all_registers_first(steppers);
  return steppers;
}

PrintSettings print_settings(tool::App& app, const Options& options) {
  const bool is_terminal = app.output_path() == "-" && ::isatty(STDOUT_FILENO);
  // What belongs to a single frame differs from frame to frame.
  const bool is_foldable = !options.registers && !shows_variables(options);
  return {.registers = options.registers,
          .arguments = options.arguments,
          .locals = options.locals,
          .color = app.output_path() == "-" && tool::use_color(app.color(), STDOUT_FILENO),
          .modules = options.modules,
          .fold = is_foldable && options.fold.value_or(is_terminal)};
}

std::unique_ptr<Printer> make_printer(const Options& options, tool::Output& out, Symbolizer& symbolizer,
                                      const PrintSettings& settings) {
  if (options.format == &json_format) return make_json_printer(out, symbolizer, settings);
  if (options.format == &html_format) return make_html_printer(out, symbolizer, settings, options.core);
  auto text = make_text_printer(out, symbolizer, settings);
  // What belongs to a single frame has no place in a tree.
  const bool is_tree = options.group && !options.registers && !options.source && !shows_variables(options);
  return is_tree ? make_tree_printer(out, symbolizer, std::move(text)) : std::move(text);
}

unwind::StepperList steppers_for_variables(const AbiTraits& abi, modules::Module* main,
                                           const Options& options) {
  if (!shows_variables(options)) return {};
  auto steppers = choose_steppers(abi, main, options);
  return steppers ? std::move(*steppers) : unwind::StepperList();
}

SymbolizerSettings symbolizer_settings(const Options& options) {
  SymbolizerSettings settings{.names = !options.no_names,
                              .source = options.source,
                              .style =
                                  options.names.value_or(options.format->counts ? names::NameStyle::shortened
                                                                                : names::NameStyle::full),
                              .source_dirs = options.source_dirs,
                              .perf_map = options.perf_map,
                              .variables = {}};
  settings.variables.arguments = options.arguments;
  settings.variables.locals = options.locals;
  settings.variables.inlined = options.source;
  return settings;
}

std::vector<const process::Thread*> wanted_threads(const process::ProcessState& process,
                                                   const Options& options) {
  std::vector<const process::Thread*> wanted;
  for (const process::Thread& thread : process.threads())
    if (!options.thread || thread.tid == *options.thread) wanted.push_back(&thread);
  return wanted;
}

bool walk_threads(std::span<const process::Thread* const> threads, process::ProcessState& process,
                  unwind::Walker& walker, const Options& options, Printer& printer, const tool::Output& out,
                  Languages* languages, tool::Messages* messages) {
  std::optional<tool::Progress> line;
  if (messages) line.emplace(*messages, threads.size(), "threads");
  tool::Progress* const progress = line ? &*line : nullptr;
  if (options.compare) return compare_each(threads, process, walker, printer, out, progress);
  const Context context{walker, printer, out, process.space().budget(), languages, progress};
  // To group, each stack is walked once more.
  bool complete =
      options.group && threads.size() > 1 ? walk_groups(threads, context) : walk_each(threads, context);
  if (threads.size() == process.threads().size())
    complete &= walk_goroutines(process, context, options.group);
  return complete;
}

bool report_modules(tool::MessageSink& messages, process::ProcessState& process) {
  bool missing = false;
  std::set<std::string> known; // modules of one file have the same problem
  std::vector<std::string> limits;
  for (modules::Module& module : process.modules()) {
    if (!module.file().is_used() || module.file().problem_so_far().empty()) continue;
    const std::string& problem = module.file().problem_so_far();
    missing |= module.file().is_missing() || module.file().has_reached_limit();
    if (!known.insert(problem).second) continue;
    if (module.file().has_reached_limit())
      limits.push_back(problem);
    else
      messages.warning({}, problem);
  }
  if (limits.empty()) return missing;
  const std::size_t others = limits.size() - 1;
  if (others == 0)
    messages.warning({}, limits.front());
  else
    messages.warning({}, limits.front() + "; " + std::to_string(others) + " other file" +
                             (others == 1 ? " has" : "s have") + " reached theirs");
  for (const std::string& other : std::span(limits).subspan(1)) messages.detail({}, other);
  return missing;
}

} // namespace sframe::unwind_tool
