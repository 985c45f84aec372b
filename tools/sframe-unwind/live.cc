// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A live process (--pid), sampled once or several times. LiveRun::take() is one sample: stop, walk, resume,
// print. The process must not wait for the printing, so frames are recorded (Recording) and printed
// afterwards; where the text needs the process's memory (variables, comparisons), it is made while the
// process is stopped, and written afterwards. A signal ends the sampling, with the results.

#include "run.h"

#include "folded.h"
#include "keep.h"
#include "printer.h"
#include "threads.h"

#include "sframe/base/budget.h"
#include "sframe/base/spool.h"
#include "sframe/base/text.h"
#include "sframe/process/live_process.h"
#include "sframe/tool/interruption.h"
#include "sframe/tool/process_limits.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <poll.h>
#include <utility>
#include <vector>

namespace sframe::unwind_tool {

namespace {

/// Records calls to a printer, to replay them later. Registers are recorded only if they will be printed:
/// they are most of the memory.
class Recording final : public Printer {
public:
  /// `walked` is called after each stack.
  Recording(bool registers, std::function<void()> walked)
      : with_registers_(registers), walked_(std::move(walked)) {}

  void begin(process::ProcessState&, const CoreHeader*) override {}
  void begin_thread(std::span<const process::Thread* const> threads) override {
    stacks_.emplace_back().threads.assign(threads.begin(), threads.end());
  }
  void python(const languages::PythonStack& stack) override { stacks_.back().python = stack; }
  void begin_goroutine(std::span<const languages::Goroutine* const> goroutines) override {
    stacks_.emplace_back();
    for (const languages::Goroutine* goroutine : goroutines) stacks_.back().goroutines.push_back(*goroutine);
  }
  void running_goroutine(const languages::Goroutine& goroutine) override {
    stacks_.emplace_back().running = true;
    stacks_.back().goroutines.push_back(goroutine);
  }
  void frame(const unwind::Frame& frame, const unwind::Registers& registers) override {
    stacks_.back().frames.push_back(frame);
    if (with_registers_) stacks_.back().registers.push_back(registers);
  }
  void comparison(std::span<const unwind::StepperComparison>) override {}
  void end_thread(const unwind::WalkEnd& end) override {
    stacks_.back().end = end;
    walked_();
  }
  void end(process::ProcessState&) override {}

  /// False if a limit was reached; it ends the stacks.
  bool replay(Printer& printer, const tool::Output& out, Budget& budget) const {
    const unwind::Registers none{};
    PrintCharge charge(printer, out, &budget);
    bool complete = true;
    for (const Stack& stack : stacks_) {
      if (stack.running) {
        printer.running_goroutine(stack.goroutines.front());
        continue;
      }
      std::vector<const languages::Goroutine*> goroutines;
      for (const languages::Goroutine& goroutine : stack.goroutines) goroutines.push_back(&goroutine);
      if (goroutines.empty())
        printer.begin_thread(stack.threads);
      else
        printer.begin_goroutine(goroutines);
      if (stack.python) printer.python(*stack.python);
      unwind::WalkEnd end = stack.end;
      for (std::size_t i = 0; i < stack.frames.size() && !out.failed(); ++i) {
        if (!complete || budget.is_used_up(Resource::name_bytes) || !charge.may_go_on()) {
          complete = end.complete = false;
          end.reason = unwind::StopReason::budget;
          break;
        }
        printer.frame(stack.frames[i], with_registers_ ? stack.registers[i] : none);
      }
      printer.end_thread(end);
    }
    return complete;
  }

private:
  struct Stack {
    std::vector<const process::Thread*> threads;
    std::vector<languages::Goroutine> goroutines; ///< instead of threads
    bool running = false;                         ///< a goroutine that has no frames of its own
    std::optional<languages::PythonStack> python;
    std::deque<unwind::Frame> frames; // never moved: a vector would use twice the memory
    std::deque<unwind::Registers> registers;
    unwind::WalkEnd end;
  };
  bool with_registers_;
  std::function<void()> walked_;
  std::deque<Stack> stacks_; // never moved: that would copy all frames
};

/// By tid.
std::vector<std::uint32_t> running_threads(const process::LiveProcess& process) {
  std::vector<std::uint32_t> tids;
  for (const process::ThreadActivity& thread : process.activity())
    if (thread.is_ready) tids.push_back(thread.tid);
  return tids;
}

class LiveRun {
public:
  LiveRun(tool::App& app, const Options& options, process::LiveProcess& process,
          tool::Interruption& interruption, tool::Output& out)
      : app_(app), options_(options), process_(process), interruption_(interruption), out_(out) {}

  int run() {
    if (options_.format->counts) folded_.emplace(*symbolizer());
    const auto start = std::chrono::steady_clock::now();
    for (std::uint32_t sample = 0; sample < options_.count && !out_.failed(); ++sample) {
      if (sample && over_before(start + std::chrono::milliseconds(options_.interval) * sample)) break;
      if (const auto taken = take(); !taken) {
        // A process that exits during sampling is not an error; earlier samples count. It loses memory and
        // threads some time before the kernel reports its exit.
        if (sample && over_before(std::chrono::steady_clock::now() + std::chrono::seconds(1))) break;
        return failed(taken.error());
      }
      ++samples_;
    }
    interruption_.end();
    if (folded_) print_counts(*options_.format, folded_->counts(), {process_.name(), samples_}, out_);
    const bool wrong = report();
    keep_generated(app_.messages(), options_, process_);
    return complete_ && !wrong ? tool::exit_ok : tool::exit_findings;
  }

private:
  int failed(const Problem& why) {
    app_.messages().error("process " + std::to_string(options_.pid), why);
    return tool::exit_failure;
  }

  /// Names by address; valid while the mappings are unchanged.
  Symbolizer* symbolizer() {
    if (!symbolizer_ || generation_ != process_.space().generation()) {
      symbolizer_.emplace(
          process_.space(), symbolizer_settings(options_),
          steppers_for_variables(process_.space().abi(), process_.space().main_module(), options_));
      generation_ = process_.space().generation();
    }
    return &*symbolizer_;
  }

  /// True if the process ended before that time, or the user ended the sampling.
  bool over_before(std::chrono::steady_clock::time_point time) {
    const auto rest =
        std::chrono::ceil<std::chrono::milliseconds>(time - std::chrono::steady_clock::now()).count();
    pollfd over[] = {{process_.exit_fd(), POLLIN, 0}, {interruption_.fd(), POLLIN, 0}};
    return ::poll(over, std::size(over), static_cast<int>(std::max<long>(rest, 0))) > 0;
  }

  /// One walker for all samples of a program: it caches rules by address.
  Result<void> prepare_walker() {
    process::LiveSpace& space = process_.space();
    if (walker_ && walker_main_ == space.main_module()) {
      walker_->forget_memory();
      if (languages_) languages_->forget_memory();
      return {};
    }
    auto steppers = choose_steppers(space.abi(), space.main_module(), options_);
    if (!steppers) return fail("--steppers: " + steppers.error().text());
    unwind::StepperGroup group(std::move(*steppers));
    languages_.reset();
    if (wants_languages(options_)) {
      modules::DebugInfoCache debug_info;
      languages_.emplace(process_, options_.languages, debug_info);
    }
    if (languages_ && options_.steppers.empty()) languages_->add_steppers(group);
    walker_.emplace(space, std::move(group));
    walker_->set_max_frames(options_.max_frames);
    walker_main_ = space.main_module();
    return {};
  }

  /// Takes one sample: stop, walk, resume, print.
  Result<void> take() {
    fetch(false); // the process must not stand still for a server
    if (folded_) folded_->set_running(running_threads(process_));
    if (auto stopped = process_.stop(options_.thread); !stopped) return stopped;
    if (auto ready = prepare_walker(); !ready) {
      process_.resume();
      return ready;
    }
    const auto threads = wanted_threads(process_, options_);
    // Results of a comparison point into the walker's data, and variables are in the memory of the process.
    return options_.compare || shows_variables(options_) ? print_stopped(threads) : print_resumed(threads);
  }

  using Threads = std::span<const process::Thread* const>;

  /// Records the stacks, and prints them when the process runs again.
  Result<void> print_resumed(Threads threads) {
    Recording recording(options_.registers, [this] { reuse_memory(); });
    complete_ &=
        walk_threads(threads, process_, *walker_, options_, recording, out_, shown_languages(), nullptr);
    process_.resume();
    fetch(true);
    print(recording);
    note_limit();
    return {};
  }

  /// Makes the text while the process is stopped. It is written when the process runs again: the reader may
  /// be a pager, which waits for its user.
  Result<void> print_stopped(Threads threads) {
    Spool text;
    tool::Output collected(text);
    symbolizer()->forget_memory();
    const auto printer =
        unwind_tool::make_printer(options_, collected, *symbolizer(), print_settings(app_, options_));
    printer->begin(process_, nullptr);
    complete_ &=
        walk_threads(threads, process_, *walker_, options_, *printer, collected, shown_languages(), nullptr);
    process_.resume();
    fetch(true);
    report_unstopped();
    printer->end(process_);
    note_limit();
    const bool is_whole = collected.flush();
    if (auto finished = text.finish(); !finished) return finished;
    out_ << as_text(text.bytes());
    return is_whole ? Result<void>() : fail("no room to keep the output of a sample");
  }

  /// A stack that has been walked is not read again: the next one takes its place, in memory that is in the
  /// cache and has its pages.
  void reuse_memory() {
    if (process_.space().kept_bytes() < most_kept || (languages_ && languages_->has_runtime())) return;
    process_.space().forget();
    walker_->forget_memory();
  }

  /// Counted stacks are those of threads, without what runtimes add.
  Languages* shown_languages() { return languages_ && !folded_ ? &*languages_ : nullptr; }

  void fetch(bool allowed) {
    if (options_.server) options_.server->pause(!allowed);
  }

  /// The budget is refilled for each sample: only the first exhausted limit is reported.
  void note_limit() {
    if (const auto limit = process_.space().budget()->problem(); limit && !limit_) limit_ = limit;
  }

  void report_unstopped() {
    for (const std::uint32_t tid : process_.unstopped()) {
      app_.messages().warning({}, process_.explain_unstopped(tid));
      complete_ = false;
    }
  }

  void print(const Recording& recording) {
    report_unstopped();
    if (folded_) {
      symbolizer();
      complete_ &= recording.replay(*folded_, out_, *process_.space().budget());
      return;
    }
    const auto printer = make_printer();
    printer->begin(process_, nullptr);
    complete_ &= recording.replay(*printer, out_, *process_.space().budget());
    printer->end(process_);
  }

  std::unique_ptr<Printer> make_printer() {
    return unwind_tool::make_printer(options_, out_, *symbolizer(), print_settings(app_, options_));
  }

  /// Reports problems of modules; true if there were any.
  bool report() {
    for (const std::string& problem : process_.space().generated_code().problems())
      app_.messages().warning({}, problem);
    if (folded_) report_cut(app_.messages(), "process " + std::to_string(options_.pid), folded_->cut());
    if (limit_) app_.messages().warning("process " + std::to_string(options_.pid), *limit_);
    return report_modules(app_.messages(), process_) || limit_;
  }

  static constexpr std::size_t most_kept = std::size_t{1} << 18; ///< bytes: a block of LiveSpace

  tool::App& app_;
  const Options& options_;
  process::LiveProcess& process_;
  tool::Interruption& interruption_;
  tool::Output& out_;
  std::optional<Symbolizer> symbolizer_; ///< must not be moved
  std::uint64_t generation_ = 0;         ///< of the modules that symbolizer_ is for
  std::optional<unwind::Walker> walker_;
  const modules::Module* walker_main_ = nullptr; ///< the main module that its steppers know
  std::optional<Languages> languages_;           ///< of the same main module
  std::optional<FoldedStacks> folded_;
  std::uint64_t samples_ = 0;    ///< taken
  std::optional<Problem> limit_; ///< reached by a sample
  bool complete_ = true;
};

} // namespace

int run_live(tool::App& app, const Options& options, tool::Output& out) {
  tool::lift_process_limits();
  tool::Interruption interruption(options.count > 1); // before any thread is started
  modules::FileOptions files = options.files;
  files.budget = std::make_shared<Budget>(app.limits(), 0); // refilled for each sample
  auto process = process::LiveProcess::attach(options.pid, std::move(files));
  if (!process) {
    const std::string name = "process " + std::to_string(options.pid);
    app.messages().error(name, process.error());
    print_failure(out, *options.format, name, process.error());
    return tool::exit_failure;
  }
  return LiveRun(app, options, **process, interruption, out).run();
}

} // namespace sframe::unwind_tool
