// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a program and its core (walk_seeds.py): what is printed of each frame beside its
// function: source lines, variables, and what the runtimes of languages know. No other file is opened.
// Properties: values are lines of a bounded size; what is missing has its reason in brackets; goroutines and
// frames are bounded.

#include "memory_file.h"
#include "program_and_core.h"

#include "sframe/languages/cxx.h"
#include "sframe/languages/go.h"
#include "sframe/languages/python.h"
#include "sframe/languages/rust.h"
#include "sframe/modules/source.h"
#include "sframe/process/process_state.h"
#include "sframe/steppers/steppers.h"
#include "sframe/unwind/walker.h"
#include "sframe/variables/variables.h"

#include <algorithm>
#include <cstdint>

namespace frames_fuzzer {

namespace {

using namespace sframe;
using fuzz::require;

constexpr std::uint32_t max_frames = 100;
constexpr std::size_t max_threads = 8;

void check_variables(std::span<const variables::Variable> list, const variables::Settings& settings) {
  require(list.size() <= settings.variables, "too many variables");
  for (const variables::Variable& one : list) {
    require(one.value.find('\n') == one.value.npos, "a value of two lines");
    require(one.value.size() <= 2 * settings.text, "a value that is too long");
    if (one.missing != variables::Missing::none) require(one.value.starts_with('<'), "no reason");
  }
}

/// Looks each frame up.
class Receiver final : public unwind::FrameReceiver {
public:
  explicit Receiver(process::CoreSpace& space)
      : space_(space),
        finder_(space, steppers::default_steppers(space.abi(), space.main_module()), cache_, settings_) {}

  bool frame(const unwind::Frame& frame, const unwind::Registers& registers) override {
    for (const variables::Scope& scope : finder_.find(frame, registers)) {
      check_variables(scope.arguments, settings_);
      check_variables(scope.locals, settings_);
    }
    if (modules::Module* const module = space_.module_at(frame.lookup_pc()))
      if (const auto place = source_.find(*module, frame.lookup_pc()))
        for (const modules::InlinedCall& call : place->inlined)
          require(call.function.find('\0') == call.function.npos, "a zero in a name");
    return frame.number + 1 < max_frames;
  }
  modules::DebugInfoCache& debug_info() { return *cache_; }

private:
  process::CoreSpace& space_;
  std::shared_ptr<modules::DebugInfoCache> cache_ = std::make_shared<modules::DebugInfoCache>();
  variables::Settings settings_{.arguments = true, .locals = true, .inlined = true};
  variables::Finder finder_;
  modules::DwarfSource source_{cache_};
};

void check_thrown(const std::optional<languages::Thrown>& thrown) {
  if (!thrown) return;
  require(!thrown->language.empty(), "no language");
  constexpr std::size_t most_panics = 128; // as many as frames
  require(thrown->message.size() <= most_panics * (languages::longest_message + 100),
          "a message that is too long");
}

void ask_go(languages::GoProgram& go, const process::Thread& thread) {
  (void)go.goroutine_of(thread.tid);
  check_thrown(go.panic_of(thread.tid));
}

void ask_python(languages::PythonProgram& python, const process::Thread& thread) {
  constexpr std::size_t most = 10'000, longest = 4 * 1000 + 3;
  const auto stack = python.stack_of(thread.tid);
  if (!stack) return;
  require(stack->frames.size() <= most, "too many frames");
  for (const languages::PythonFrame& frame : stack->frames)
    require(frame.function.size() <= longest && frame.file.size() <= longest, "a text that is too long");
}

/// As sframe-unwind asks: all registers are needed.
unwind::StepperList recovering_first(process::CoreSpace& space) {
  auto steppers = steppers::default_steppers(space.abi(), nullptr);
  std::ranges::stable_partition(steppers, [](const auto& s) { return s->recovers_all_registers(); });
  return steppers;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Cost cost(size, fuzz::many_passes);
  const auto input = fuzz::split_program(std::as_bytes(std::span(data, size)));
  if (!input) return 0;
  const auto core = core::Core::parse(input->core);
  if (!core) return 0;
  const fuzz::MemoryFile program(input->program);
  modules::FileOptions files{.sysroot = "/nowhere", .executable = program.path(), .debug_dir = ""};
  files.add_budget(size);
  const auto process = process::CoreProcess::create(*core, files);
  if (!process) return 0;
  process::CoreSpace& space = (*process)->space();
  Receiver receiver(space);
  unwind::StepperGroup group(steppers::default_steppers(space.abi(), space.main_module()));
  const auto go = languages::GoProgram::open(space, space.main_module(), receiver.debug_info());
  if (go) languages::GoProgram::add_stepper(go, group);
  const auto python = languages::PythonProgram::open(space, (*process)->modules());
  unwind::Walker walker(space, std::move(group)), all_registers(space, recovering_first(space));
  walker.set_max_frames(max_frames);
  std::size_t threads = 0;
  for (const process::Thread& thread : (*process)->threads()) {
    (void)walker.walk(thread.frame(), receiver);
    check_thrown(languages::rust_panic(space, all_registers, thread.frame()));
    check_thrown(languages::cxx_exception(space, all_registers, thread.frame()));
    if (go) ask_go(*go, thread);
    if (python) ask_python(*python, thread);
    if (++threads == max_threads) break;
  }
  if (go)
    for (const languages::Goroutine& goroutine : go->goroutines()) {
      require(!goroutine.status.empty() || goroutine.wait_reason.empty(), "a wait without a state");
      if (goroutine.tid == 0) (void)walker.walk(goroutine.frame(space.abi()), receiver);
      if (++threads >= 2 * max_threads) break;
    }
  if (const auto problem = files.budget->problem()) require(!problem->text().empty(), "no text of a limit");
  return 0;
}

} // namespace frames_fuzzer
