// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "languages.h"

#include "sframe/core/signals.h"
#include "sframe/languages/cxx.h"
#include "sframe/languages/rust.h"
#include "sframe/steppers/steppers.h"

#include <algorithm>

namespace sframe::unwind_tool {

Languages::Languages(process::ProcessState& process, std::span<const std::string> wanted,
                     modules::DebugInfoCache& debug_info)
    : process_(process), wanted_(wanted) {
  if (!wants("go")) return;
  const auto main = std::ranges::find_if(process.modules(), [](const auto& m) { return m.info().main; });
  if (main != process.modules().end()) go_ = languages::GoProgram::open(process.space(), &*main, debug_info);
}

bool Languages::wants(std::string_view language) const {
  return wanted_.empty() || std::ranges::find(wanted_, language) != wanted_.end();
}

void Languages::add_steppers(unwind::StepperGroup& steppers) const {
  if (go_) languages::GoProgram::add_stepper(go_, steppers);
}

void Languages::forget_memory() {
  if (go_) go_->forget_memory();
  python_.reset();
}

languages::PythonProgram* Languages::python() {
  if (!python_)
    python_ =
        wants("python") ? languages::PythonProgram::open(process_.space(), process_.modules()) : nullptr;
  return python_->get();
}

std::vector<Languages::Runtime> Languages::runtimes() {
  std::vector<Runtime> all;
  if (go_) all.push_back({"Go", go_->version(), go_->problem()});
  if (const auto* const program = python()) all.push_back({"Python", program->version(), program->problem()});
  return all;
}

std::optional<languages::Thrown> Languages::thrown_by(const process::Thread& thread) {
  if (go_) return go_->panic_of(thread.tid);
  // Rust's abort was an undefined instruction at times.
  const std::int32_t signal = process_.signal();
  if (signal != core::sigill && signal != core::sigtrap && signal != core::sigabrt) return std::nullopt;
  unwind::StepperList steppers = steppers::default_steppers(process_.space().abi(), nullptr);
  steppers::put_all_registers_first(steppers);
  unwind::Walker walker(process_.space(), std::move(steppers));
  std::optional<languages::Thrown> thrown;
  if (wants("rust")) thrown = languages::rust_panic(process_.space(), walker, thread.frame());
  if (!thrown && signal == core::sigabrt && wants("c++") && has_cxx_library())
    thrown = languages::cxx_exception(process_.space(), walker, thread.frame());
  return thrown;
}

bool Languages::has_cxx_library() {
  return std::ranges::any_of(process_.modules(), [](auto& module) {
    return module.name().starts_with("libstdc++") ||
           (module.info().main && module.symbols().find_definition("__cxa_throw"));
  });
}

std::optional<std::uint64_t> Languages::goroutine_of(std::uint32_t tid) {
  return go_ ? go_->goroutine_of(tid) : std::nullopt;
}

std::optional<languages::PythonStack> Languages::python_stack(std::uint32_t tid) {
  languages::PythonProgram* const program = python();
  return program ? program->stack_of(tid) : std::nullopt;
}

std::vector<languages::Goroutine> Languages::goroutines() {
  return go_ ? go_->goroutines() : std::vector<languages::Goroutine>();
}

std::string state_text(const languages::Goroutine& goroutine) {
  std::string text(goroutine.wait_reason.empty() ? goroutine.status : goroutine.wait_reason);
  if (goroutine.tid) text += ", TID " + std::to_string(goroutine.tid);
  if (goroutine.locked_tid && goroutine.locked_tid != goroutine.tid)
    text += ", locked to TID " + std::to_string(goroutine.locked_tid);
  return text;
}

} // namespace sframe::unwind_tool
