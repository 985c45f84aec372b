// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// own_stepper CORE: a user-defined frame stepper. targets/coroutines.c runs code on its own stacks; no table
// can represent the caller of a coroutine, so walks end there. This stepper implements the program's
// convention; it is asked for that piece of code only. (AMD64.)

#include "print_frames.h"

#include "sframe/elf/symbols.h"
#include "sframe/process/open_core.h"
#include "sframe/steppers/steppers.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>

namespace {

using namespace sframe;

// DWARF numbers, as everywhere in the library.
constexpr std::uint16_t rsp = 7;
constexpr std::uint16_t saved_registers[] = {15, 14, 13, 12, 3, 6}; // r15 to r12, rbx, rbp, in memory order

/// Steps from the frame that runs a coroutine's body to the caller of run_coroutine().
class CoroutineStepper final : public unwind::FrameStepper {
public:
  std::string_view name() const override { return "coroutine"; }
  std::string_view description() const override { return "the function that started the coroutine"; }
  int priority() const override { return 5; } // before the tables; 100 and above is for heuristic steppers
  bool recovers_all_registers() const override { return true; }

  unwind::StepResult step(const unwind::FrameState& frame, unwind::Memory& memory,
                          unwind::FrameState& caller) override {
    const auto sp = frame.registers.get(rsp);
    if (!sp) return unwind::StepResult::failed(unwind::StopReason::unknown_register, rsp);
    // SP points to the address of the struct coroutine, whose first word is the caller's SP.
    const auto coroutine = memory.word(*sp);
    const auto saved = coroutine ? memory.word(*coroutine) : std::nullopt;
    if (!saved) return unwind::StepResult::failed(unwind::StopReason::unreadable_memory, *sp);

    caller.registers.known = 0;
    std::uint64_t at = *saved;
    for (const std::uint16_t reg : saved_registers) {
      if (const auto value = memory.word(at)) caller.registers.set(reg, *value);
      at += 8;
    }
    const auto return_address = memory.word(at);
    if (!return_address) return unwind::StepResult::failed(unwind::StopReason::unreadable_memory, at);
    caller.registers.set(rsp, at + 8);
    caller.registers.pc = *return_address;
    caller.pc_exact = false; // a return address
    return {.status = unwind::StepStatus::stepped, .other_stack = true};
  }
};

std::optional<std::uint64_t> address_of(modules::Module& module, std::string_view name) {
  if (!module.image()) return std::nullopt;
  const elf::SymbolTable table = elf::SymbolTable::load(*module.image());
  for (const elf::Symbol& symbol : table.symbols())
    if (symbol.name == name) return symbol.address + module.bias();
  return std::nullopt;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: own_stepper CORE\n", stderr);
    return 2;
  }
  const auto core = process::open_core(argv[1]);
  if (!core) {
    std::fprintf(stderr, "%s: %s\n", argv[1], core.error().text().c_str());
    return 2;
  }
  process::CoreProcess& process = *(*core)->process;
  process::CoreSpace& space = process.space();

  unwind::StepperGroup steppers = steppers::default_steppers(space.abi(), space.main_module());
  if (modules::Module* program = space.main_module()) {
    const auto start = address_of(*program, "coroutine_body"), end = address_of(*program, "coroutine_done");
    if (start && end) steppers.add(std::make_unique<CoroutineStepper>(), AddressRange::between(*start, *end));
  }
  unwind::Walker walker(space, std::move(steppers));
  modules::ElfSymbols symbols;
  return example::print_stacks(walker, process, symbols) ? 0 : 1;
}
