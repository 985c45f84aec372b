// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processes that the library reads itself: cores and live processes.

#include "guard.h"
#include "process.h"

#include "sframe/process/own_process.h"
#include "sframe/remote/targets.h"
#include "sframe/steppers/steppers.h"

#include <deque>
#include <optional>
#include <vector>

namespace {

using namespace sframe;

/// The options in C++; nothing, with a report, if they are invalid.
std::optional<modules::FileOptions> file_options(const sframe_options* given, sframe_error* error) {
  modules::FileOptions files;
  if (!given) return files;
  const auto options = c::take(given);
  if (!options) {
    c::report_size(error);
    return std::nullopt;
  }
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
  bool frame(const unwind::Frame& frame, const unwind::Registers& registers) override {
    sframe_frame given = c::make_frame(frame.number, {registers, frame.pc_exact, frame.after_fault},
                                       frame.trust, frame.stepper());
    given.signal_frame = frame.signal_frame;
    given.has_cfa = frame.has_cfa;
    given.cfa = frame.cfa;
    return receiver_(given);
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
    return {.size = 0, .tid = thread.tid, .signal = thread.signal, .name = names_[number].c_str()};
  }
  sframe_status walk(std::size_t thread, const Receiver& receiver, sframe_end& end, sframe_error*) override {
    if (!walker_) walker_.emplace(*space_, steppers::default_steppers(abi(), main_module()));
    FrameConverter forward(receiver);
    end = c::make_end(walker_->walk(state_->threads()[thread].frame(), forward));
    return SFRAME_OK;
  }
  sframe_status name(std::uint64_t lookup_pc, std::uint64_t pc, std::string& name,
                     std::uint64_t& offset) override {
    modules::Module* module = space_->module_at(lookup_pc);
    const auto match = module ? module->symbols().find(module->link(lookup_pc)) : std::nullopt;
    if (!match) return SFRAME_NO_INFO;
    name = match->symbol->name;
    offset = match->offset + (pc - lookup_pc);
    return SFRAME_OK;
  }
  std::optional<modules::SourceLocation> source(std::uint64_t lookup_pc) override {
    modules::Module* module = space_->module_at(lookup_pc);
    if (!module) return std::nullopt;
    if (!source_) source_.emplace();
    return source_->find(*module, lookup_pc);
  }
  std::span<modules::Module* const> modules() override {
    if (!modules_) modules_ = mapped_modules();
    return *modules_;
  }
  modules::Module* find_module(std::uint64_t address) override { return space_->module_at(address); }
  std::size_t read(std::uint64_t address, std::span<std::byte> out) override {
    return space_->read(address, out);
  }
  sframe_process_info info() const override {
    return {.size = 0, .pid = state_->pid(), .signal = state_->signal(), .name = name_.c_str()};
  }

protected:
  void use(process::ProcessState& state) {
    state_ = &state;
    space_ = &state.space();
    name_ = state.name();
    begin();
  }
  /// After a stop, the walker's caches by address may be invalid.
  void begin() {
    walker_.reset();
    take_names();
    modules_.reset();
  }
  void end() { walker_.reset(); }
  virtual modules::Module* main_module() = 0;
  virtual bool is_mapped(const modules::Module&) { return true; }
  modules::ModuleSpace& space() { return *space_; }

private:
  void take_names() {
    std::deque<std::string> names;
    for (const process::Thread& thread : state_->threads()) names.emplace_back(thread.name);
    names_.swap(names);
  }
  /// Without those that a live process had before. May open files.
  std::vector<modules::Module*> mapped_modules() {
    std::vector<modules::Module*> mapped;
    std::deque<modules::Module>& all = state_->modules();
    for (std::size_t i = 0, count = all.size(); i < count; ++i) // is_mapped() may find generated code
      if (is_mapped(all[i])) mapped.push_back(&all[i]);
    return mapped;
  }

  process::ProcessState* state_ = nullptr;
  modules::ModuleSpace* space_ = nullptr;
  std::optional<unwind::Walker> walker_;
  std::optional<modules::DwarfSource> source_;
  std::string name_;
  std::deque<std::string> names_;                        ///< zero-terminated
  std::optional<std::vector<modules::Module*>> modules_; ///< once they were asked for
};

class OpenedCore final : public StateProcess {
public:
  explicit OpenedCore(std::unique_ptr<remote::CoreTarget> core) : core_(std::move(core)) {
    use(core_->process());
  }
  process::CoreProcess* core() override { return &core_->process(); }

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
  bool is_readable() const override { return process_->stopped(); }
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
  bool is_mapped(const modules::Module& module) override {
    return space().module_at(module.info().start) == &module;
  }
  std::unique_ptr<process::LiveProcess> process_;
};

/// This program: modules and memory, no threads.
class OwnModules final : public StateProcess {
public:
  explicit OwnModules(std::unique_ptr<process::OwnProcess> process) : process_(std::move(process)) {
    use(*process_);
  }
  sframe_status stop(sframe_error* error) override {
    if (auto read = process_->refresh(); !read) return c::report(error, SFRAME_INVALID, read.error().text());
    begin();
    return SFRAME_OK;
  }

private:
  modules::Module* main_module() override { return process_->space().main_module(); }
  bool is_mapped(const modules::Module& module) override {
    return space().module_at(module.info().start) == &module;
  }
  std::unique_ptr<process::OwnProcess> process_;
};

} // namespace

sframe_process* sframe_open_own(const sframe_options* options, sframe_error* error) {
  return c::guarded_pointer(error, [&]() -> sframe_process* {
    auto files = file_options(options, error);
    if (!files) return nullptr;
    auto process = process::OwnProcess::create(std::move(*files));
    if (process) return new OwnModules(std::move(*process));
    c::report(error, SFRAME_INVALID, process.error().text());
    return nullptr;
  });
}

sframe_process* sframe_open_core(const char* path, const sframe_options* options, sframe_error* error) {
  if (!path) {
    c::report_null(error);
    return nullptr;
  }
  return c::guarded_pointer(error, [&]() -> sframe_process* {
    auto files = file_options(options, error);
    if (!files) return nullptr;
    auto core = remote::CoreTarget::open(path, std::move(*files));
    if (core) return new OpenedCore(std::move(*core));
    c::report(error, SFRAME_INVALID, std::string(path) + ": " + core.error().text());
    return nullptr;
  });
}

sframe_process* sframe_attach(int pid, const sframe_options* options, sframe_error* error) {
  return c::guarded_pointer(error, [&]() -> sframe_process* {
    auto files = file_options(options, error);
    if (!files) return nullptr;
    files->add_budget(0); // refilled by each stop
    auto process = process::LiveProcess::attach(static_cast<std::uint32_t>(pid), std::move(*files));
    if (process) return new AttachedProcess(std::move(*process));
    c::report(error, SFRAME_INVALID, "process " + std::to_string(pid) + ": " + process.error().text());
    return nullptr;
  });
}
