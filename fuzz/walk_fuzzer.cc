// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a program and its core (walk_seeds.py): every thread is walked with every stepper, or
// with those whose bits are set in the fourth byte, and then within a budget; bit 0 also has SFrame generated
// from CFI. No other file is opened, since paths in a mutated core could name anything. Properties: frames
// are numbered, their number is bounded, and a walk reported as complete has a valid reason for its end.

#include "memory_file.h"
#include "program_and_core.h"

#include "sframe/modules/symbols.h"
#include "sframe/process/process_state.h"
#include "sframe/steppers/steppers.h"
#include "sframe/unwind/walker.h"

#include <cstdint>
#include <string>

namespace walk_fuzzer {

namespace {

using namespace sframe;
using fuzz::require;

constexpr std::uint32_t max_frames = 300;
constexpr std::size_t max_threads = 50;

class Receiver final : public unwind::FrameReceiver {
public:
  explicit Receiver(modules::ModuleSpace& space) : space_(space) {}

  bool frame(const unwind::Frame& frame, const unwind::Registers& registers) override {
    require(frame.number == count_ && frame.pc == registers.pc);
    require((frame.found_by == nullptr) == (frame.number == 0));
    (void)modules::function_of(frame, space_.module_at(frame.lookup_pc()), symbols_);
    return ++count_ <= max_frames;
  }
  std::uint32_t count() const { return count_; }

private:
  modules::ModuleSpace& space_;
  modules::ElfSymbols symbols_;
  std::uint32_t count_ = 0;
};

/// The ready steppers of a mask, 0 for all, in the order of their priorities.
unwind::StepperList steppers_of(unsigned mask, const AbiTraits& abi, modules::Module* main) {
  auto all = steppers::default_steppers(abi, main);
  if (!mask) return all;
  std::string names;
  for (const steppers::StepperInfo& info : steppers::ready_steppers()) {
    if (mask & 1) names.append(names.empty() ? "" : ",").append(info.name);
    mask >>= 1;
  }
  auto chosen = steppers::select_steppers(std::move(all), names);
  require(chosen.has_value());
  return std::move(*chosen);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // 50 threads of 300 frames, each frame with all steppers.
  const fuzz::Cost cost(size, fuzz::many_passes);
  const auto input = fuzz::split_program(std::as_bytes(std::span(data, size)));
  if (!input) return 0;
  const unsigned mask = input->choices;
  const auto core = core::Core::parse(input->core);
  if (!core) return 0;
  const fuzz::MemoryFile program(input->program);
  modules::FileOptions files{.sysroot = "/nowhere", .executable = program.path(), .debug_dir = ""};
  files.generate_sframe = mask & 1;
  if (mask) files.add_budget(size);
  const auto process = process::CoreProcess::create(*core, files);
  if (!process) return 0;
  process::CoreSpace& space = (*process)->space();
  unwind::Walker walker(space, steppers_of(mask, space.abi(), space.main_module()));
  walker.set_max_frames(max_frames);
  std::size_t threads = 0;
  for (const process::Thread& thread : (*process)->threads()) {
    Receiver receiver(space);
    const unwind::WalkEnd end = walker.walk(thread.frame(), receiver);
    require(receiver.count() >= 1 && receiver.count() <= max_frames);
    require(!end.complete || end.reason == unwind::StopReason::bottom ||
            end.reason == unwind::StopReason::zero_pc);
    require(!unwind::describe(end).empty());
    if (++threads == max_threads) break;
  }
  if (const auto problem = files.budget ? files.budget->problem() : std::nullopt)
    require(!problem->text().empty());
  return 0;
}

} // namespace walk_fuzzer
