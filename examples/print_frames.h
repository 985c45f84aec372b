// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common to the examples: prints a line for each frame, as sframe-unwind does, and one if the walk ends
// before the outermost frame.

#pragma once

#include "sframe/modules/address_names.h"
#include "sframe/process/process_state.h"
#include "sframe/unwind/walker.h"

#include <cstdio>
#include <string>

namespace example {

/// Prints frames during a walk.
class FramePrinter final : public sframe::unwind::FrameReceiver {
public:
  FramePrinter(sframe::modules::ModuleSpace& space, sframe::modules::SymbolLookup& symbols)
      : space_(space), symbols_(symbols) {}

  bool frame(const sframe::unwind::Frame& frame, const sframe::unwind::Registers&) override {
    sframe::modules::Module* module = space_.module_at(frame.lookup_pc());
    sframe::modules::AddressName name;
    name.module = module;
    name.function = sframe::modules::function_of(frame, module, symbols_);
    if (module) name.module_offset = frame.pc - module->info().start;
    std::printf("#%-2u 0x%016llx  %s", frame.number, static_cast<unsigned long long>(frame.pc),
                sframe::modules::address_text(name, frame.pc).c_str());
    std::printf("  [%s%s]\n", std::string(frame.stepper()).c_str(),
                frame.trust == sframe::unwind::Trust::heuristic ? ", heuristic" : "");
    return true; // continue
  }

private:
  sframe::modules::ModuleSpace& space_;
  sframe::modules::SymbolLookup& symbols_;
};

/// Walks every thread and prints its stack; true if all walks reached the outermost frame.
inline bool print_stacks(sframe::unwind::Walker& walker, sframe::process::ProcessState& process,
                         sframe::modules::SymbolLookup& symbols) {
  FramePrinter printer(process.space(), symbols);
  bool complete = true;
  for (const sframe::process::Thread& thread : process.threads()) {
    std::printf("thread %u\n", thread.tid);
    const sframe::unwind::WalkEnd end = walker.walk(thread.frame(), printer);
    if (!end.complete) std::printf("    ended early: %s\n", describe(end).c_str());
    complete &= end.complete;
  }
  return complete;
}

} // namespace example
