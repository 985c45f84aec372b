// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core_walk.h"

#include "threads.h"

#include "sframe/base/budget.h"

#include <utility>

namespace sframe::unwind_tool {

std::optional<CoreWalk::Failure> CoreWalk::open() {
  modules::FileOptions files = options_.files;
  files.budget = std::make_shared<Budget>(limits_, core_.cost_size());
  if (shared_) files.shared = shared_->files;
  auto process = process::CoreProcess::create(core_.core(), std::move(files));
  if (!process) return Failure{false, process.error().text()};
  process_ = std::move(*process);
  process::CoreSpace& space = process_->space();
  threads_ = wanted_threads(*process_, options_);
  if (threads_.empty())
    return Failure{false, options_.thread ? "no thread " + std::to_string(*options_.thread) : "no threads"};
  auto steppers = choose_steppers(space.abi(), space.main_module(), options_);
  if (!steppers) return Failure{true, "--steppers: " + steppers.error().text()};
  auto debug_info = shared_ ? shared_->debug_info : std::make_shared<modules::DebugInfoCache>();
  unwind::StepperGroup group(std::move(*steppers));
  if (wants_languages(options_)) languages_.emplace(*process_, options_.languages, *debug_info);
  if (languages_ && options_.steppers.empty()) languages_->add_steppers(group);
  walker_.emplace(space, std::move(group));
  symbolizer_.emplace(space, symbolizer_settings(options_),
                      steppers_for_variables(space.abi(), space.main_module(), options_),
                      std::move(debug_info));
  return std::nullopt;
}

/// Others of the kind that open() has chosen.
unwind::StepperList CoreWalk::steppers() {
  auto steppers = choose_steppers(process_->space().abi(), process_->space().main_module(), options_);
  return steppers ? std::move(*steppers) : unwind::StepperList();
}

CoreHeader CoreWalk::header(crash::CoreOrigin origin) {
  CoreHeader header;
  header.truncated = core_.core().truncated();
  header.command = crash::command_line(core_.core());
  header.program = process_->space().main_module();
  header.origin = std::move(origin);
  constexpr std::uint64_t million = 1'000'000;
  if (const auto time = core_.core().time(); time && !header.origin.time)
    header.origin.time = *time * million;
  if (threads_.front() == &process_->threads().front()) {
    const process::Thread& thread = *threads_.front();
    const auto handled = options_.modules || process_->signal() == 0
                             ? std::vector<crash::SignalOnStack>()
                             : crash::signals_on_stack(thread, *process_, *walker_);
    header.crash = crash::explain_crash(*process_, handled);
    const auto& first = header.crash.first_fault;
    if (languages_ && !options_.modules) {
      header.thrown = languages_->thrown_by(thread);
      header.goroutine = languages_->goroutine_of(thread.tid);
    }
    if (!options_.modules) header.signature = signature(first);
    if (header.crash.tid && !options_.modules && !options_.no_names)
      header.places = find_places(start_of(first), first ? first->from.frame : 0, *process_, *walker_,
                                  *symbolizer_, steppers());
  }
  if (languages_ && !options_.modules) header.runtimes = languages_->runtimes();
  walker_->set_max_frames(options_.max_frames);
  return header;
}

unwind::FrameState CoreWalk::start_of(const std::optional<crash::HandledFault>& fault) const {
  return fault ? fault->from.interrupted : process_->threads().front().frame();
}

crash::Signature CoreWalk::signature(const std::optional<crash::HandledFault>& fault) {
  return crash::signature_of(start_of(fault), process_->signal(), *walker_, *symbolizer_,
                             process_->space().budget());
}

crash::Signature CoreWalk::signature() {
  if (process_->signal() == 0) return signature(std::nullopt);
  const auto handled = crash::signals_on_stack(process_->threads().front(), *process_, *walker_);
  return signature(crash::first_fault(*process_, handled));
}

void CoreWalk::find_packages(CoreHeader& header, crash::InstalledPackages& installed) {
  if (!header.program) return;
  std::vector<modules::Module*> asked = {process_->space().main_module()};
  if (header.crash.tid)
    if (modules::Module* const module = process_->space().module_at(threads_.front()->registers.pc);
        module && module != header.program)
      asked.push_back(module);
  auto packages = crash::packages_of(asked, installed);
  header.package = std::move(packages.front());
  if (asked.size() == 1 || packages.back().name.empty()) return;
  header.crashed_in = asked.back();
  header.crashed_package = std::move(packages.back());
}

bool CoreWalk::report(tool::MessageSink& messages) {
  if (!process_) return false;
  bool wrong = false;
  const core::Core& core = core_.core();
  if (core.truncated()) {
    messages.warning(path_, "core is truncated: some of the memory is missing");
    wrong = true;
  }
  for (const Problem& problem : core.problems()) {
    messages.warning(path_, problem);
    wrong = true;
  }
  for (const std::string& problem : process_->space().generated_code().problems())
    messages.warning(path_, problem);
  wrong |= report_modules(messages, *process_);
  Budget* const budget = process_->space().budget();
  if (const auto over = budget ? budget->problem() : std::nullopt) {
    messages.warning(path_, *over);
    wrong = true;
  }
  return wrong;
}

} // namespace sframe::unwind_tool
