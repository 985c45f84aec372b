// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processes that the library reads itself: cores and live processes.

#include "guard.h"

#include "sframe/remote/targets.h"
#include "sframe/steppers/steppers.h"

#include <deque>
#include <optional>

namespace {

using namespace sframe;

modules::FileOptions file_options(const sframe_options* options) {
  modules::FileOptions files;
  if (!options) return files;
  const auto take = [](const char* from, std::string& to) {
    if (from) to = from;
  };
  take(options->executable, files.executable);
  take(options->sysroot, files.sysroot);
  take(options->sframe_dir, files.sframe_dir);
  if (options->debug_dir) files.more_debug_dirs.push_back(options->debug_dir);
  files.open_files = !options->no_files;
  if (options->no_limits) files.budget = std::make_shared<Budget>(Limits::off, 0);
  if (options->trust_all) files.trust = modules::FileTrust::all;
  return files;
}

/// Converts a Walker's frames to C.
class FrameConverter final : public unwind::FrameReceiver {
public:
  explicit FrameConverter(const sframe_process::Receiver& receiver) : receiver_(receiver) {}
  bool frame(const unwind::Frame& frame, const unwind::Registers&) override {
    return receiver_({.number = frame.number,
                      .pc_exact = frame.pc_exact,
                      .signal_frame = frame.signal_frame,
                      .has_cfa = frame.has_cfa,
                      .heuristic = frame.trust == unwind::Trust::heuristic,
                      .pc = frame.pc,
                      .cfa = frame.cfa,
                      .found_by = frame.stepper().data()}); // a literal
  }

private:
  const sframe_process::Receiver& receiver_;
};

/// The functions that need only process::ProcessState.
class StateProcess : public sframe_process {
public:
  const AbiTraits& abi() const override { return space_->abi(); }
  std::size_t num_threads() const override { return state_->threads().size(); }
  sframe_thread thread(std::size_t number) const override {
    const process::Thread& thread = state_->threads()[number];
    return {thread.tid, thread.signal, names_[number].c_str()};
  }
  sframe_status walk(std::size_t thread, const Receiver& receiver, sframe_end& end, sframe_error*) override {
    if (!walker_) walker_.emplace(*space_, steppers::default_steppers(abi(), main_module()));
    FrameConverter forward(receiver);
    c::describe_end(walker_->walk(state_->threads()[thread].frame(), forward), end);
    return SFRAME_OK;
  }
  sframe_status name(std::uint64_t lookup_pc, std::uint64_t pc, std::string& name,
                     std::uint64_t& offset) override {
    modules::Module* module = space_->module_at(lookup_pc);
    const auto match = module ? module->find_symbol(lookup_pc - module->bias()) : std::nullopt;
    if (!match) return SFRAME_NO_INFO;
    name = match->symbol->name;
    offset = match->offset + (pc - lookup_pc);
    return SFRAME_OK;
  }
  const char* module_path(std::uint64_t lookup_pc) override {
    modules::Module* module = space_->module_at(lookup_pc);
    return module ? module->info().path.c_str() : nullptr;
  }

protected:
  void use(process::ProcessState& state) {
    state_ = &state;
    space_ = &state.space();
    take_names();
  }
  /// After a stop, the walker's caches by address may be invalid.
  void begin() {
    walker_.reset();
    take_names();
  }
  void end() { walker_.reset(); }
  virtual modules::Module* main_module() = 0;

private:
  void take_names() {
    std::deque<std::string> names;
    for (const process::Thread& thread : state_->threads()) names.emplace_back(thread.name);
    names_.swap(names);
  }

  process::ProcessState* state_ = nullptr;
  modules::ModuleSpace* space_ = nullptr;
  std::optional<unwind::Walker> walker_;
  std::deque<std::string> names_; ///< zero-terminated
};

class OpenedCore final : public StateProcess {
public:
  explicit OpenedCore(std::unique_ptr<remote::CoreTarget> core) : core_(std::move(core)) {
    use(core_->process());
  }

private:
  modules::Module* main_module() override { return core_->process().space().main_module(); }
  std::unique_ptr<remote::CoreTarget> core_;
};

class AttachedProcess final : public StateProcess {
public:
  explicit AttachedProcess(std::unique_ptr<process::LiveProcess> process) : process_(std::move(process)) {
    use(*process_);
  }
  std::size_t num_threads() const override { return process_->stopped() ? StateProcess::num_threads() : 0; }
  sframe_status stop(sframe_error* error) override {
    if (auto stopped = process_->stop(); !stopped)
      return c::report(error, SFRAME_INVALID, stopped.error().text());
    try {
      begin();
    } catch (...) {
      process_->resume(); // it could not be used
      throw;
    }
    return SFRAME_OK;
  }
  void resume() override {
    end();
    process_->resume();
  }

private:
  modules::Module* main_module() override { return process_->space().main_module(); }
  std::unique_ptr<process::LiveProcess> process_;
};

} // namespace

sframe_process* sframe_open_core(const char* path, const sframe_options* options, sframe_error* error) {
  if (!path) return c::report_null(error), nullptr;
  return c::guarded_pointer(error, [&]() -> sframe_process* {
    auto core = remote::CoreTarget::open(path, file_options(options));
    if (core) return new OpenedCore(std::move(*core));
    c::report(error, SFRAME_INVALID, std::string(path) + ": " + core.error().text());
    return nullptr;
  });
}

sframe_process* sframe_attach(int pid, const sframe_options* options, sframe_error* error) {
  return c::guarded_pointer(error, [&]() -> sframe_process* {
    modules::FileOptions files = file_options(options);
    files.add_budget(0); // refilled by each stop
    auto process = process::LiveProcess::attach(static_cast<std::uint32_t>(pid), std::move(files));
    if (process) return new AttachedProcess(std::move(*process));
    c::report(error, SFRAME_INVALID, "process " + std::to_string(pid) + ": " + process.error().text());
    return nullptr;
  });
}
