// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/run/run.h"

#include "recorder.h"
#include "sframe/elf/core.h"
#include "sframe/process/live_process.h"
#include "sframe/process/step_program.h"

#include <algorithm>
#include <array>
#include <map>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace sframe::run {

namespace {

using unwind::Registers;

/// The memory of a process that runs: nothing is kept.
class CurrentMemory final : public unwind::AddressSpace {
public:
  explicit CurrentMemory(process::LiveSpace& space) : space_(space) {}

  const AbiTraits& abi() const override { return space_.abi(); }
  std::size_t read(std::uint64_t address, std::span<std::byte> out) override {
    return space_.read_process(address, out);
  }
  bool is_code(std::uint64_t address) override { return space_.is_code(address); }
  std::uint64_t code_address_mask() override { return space_.code_address_mask(); }

private:
  process::LiveSpace& space_;
};

struct Process {
  const AbiTraits* abi = nullptr;
  const unwind::UnwindAbi* unwind = nullptr;
  std::unique_ptr<process::LiveSpace> space;
  std::unique_ptr<CurrentMemory> memory;
  Stacks stacks;
  bool mappings_changed = true;
  std::unordered_map<std::uint64_t, MappedFile*> files; ///< by the number of the module
  unsigned threads = 0;
};

struct Thread {
  Process* process = nullptr;
  std::unique_ptr<ShadowStack> stack;
  bool is_new = true;
  std::optional<std::uint64_t> parent_sp; ///< of the thread that has made this one
  std::optional<Registers> last;          ///< before the instruction that is being executed
  std::optional<Registers> interrupted;   ///< a signal was delivered
  const Decoded* executing = nullptr;     ///< at `last`
  Decoded elsewhere;                      ///< an instruction outside files
};

/// The system calls after which code may be mapped elsewhere.
bool changes_mappings(std::uint64_t number) {
  return number == SYS_mmap || number == SYS_munmap || number == SYS_mremap || number == SYS_mprotect;
}

std::string end_text(int status) {
  if (WIFEXITED(status)) return "exited with " + std::to_string(WEXITSTATUS(status));
  return "killed by " + elf::signal_name(WTERMSIG(status));
}

bool is_same(const Registers& a, const Registers& b) {
  if (a.pc != b.pc || a.known != b.known) return false;
  for (std::uint16_t reg = 0; reg < Registers::count; ++reg)
    if (a.has(reg) && a.values[reg] != b.values[reg]) return false;
  return true;
}

class Recorder final : public process::StepObserver {
public:
  explicit Recorder(const Options& options) : options_(options) {}

  void program(std::uint32_t pid, const AbiTraits& abi) override;
  void lost(std::uint32_t pid, const std::string& why) override;
  void thread(std::uint32_t parent, std::uint32_t pid, std::uint32_t tid) override;
  bool step(std::uint32_t tid, const Registers& now) override;
  void signal(std::uint32_t tid, int number, const Registers& now) override;
  void ended(std::uint32_t tid) override;

  Outcome finish(int status);

private:
  void open(Process& process, std::uint32_t pid);
  void add_thread(std::uint32_t tid, Process& process);
  void release(std::uint32_t tid);
  void catch_up(Thread& thread, const Registers& now);
  void look_at(Thread& thread, const Registers& now);
  void decode(const Process& process, std::uint64_t pc, std::uint64_t address, Decoded& decoded);
  MappedFile* file_at(Process& process, std::uint64_t pc, std::uint64_t& address);
  MappedFile* file_of(modules::Module& module);

  const Options& options_;
  std::map<std::uint32_t, std::unique_ptr<Process>> processes_; ///< by pid
  std::map<std::uint32_t, Thread> threads_;                     ///< by tid
  std::map<elf::File::Id, std::unique_ptr<MappedFile>> files_;
  std::vector<MappedFile*> verified_; ///< in order of appearance
  std::map<const AbiTraits*, std::unique_ptr<code::Decoder>> decoders_;
  std::uint64_t steps_ = 0, compared_ = 0, elsewhere_ = 0, no_row_ = 0;
  std::array<std::uint64_t, num_unknown> unknown_{};
  std::uint64_t processes_seen_ = 0, threads_seen_ = 0, programs_ = 0, lost_ = 0, signals_ = 0, handlers_ = 0;
  StackEvents events_;
  bool limited_ = false;
};

void Recorder::open(Process& process, std::uint32_t pid) {
  process.space = std::make_unique<process::LiveSpace>(pid, *process.abi, modules::FileOptions{});
  process.memory = std::make_unique<CurrentMemory>(*process.space);
}

void Recorder::add_thread(std::uint32_t tid, Process& process) {
  Thread& thread = threads_[tid];
  thread.process = &process;
  ++process.threads;
  CurrentMemory* const memory = process.memory.get();
  thread.stack = std::make_unique<ShadowStack>(
      process.stacks, *process.abi, *process.unwind,
      [memory](std::uint64_t address) { return unwind::Memory(*memory).word(address); });
}

void Recorder::release(std::uint32_t tid) {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) return;
  Thread& thread = found->second;
  events_.frames_left += thread.stack->events().frames_left;
  events_.stack_switches += thread.stack->events().stack_switches;
  thread.stack->end();
  Process* const process = thread.process;
  threads_.erase(found);
  if (--process->threads == 0)
    std::erase_if(processes_, [&](const auto& entry) { return entry.second.get() == process; });
}

void Recorder::program(std::uint32_t pid, const AbiTraits& abi) {
  release(pid); // the others have been reported as ended
  ++programs_;
  auto& process = processes_[pid];
  process = std::make_unique<Process>();
  process->abi = &abi;
  process->unwind = unwind::find_unwind_abi(abi.id);
  open(*process, pid);
  add_thread(pid, *process);
  if (!decoders_.contains(&abi)) decoders_[&abi] = code::make_decoder(abi);
  processes_seen_ += programs_ == 1;
  threads_seen_ += programs_ == 1;
}

void Recorder::lost(std::uint32_t pid, const std::string&) {
  release(pid);
  ++lost_;
}

void Recorder::thread(std::uint32_t parent, std::uint32_t pid, std::uint32_t tid) {
  const auto from = threads_.find(parent);
  if (from == threads_.end()) return;
  Process& process = *from->second.process;
  Process* own = &process;
  if (pid == tid) {
    ++processes_seen_;
    auto copy = std::make_unique<Process>();
    copy->abi = process.abi;
    copy->unwind = process.unwind;
    copy->stacks.copy(process.stacks);
    open(*copy, pid);
    own = copy.get();
    processes_[pid] = std::move(copy);
  }
  add_thread(tid, *own);
  ++threads_seen_;
  Thread& thread = threads_[tid];
  thread.stack->copy(*from->second.stack);
  if (from->second.last) thread.parent_sp = from->second.last->values[process.abi->sp];
}

void Recorder::ended(std::uint32_t tid) {
  release(tid);
}

void Recorder::decode(const Process& process, std::uint64_t pc, std::uint64_t address, Decoded& decoded) {
  code::Decoder* const decoder = decoders_[process.abi].get();
  std::array<std::byte, 16> bytes{};
  const std::size_t size = process.memory->read(pc, bytes);
  decoded.effects.clear();
  decoded.instruction = {};
  if (!decoder ||
      !decoder->decode(std::span(bytes).first(size), address, decoded.instruction, decoded.effects)) {
    decoded.instruction = {.address = address, .length = 0};
    decoded.effects.clear();
  }
  decoded.seen.address = address;
  decoded.seen.length = std::max<std::uint8_t>(1, decoded.instruction.length);
}

MappedFile* Recorder::file_of(modules::Module& module) {
  const std::string& path = module.info().file;
  struct stat info {};
  if (path.empty() || ::stat(path.c_str(), &info) != 0) return nullptr;
  const elf::File::Id id{info.st_dev, info.st_ino};
  auto& file = files_[id];
  if (file) return file.get();
  file = std::make_unique<MappedFile>();
  file->path = path;
  file->id = id;
  file->rows = options_.rows_of(path, id);
  if (file->rows) verified_.push_back(file.get());
  return file.get();
}

/// The file at an address, and the address in the file.
MappedFile* Recorder::file_at(Process& process, std::uint64_t pc, std::uint64_t& address) {
  if (process.mappings_changed || !process.space->is_code(pc)) {
    (void)process.space->refresh();
    process.mappings_changed = false;
  }
  modules::Module* const module = process.space->module_at(pc);
  if (!module || module->generated()) return nullptr;
  const auto [at, added] = process.files.try_emplace(module->number());
  if (added) at->second = file_of(*module);
  address = pc - module->bias();
  return at->second;
}

/// Brings the shadow stack up to date with what the thread has executed.
void Recorder::catch_up(Thread& thread, const Registers& now) {
  ShadowStack& stack = *thread.stack;
  if (thread.is_new) {
    thread.is_new = false;
    const std::uint64_t sp = now.values[thread.process->abi->sp];
    if (thread.parent_sp != sp) stack.start(now, thread.parent_sp.has_value());
    return;
  }
  if (!thread.last) return;
  if (thread.interrupted) {
    const bool handled = stack.enter_handler(*thread.interrupted, now);
    handlers_ += handled;
    thread.interrupted.reset();
    if (handled) return;
  }
  const code::Instruction& instruction = thread.executing->instruction;
  const Registers& last = *thread.last;
  const std::uint64_t call = instruction.system_call_register == code::Effect::none
                                 ? ~std::uint64_t{0}
                                 : last.values[instruction.system_call_register];
  if (instruction.system_call_register != code::Effect::none) {
    thread.process->mappings_changed |= changes_mappings(call);
    const auto number = static_cast<std::int64_t>(static_cast<std::int32_t>(call));
    if (number == code::machine(*thread.process->abi).last_system_calls[2] &&
        now.pc != last.pc + instruction.length)
      return stack.leave_handler(now);
  }
  code::Instruction placed = instruction; // as in the process
  placed.address = last.pc;
  stack.step(placed, thread.executing->effects, last, now);
}

/// Compares the row for the next instruction, and remembers the instruction.
void Recorder::look_at(Thread& thread, const Registers& now) {
  Process& process = *thread.process;
  std::uint64_t address = now.pc;
  MappedFile* const file = file_at(process, now.pc, address);
  if (!file) {
    decode(process, now.pc, now.pc, thread.elsewhere);
    thread.executing = &thread.elsewhere;
    ++elsewhere_;
    return;
  }
  const auto [at, added] = file->code.try_emplace(address);
  Decoded& decoded = at->second;
  if (added) {
    decode(process, now.pc, address, decoded);
    if (file->rows && file->rows->abi() == process.abi) decoded.row = file->rows->find(address);
    decoded.seen.has_row = decoded.row.has_value();
  }
  thread.executing = &decoded;
  if (!file->rows) {
    ++elsewhere_;
    return;
  }
  ++decoded.seen.visits;
  if (!decoded.row) {
    ++no_row_;
    return;
  }
  Unknown why = thread.stack->unknown();
  // A thread has no caller, but the code may be that of its maker, too (clone).
  if (why == Unknown::thread_start && decoded.row->row.is_outermost()) why = Unknown::none;
  if (why == Unknown::none) {
    unwind::Memory memory(*process.memory);
    why = compare(*decoded.row, *process.abi, now, memory, thread.stack->caller(), decoded.seen);
  }
  if (why != Unknown::none) {
    ++unknown_[static_cast<std::size_t>(why)];
    return;
  }
  ++compared_;
  ++decoded.seen.compared;
}

bool Recorder::step(std::uint32_t tid, const Registers& now) {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) return true;
  Thread& thread = found->second;
  // The kernel also stops a thread that has not executed anything.
  if (thread.last && !thread.interrupted && is_same(*thread.last, now)) return true;
  if (steps_ >= options_.max_steps) {
    limited_ = true;
    return false;
  }
  catch_up(thread, now);
  ++steps_;
  look_at(thread, now);
  thread.last = now;
  return true;
}

void Recorder::signal(std::uint32_t tid, int, const Registers& now) {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) return;
  Thread& thread = found->second;
  ++signals_;
  if (thread.last && !thread.interrupted && thread.last->pc != now.pc) {
    // The last instruction, usually a system call, was executed, and nothing after it.
    catch_up(thread, now);
    decode(*thread.process, now.pc, now.pc, thread.elsewhere);
    thread.executing = &thread.elsewhere;
    thread.last = now;
  }
  thread.interrupted = now;
}

Outcome Recorder::finish(int status) {
  Outcome outcome;
  for (MappedFile* const file : verified_) outcome.files.push_back({file->path, file->id, record_of(*file)});
  verify::RunSummary& s = outcome.summary;
  s.command = options_.command;
  s.end = end_text(status);
  s.limited = limited_;
  s.steps = steps_;
  s.compared = compared_;
  s.elsewhere = elsewhere_;
  s.no_row = no_row_;
  for (std::size_t i = 1; i < num_unknown; ++i)
    s.not_followed.emplace_back(unknown_text(static_cast<Unknown>(i)), unknown_[i]);
  s.events = {{"processes", processes_seen_},
              {"threads", threads_seen_},
              {"programs executed", programs_},
              {"programs not followed", lost_},
              {"signals", signals_},
              {"signal handlers", handlers_},
              {"frames left without a return", events_.frames_left},
              {"switches of stacks", events_.stack_switches}};
  return outcome;
}

} // namespace

Result<Outcome> run(const Options& options) {
  Recorder recorder(options);
  const auto status = process::step_program(options.command, recorder);
  if (!status) return unexpected(status.error());
  return recorder.finish(*status);
}

} // namespace sframe::run
