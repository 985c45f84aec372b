// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structures that are followed, in Go's words; GoRuntime has the offsets, from DWARF:
//
//   runtime.allgs -> array of g      g.sched    pc, sp, bp of one that does not run
//                                    g.m        the m (thread) that runs it
//   runtime.allm  -> m -> m ...      m.procid   the thread's ID
//                                    m.curg     the g that it runs
//                                    m.g0       the g that has its system stack
//
// GoStepper continues on a goroutine's stack where the system stack of its thread ends: at the functions that
// switch, found by their names. It finds the thread by SP, which is in the stack of its g0.

#include "sframe/languages/go.h"

#include "go_runtime.h"

#include "sframe/core/core.h"
#include "sframe/elf/image.h"
#include "sframe/number_hash.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

namespace sframe::languages {

struct GoProgram::State {
  GoRuntime runtime;
};

namespace {

/// runtime2.go: _Gidle and the following; _Gleaked since Go 1.26.
constexpr std::array<std::string_view, 11> status_names = {
    "idle", "runnable", "running",           "system call", "waiting", "",
    "dead", "",         "copying its stack", "preempted",   "leaked"};
constexpr std::uint64_t status_running = 2, status_system_call = 3, status_waiting = 4, status_dead = 6,
                        status_leaked = 10, scan_bit = 0x1000;

} // namespace

unwind::FrameState Goroutine::frame(const AbiTraits& abi) const {
  unwind::FrameState state{.registers = {}, .pc_exact = pc_exact, .after_fault = false, .shadow = {}};
  state.registers.pc = pc;
  state.registers.set(abi.sp, sp);
  state.registers.set(abi.fp, fp);
  return state;
}

GoProgram::GoProgram(std::unique_ptr<State> state) : state_(std::move(state)) {}
GoProgram::~GoProgram() = default;

std::shared_ptr<GoProgram> GoProgram::open(modules::ModuleSpace& space, modules::Module* main,
                                           modules::DebugInfoCache& cache) {
  if (!main || !main->file().is_image() || !elf::has_go_code(*main->image())) return nullptr;
  return std::shared_ptr<GoProgram>(
      new GoProgram(std::unique_ptr<State>(new State{GoRuntime(space, *main, cache)})));
}

const std::string& GoProgram::version() const {
  return state_->runtime.version;
}

const std::string& GoProgram::problem() const {
  return state_->runtime.problem;
}

void GoProgram::forget_memory() {
  state_->runtime.memory = RuntimeMemory(state_->runtime.space);
}

namespace {

/// A goroutine that was never run, or that systemstack() has left, is at the start of a function; one that
/// switched by mcall() has a return address.
bool is_function_start(modules::ModuleSpace& space, std::uint64_t pc) {
  modules::Module* const module = space.module_at(pc);
  const auto symbol = module ? module->symbols().find(module->link(pc)) : std::nullopt;
  return symbol && symbol->offset == 0;
}

/// Reads the list of goroutines.
class Lister {
public:
  explicit Lister(GoRuntime& runtime) : runtime_(runtime), layout_(runtime.layout) {
    runtime_.each_m([&](std::uint64_t m) {
      if (const auto thread = runtime_.load(m, layout_.m.thread))
        threads_.emplace(m, static_cast<std::uint32_t>(*thread));
      return true;
    });
  }

  std::vector<Goroutine> list() {
    constexpr std::uint64_t most = 1 << 20;
    std::vector<Goroutine> all;
    const auto array = runtime_.memory.word(layout_.allgs), count = runtime_.memory.word(layout_.allgs + 8);
    for (std::uint64_t i = 0; array && count && i < std::min(*count, most); ++i) {
      const auto address = runtime_.memory.word(*array + i * 8);
      if (!address) break;
      if (auto goroutine = read(*address)) all.push_back(std::move(*goroutine));
    }
    return all;
  }

private:
  /// Nothing for one that has ended, or cannot be read.
  std::optional<Goroutine> read(std::uint64_t address) {
    const auto status_value = runtime_.load(address, layout_.g.status);
    const auto id = runtime_.load(address, layout_.g.id);
    if (!status_value || !id) return std::nullopt;
    const std::uint64_t status = *status_value & ~scan_bit;
    if (status == status_dead || status >= status_names.size()) return std::nullopt;
    Goroutine goroutine;
    goroutine.id = *id;
    goroutine.address = address;
    goroutine.status = status_names[status];
    goroutine.start_pc = runtime_.load(address, layout_.g.start_pc).value_or(0);
    // The first one was made by the program's start.
    if (*id != 1) goroutine.creator_pc = runtime_.load(address, layout_.g.creator_pc).value_or(0);
    goroutine.locked_tid = thread_of(address, layout_.g.locked_m);
    if (status == status_waiting || status == status_leaked) {
      goroutine.wait_reason = wait_reason(address);
      if (status == status_leaked && !goroutine.wait_reason.empty()) goroutine.wait_reason += " (leaked)";
      goroutine.wait_since = runtime_.load(address, layout_.g.wait_since).value_or(0);
    }
    if (status == status_running || status == status_system_call)
      goroutine.tid = thread_of(address, layout_.g.m);
    goroutine.pc = runtime_.load(address, layout_.g.pc).value_or(0);
    goroutine.sp = runtime_.load(address, layout_.g.sp).value_or(0);
    goroutine.fp = runtime_.load(address, layout_.g.bp).value_or(0);
    goroutine.pc_exact = is_function_start(runtime_.space, goroutine.pc);
    return goroutine;
  }

  std::uint32_t thread_of(std::uint64_t g, Number field) {
    const auto m = runtime_.load(g, field);
    const auto thread = m ? threads_.find(*m) : threads_.end();
    return thread == threads_.end() ? 0 : thread->second;
  }

  std::string wait_reason(std::uint64_t g) {
    constexpr std::size_t longest = 200;
    const auto number = runtime_.load(g, layout_.g.wait_reason);
    if (!number || *number >= layout_.wait_reason_count) return {};
    return runtime_.string(layout_.wait_reasons + *number * 16, longest).value_or("");
  }

  GoRuntime& runtime_;
  const GoLayout& layout_;
  std::unordered_map<std::uint64_t, std::uint32_t, NumberHash> threads_; ///< by m
};

} // namespace

std::vector<Goroutine> GoProgram::goroutines() {
  if (!problem().empty()) return {};
  return Lister(state_->runtime).list();
}

std::optional<std::uint64_t> GoProgram::goroutine_of(std::uint32_t tid) {
  if (!problem().empty()) return std::nullopt;
  GoRuntime& runtime = state_->runtime;
  const std::uint64_t m = runtime.m_of(tid);
  const auto g = m ? runtime.load(m, runtime.layout.m.current) : std::nullopt;
  return g && *g ? runtime.load(*g, runtime.layout.g.id) : std::nullopt;
}

std::optional<Thrown> GoProgram::panic_of(std::uint32_t tid) {
  constexpr unsigned most = 16;
  GoRuntime& runtime = state_->runtime;
  const GoLayout& layout = runtime.layout;
  if (!problem().empty() || !layout.panic.argument) return std::nullopt;
  const std::uint64_t m = runtime.m_of(tid);
  const auto g = m ? runtime.load(m, layout.m.current) : std::nullopt;
  auto panic = g && *g ? runtime.load(*g, layout.g.panic) : std::nullopt;
  Thrown thrown{.language = "Go", .type = {}, .message = {}};
  // The newest comes first; the runtime prints the oldest first.
  for (unsigned i = 0; panic && *panic && i < most; ++i, panic = runtime.load(*panic, layout.panic.link)) {
    if (runtime.load(*panic, layout.panic.goexit).value_or(0)) continue;
    std::string text = runtime.text_of(*panic + *layout.panic.argument).value_or("?");
    if (runtime.load(*panic, layout.panic.recovered).value_or(0)) text += " [recovered]";
    thrown.message = thrown.message.empty() ? text : text + "; panic: " + thrown.message;
  }
  if (thrown.message.empty()) return std::nullopt;
  if (const auto signal = runtime.load(*g, layout.g.signal); signal && *signal) {
    const auto number = static_cast<std::int32_t>(*signal);
    thrown.message += " [signal " + core::signal_name(number) + ": address " +
                      hex(runtime.load(*g, layout.g.signal_code1).value_or(0)) + ", pc " +
                      hex(runtime.load(*g, layout.g.signal_pc).value_or(0)) + ']';
  }
  return thrown;
}

/// At the functions that switch from a goroutine's stack to the system stack of its thread (m.g0), the caller
/// is on the former, at what the runtime saved there (g.sched).
class GoStepper final : public unwind::FrameStepper {
public:
  /// `cgo`: the function that calls C.
  GoStepper(std::shared_ptr<GoProgram> program, AddressRange cgo) : program_(std::move(program)), cgo_(cgo) {}
  std::string_view name() const override { return "go"; }
  std::string_view description() const override {
    return "from the system stack to the goroutine's, by the data of Go's runtime";
  }
  int priority() const override { return 5; }

  unwind::StepResult step(const unwind::FrameState& frame, unwind::Memory& memory,
                          unwind::FrameState& caller) override {
    GoRuntime& runtime = program_->state_->runtime;
    const GoLayout& layout = runtime.layout;
    const AbiTraits& abi = runtime.space.abi();
    const auto sp = frame.registers.get(abi.sp);
    if (!sp) return unwind::StepResult::not_applicable();
    const auto g = goroutine_at(*sp);
    if (!g) return unwind::StepResult::not_applicable();
    if (cgo_.contains(frame.lookup_pc()) && !is_saved(*g, *sp, memory))
      return unwind::StepResult::not_applicable();
    if (*g == 0) return {.status = unwind::StepStatus::bottom, .reason = unwind::StopReason::bottom};
    const auto low = memory.word(*g + layout.g.stack_low.offset);
    const auto high = memory.word(*g + layout.g.stack_high.offset);
    const auto pc = memory.word(*g + layout.g.pc.offset), saved = memory.word(*g + layout.g.sp.offset);
    if (!low || !high || !pc || !saved || *pc == 0 || *saved < *low || *saved > *high)
      return unwind::StepResult::not_applicable();
    Goroutine parked;
    parked.pc = *pc;
    parked.sp = *saved;
    parked.fp = memory.word(*g + layout.g.bp.offset).value_or(0);
    parked.pc_exact = is_function_start(runtime.space, *pc);
    caller = parked.frame(abi);
    return {.status = unwind::StepStatus::stepped, .other_stack = true};
  }

private:
  /// asmcgocall() does not switch if the thread is on its system stack already. If it does, it saves the
  /// goroutine at SP: at 8(SP) or 48(SP), depending on the version.
  static bool is_saved(std::uint64_t g, std::uint64_t sp, unwind::Memory& memory) {
    for (std::uint64_t offset = 0; offset < 64; offset += 8)
      if (g && memory.word(sp + offset) == g) return true;
    return false;
  }

  /// The goroutine of the thread whose system stack has this address, 0 if it runs none. Nothing if there is
  /// no such thread.
  std::optional<std::uint64_t> goroutine_at(std::uint64_t sp) {
    GoRuntime& runtime = program_->state_->runtime;
    const GoLayout& layout = runtime.layout;
    std::optional<std::uint64_t> found;
    runtime.each_m([&](std::uint64_t m) {
      const auto g0 = runtime.load(m, layout.m.g0);
      const auto low = g0 ? runtime.load(*g0, layout.g.stack_low) : std::nullopt;
      const auto high = g0 ? runtime.load(*g0, layout.g.stack_high) : std::nullopt;
      if (!low || !high || sp < *low || sp > *high) return true;
      found = runtime.load(m, layout.m.current);
      return false;
    });
    return found;
  }

  std::shared_ptr<GoProgram> program_;
  AddressRange cgo_;
};

void GoProgram::add_stepper(const std::shared_ptr<GoProgram>& program, unwind::StepperGroup& steppers) {
  if (!program->problem().empty()) return;
  modules::Module& main = program->state_->runtime.main;
  // Of functions in assembly with the stack's calling convention, the name without the suffix is a wrapper.
  const auto extent = [&](const std::string& name) {
    auto start = main.symbols().find_definition(name + ".abi0");
    if (!start) start = main.symbols().find_definition(name);
    return start ? main.find_symbol_extent(*start).value_or(AddressRange()) : AddressRange();
  };
  const AddressRange cgo = extent("runtime.asmcgocall");
  steppers.add(std::make_unique<GoStepper>(program, cgo), cgo);
  for (const char* name : {"runtime.systemstack", "runtime.mcall", "runtime.morestack"})
    steppers.extend("go", extent(name));
}

} // namespace sframe::languages
