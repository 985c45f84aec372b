// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the examples share: a line for each frame, as sframe-unwind prints it, and one for an end before the
// outermost frame.

#pragma once

#include "sframe/walk/process_state.h"
#include "sframe/walk/symbols.h"
#include "sframe/walk/walker.h"

#include <cstdio>
#include <string>

namespace example {

/// Prints frames as a walk finds them.
class FramePrinter final : public sframe::walk::FrameReceiver {
public:
  FramePrinter(sframe::walk::AddressSpace& space, sframe::walk::SymbolLookup& symbols)
      : space_(space), symbols_(symbols) {}

  bool frame(const sframe::walk::Frame& frame, const sframe::walk::Registers&) override {
    sframe::walk::Module* module = space_.module_at(frame.lookup_pc());
    const auto function = sframe::walk::function_of(frame, module, symbols_);
    std::printf("#%-2u 0x%016llx", frame.number, static_cast<unsigned long long>(frame.pc));
    if (function)
      std::printf("  %s + 0x%llx", function->name.c_str(), static_cast<unsigned long long>(function->offset));
    if (module) std::printf("  (%s)", std::string(module->name()).c_str());
    std::printf("  [%s%s]\n", std::string(frame.stepper()).c_str(),
                frame.trust == sframe::walk::Trust::heuristic ? ", heuristic" : "");
    return true; // go on
  }

private:
  sframe::walk::AddressSpace& space_;
  sframe::walk::SymbolLookup& symbols_;
};

/// Walks every thread and prints its stack; true where all came to their outermost frames.
inline bool print_stacks(sframe::walk::Walker& walker, sframe::walk::ProcessState& process,
                         sframe::walk::SymbolLookup& symbols) {
  FramePrinter printer(process.space(), symbols);
  bool complete = true;
  for (const sframe::walk::Thread& thread : process.threads()) {
    std::printf("thread %u\n", thread.tid);
    const sframe::walk::WalkEnd end = walker.walk(thread.frame(), printer);
    if (!end.complete) std::printf("    ended early: %s\n", describe(end).c_str());
    complete &= end.complete;
  }
  return complete;
}

} // namespace example
