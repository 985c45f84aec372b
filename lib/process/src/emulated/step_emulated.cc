// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Run::follow() is the loop: registers, the observer's answer, one instruction. What one instruction takes (a
// step, or a breakpoint after a system call or a sequence of exclusive accesses) is decided in execute(). The
// rest finds out whether a program needs an emulator, and which.

#include "sframe/process/step_program.h"

#include "emulated/emulator.h"
#include "live/proc_files.h"

#include "sframe/base/program_path.h"
#include "sframe/unwind/trampoline.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sframe::process {

namespace {

using emulated::Emulator;
using emulated::Guest;
using emulated::Stop;
using unwind::Registers;

class EmulatedSpace final : public SteppedSpace {
public:
  EmulatedSpace(Emulator& emulator, const AbiTraits& abi)
      : SteppedSpace(std::make_unique<LiveSpace>(emulator.pid(), abi, modules::FileOptions{},
                                                 LiveSpace::Owner::guest)),
        emulator_(emulator) {}

  std::size_t read(std::uint64_t address, std::span<std::byte> out) override {
    return emulator_.read(address, out);
  }
  /// Those of usual programs: the emulator's own mappings may be above all of the program's.
  std::uint64_t code_address_mask() override { return unwind::code_address_mask(abi(), 0, std::nullopt); }
  void add_registers(Registers& registers) override { emulator_.add_registers(registers); }

private:
  Emulator& emulator_;
};

/// Follows one thread. Three things are not left to single steps:
///
/// - System calls. QEMU's step over one executes the next instruction, too (7.2, AArch64), and a child that
///   fork() makes would die of the trap after its own next instruction. So the program goes on to a
///   breakpoint after the call.
/// - The way into a signal handler, for the first of these reasons. There are breakpoints at all handlers
/// that
///   the program has named to the system, and at the next instruction, in case the signal is ignored.
/// - Sequences such as AArch64's ldxr ... stxr: each stop makes them fail. Their instructions are one step.
class Run {
public:
  Run(Emulator& emulator, const Guest& guest, const AbiTraits& abi, StepObserver& observer)
      : emulator_(emulator), guest_(guest), abi_(abi), unwind_(*unwind::find_unwind_abi(abi.id)),
        observer_(observer), space_(emulator, abi), memory_(space_) {}

  Result<int> follow();

private:
  static constexpr std::size_t most_handlers = 256;
  enum class Makes : std::uint8_t { nothing, thread, process };

  Result<Stop> execute(const StepAnswer& instruction, const Registers& before);
  Result<Stop> call_system(const StepAnswer& instruction, const Registers& before);
  Result<Stop> deliver(const std::string& signal, std::uint64_t pc);
  Result<Stop> run_to(std::vector<std::uint64_t> addresses, const std::string& signal);
  Result<Stop> skip_others(Result<Stop> stop);
  Result<int> let_go();
  Result<int> finish(const Result<Stop>& stop);
  void note_handler(const Registers& before);
  Makes makes(std::int64_t call, const Registers& before);

  Emulator& emulator_;
  const Guest& guest_;
  const AbiTraits& abi_;
  const unwind::UnwindAbi& unwind_;
  StepObserver& observer_;
  EmulatedSpace space_;
  unwind::Memory memory_;
  std::vector<std::uint64_t> handlers_;
  bool executes_another_ = false; ///< the last instruction was execve()
};

/// Other threads are not followed: what stops them is passed on.
Result<Stop> Run::skip_others(Result<Stop> stop) {
  constexpr unsigned most = 1'000'000; // signals of other threads, during one instruction of this one
  for (unsigned i = 0;
       stop && stop->kind != Stop::Kind::ended && !stop->thread.empty() && stop->thread != emulator_.thread();
       ++i) {
    if (i == most) return fail("the emulator stops other threads without end");
    const bool is_signal = stop->kind == Stop::Kind::signal;
    stop = emulator_.go_on(is_signal ? stop->signal : std::string(), stop->thread);
  }
  return stop;
}

/// Until one of the addresses is reached.
Result<Stop> Run::run_to(std::vector<std::uint64_t> addresses, const std::string& signal) {
  std::ranges::sort(addresses);
  addresses.erase(std::ranges::unique(addresses).begin(), addresses.end());
  for (const std::uint64_t address : addresses)
    if (const auto set = emulator_.set_breakpoint(address, true); !set) return unexpected(set.error());
  auto stop = skip_others(emulator_.go_on(signal));
  if (!stop || stop->kind == Stop::Kind::ended) return stop;
  for (const std::uint64_t address : addresses)
    if (const auto removed = emulator_.set_breakpoint(address, false); !removed)
      return unexpected(removed.error());
  return stop;
}

Result<Stop> Run::deliver(const std::string& signal, std::uint64_t pc) {
  std::vector<std::uint64_t> addresses = handlers_;
  addresses.push_back(pc);
  return run_to(std::move(addresses), signal);
}

/// rt_sigaction(signal, new action, ...): an action begins with the handler's address.
void Run::note_handler(const Registers& before) {
  constexpr std::uint64_t ignore = 1; // 0 is the default action
  const std::uint64_t action = before.values[guest_.arguments[1]];
  const auto handler = action ? memory_.word(action) : std::nullopt;
  if (!handler || *handler <= ignore || handlers_.size() == most_handlers) return;
  if (std::ranges::find(handlers_, *handler) == handlers_.end()) handlers_.push_back(*handler);
}

Run::Makes Run::makes(std::int64_t call, const Registers& before) {
  constexpr std::uint64_t clone_vm = 0x100, clone_vfork = 0x4000;
  const auto by_flags = [&](std::uint64_t flags) {
    return (flags & (clone_vm | clone_vfork)) == clone_vm ? Makes::thread : Makes::process;
  };
  if (call == guest_.fork || call == guest_.vfork) return Makes::process;
  if (call == guest_.clone) return by_flags(before.values[guest_.clone_flags]);
  if (call == guest_.clone3) return by_flags(memory_.word(before.values[guest_.arguments[0]]).value_or(0));
  return Makes::nothing;
}

Result<Stop> Run::call_system(const StepAnswer& instruction, const Registers& before) {
  const std::int64_t call = *instruction.system_call;
  executes_another_ = call == guest_.execve || call == guest_.execveat;
  if (call == guest_.rt_sigaction) note_handler(before);
  const Makes makes_what = makes(call, before);
  std::vector<std::uint64_t> ends{instruction.next};
  if (const auto* const trampoline = unwind::find_trampoline(unwind_, memory_, before.pc))
    if (const auto pc = memory_.word(before.values[abi_.sp] + trampoline->pc_offset)) ends.push_back(*pc);
  // A new thread would reach the breakpoint, too, and QEMU cannot stop two.
  auto stop = makes_what == Makes::thread ? skip_others(emulator_.step()) : run_to(std::move(ends), {});
  if (makes_what == Makes::nothing || !stop || stop->kind == Stop::Kind::ended) return stop;
  const auto after = emulator_.registers();
  if (!after) return unexpected(after.error());
  if (static_cast<std::int64_t>(after->values[guest_.result]) > 0)
    observer_.not_followed(emulator_.pid(), makes_what == Makes::process);
  return stop;
}

Result<Stop> Run::execute(const StepAnswer& instruction, const Registers& before) {
  std::vector<std::uint64_t> ends;
  if (guest_.ends_of_sequence) ends = guest_.ends_of_sequence(instruction.code, before.pc);
  auto stop = instruction.system_call ? call_system(instruction, before)
              : ends.empty()          ? skip_others(emulator_.step())
                                      : run_to(std::move(ends), {});
  // Not the end of a step: SIGTRAP was raised.
  if (stop && stop->kind == Stop::Kind::stepped && instruction.traps) stop->kind = Stop::Kind::signal;
  while (stop && stop->kind == Stop::Kind::signal) {
    const auto now = emulator_.registers();
    if (!now) return unexpected(now.error());
    observer_.signal(emulator_.pid(), *now);
    stop = deliver(stop->signal, now->pc);
  }
  return stop;
}

/// The program runs on.
Result<int> Run::let_go() {
  constexpr unsigned most_traps = 1000; // the emulator would stop without end
  unsigned traps = 0;
  auto stop = emulator_.go_on({});
  while (stop && stop->kind != Stop::Kind::ended) {
    if (stop->kind == Stop::Kind::stepped && ++traps > most_traps)
      return fail("the emulator stops the program without end");
    stop = emulator_.go_on(stop->signal, stop->thread.empty() ? emulator_.thread() : stop->thread);
  }
  if (!stop && !emulator_.is_closed()) return unexpected(stop.error());
  if (const auto status = emulator_.wait(true)) return *status;
  return fail("the emulator's end is not known");
}

/// The program has ended, or the emulator has failed.
Result<int> Run::finish(const Result<Stop>& stop) {
  if (!stop && !emulator_.is_closed()) return unexpected(stop.error());
  if (!stop && executes_another_) {
    observer_.lost(emulator_.pid(), "the emulator does not follow execve()");
    if (const auto status = emulator_.wait(true)) return *status;
  }
  observer_.ended(emulator_.pid());
  const auto status = emulator_.wait(false);
  if (status && (stop || WIFSIGNALED(*status))) return *status;
  return stop ? fail("the emulator has not ended with the program") : unexpected(stop.error());
}

Result<int> Run::follow() {
  observer_.program(emulator_.pid(), std::make_unique<EmulatedSpace>(emulator_, abi_));
  for (;;) {
    const auto now = emulator_.registers();
    if (!now) return unexpected(now.error());
    const StepAnswer answer = observer_.step(emulator_.pid(), *now);
    if (!answer.follow) return let_go();
    const auto stop = execute(answer, *now);
    if (!stop || stop->kind == Stop::Kind::ended) return finish(stop);
  }
}

Result<const AbiTraits*> find_program_abi(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return fail(std::string("cannot be opened: ") + std::strerror(errno));
  auto abi = live::read_program_abi(fd);
  ::close(fd);
  return abi;
}

} // namespace

Result<std::string> find_emulator(const std::string& program) {
  const auto abi = find_program_abi(find_program_path(program).value_or(program));
  const auto host = find_process_abi(static_cast<std::uint32_t>(::getpid()));
  if (!abi || !host || *abi == *host) return std::string();
  const Guest* const guest = emulated::find_guest((*abi)->id);
  if (!guest) return fail("no emulator is known for its machine (--emulator names one)");
  return std::string(guest->emulator);
}

Result<int> step_emulated(const std::string& emulator, const std::vector<std::string>& command,
                          StepObserver& observer) {
  if (command.empty()) return fail("no program");
  std::vector<std::string> all = command;
  all.front() = find_program_path(command.front()).value_or(command.front());
  const auto abi = find_program_abi(all.front());
  if (!abi) return unexpected(abi.error());
  const Guest* const guest = emulated::find_guest((*abi)->id);
  if (!guest) return fail("programs for its machine cannot be followed in an emulator");
  const auto started = Emulator::start(emulator, all, *guest, **abi);
  if (!started) return unexpected(started.error());
  return Run(**started, *guest, **abi, observer).follow();
}

} // namespace sframe::process
