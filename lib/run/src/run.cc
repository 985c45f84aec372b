// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recorder gets each step of each thread before it is executed (process::StepObserver). A step does three
// things: catch_up() brings the thread's shadow stack to the present with the instruction executed last;
// look_at() decodes the next one, or takes it from the cache of its file, and compare_row() compares its row
// with the shadow stack. finish() makes the record from the counts. The cost of a step is constant but for
// the system calls that stop the program.

#include "sframe/run/run.h"

#include "recorder.h"
#include "sframe/core/core.h"
#include "sframe/elf/symbols.h"
#include "sframe/process/live_process.h"
#include "sframe/process/step_program.h"
#include "sframe/unwind/trampoline.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <sys/stat.h>
#include <sys/wait.h>

namespace sframe::run {

namespace {

using unwind::Registers;

/// A file that the program has mapped.
struct MappedFile {
  MappedFile(std::string where, const elf::File::Id& identity, Room& room)
      : path(std::move(where)), id(identity), record(room) {}

  std::string path;
  elf::File::Id id;
  std::optional<verify::RowTable> rows; ///< empty: not verified
  DecodedCode code;                     ///< by address in the file
  FileRecorder record;
};

struct Process {
  const AbiTraits* abi = nullptr;
  const unwind::UnwindAbi* unwind = nullptr;
  std::unique_ptr<process::SteppedSpace> space;
  Stacks stacks;
  bool mappings_changed = true;
  std::set<std::uint64_t> searched;  ///< modules, by number, in which the start has been looked for
  std::vector<std::uint64_t> starts; ///< where it is
  std::unordered_map<std::uint64_t, MappedFile*> files; ///< by the number of the module
  unsigned threads = 0;
};

struct Thread {
  Process* process = nullptr;
  std::unique_ptr<ShadowStack> stack;
  bool is_new = true;
  bool has_run = false;                     ///< without being stepped
  std::optional<std::uint64_t> parent_sp;   ///< of the thread that has made this one
  std::optional<Registers> last;            ///< before the instruction that is being executed
  std::optional<Registers> interrupted;     ///< a signal was delivered
  std::shared_ptr<const Decoded> executing; ///< at `last`
  std::vector<HeldFault> held;              ///< since the last call or return
};

/// Code that leaves its frame has fewer instructions from the first change of a register on.
constexpr std::size_t most_held = 64;

/// False where the code of a frame goes on elsewhere.
bool stays_in_frame(code::Flow flow) {
  return flow == code::Flow::next || flow == code::Flow::jump || flow == code::Flow::branch;
}

/// The number of the system call; empty if the instruction is none.
std::optional<std::int64_t> system_call(const code::Instruction& instruction, const Registers& before) {
  if (instruction.system_call >= 0) return instruction.system_call;
  if (instruction.system_call_register == code::Effect::none) return std::nullopt;
  return static_cast<std::int32_t>(before.values[instruction.system_call_register]);
}

/// The system call with which signal handlers return.
bool ends_handler(const Thread& thread, std::optional<std::int64_t> number) {
  return thread.executing->ends_trampoline ||
         (number && *number == code::machine(*thread.process->abi).last_system_calls[2]);
}

std::string end_text(int status) {
  if (WIFEXITED(status)) return "exited with " + std::to_string(WEXITSTATUS(status));
  return "killed by " + core::signal_name(WTERMSIG(status));
}

bool is_same(const Registers& a, const Registers& b) {
  if (a.pc != b.pc || a.known != b.known) return false;
  for (std::uint16_t reg = 0; reg < Registers::count; ++reg)
    if (a.has(reg) && a.values[reg] != b.values[reg]) return false;
  return true;
}

/// Options::from, read.
struct Start {
  std::string function;
  std::string file; ///< of the address; empty: the program's
  std::uint64_t address = 0;
};

std::optional<Start> parse_start(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::size_t colon = text.rfind(':');
  const std::size_t digits = colon == std::string::npos ? 0 : colon + 1;
  std::uint64_t address = 0;
  const char* const end = text.data() + text.size();
  const bool is_address =
      text.compare(digits, 2, "0x") == 0 &&
      std::from_chars(text.data() + digits + 2, end, address, 16) == std::from_chars_result{end, {}};
  if (!is_address) return Start{.function = text, .file = {}};
  return Start{.function = {}, .file = text.substr(0, digits ? colon : 0), .address = address};
}

class Recorder final : public process::StepObserver {
public:
  explicit Recorder(const Options& options)
      : options_(options), start_(parse_start(options.from)), room_(options.limits) {}

  void program(std::uint32_t pid, std::unique_ptr<process::SteppedSpace> space) override;
  void lost(std::uint32_t pid, const std::string& why) override;
  void thread(std::uint32_t parent, std::uint32_t tid, std::unique_ptr<process::SteppedSpace> space) override;
  void not_followed(std::uint32_t parent, bool is_process) override;
  process::StepAnswer step(std::uint32_t tid, const Registers& now) override;
  void signal(std::uint32_t tid, const Registers& now) override;
  void ended(std::uint32_t tid) override;
  std::optional<std::vector<std::uint64_t>> start_at(std::uint32_t pid) override;

  /// Why nothing was stepped, if that is so.
  std::optional<Problem> not_begun() const;
  Outcome finish(int status);

private:
  Process& add_process(std::uint32_t pid, std::unique_ptr<process::SteppedSpace> space);
  void add_thread(std::uint32_t tid, Process& process);
  void release(std::uint32_t tid);
  void catch_up(Thread& thread, const Registers& now);
  void look_at(Thread& thread, const Registers& now);
  std::shared_ptr<Decoded> decode(const Process& process, std::uint64_t pc, std::uint64_t address);
  void compare_row(Thread& thread, const Registers& now, MappedFile& file, FileRecorder::Seen& seen);
  void settle(Thread& thread, bool left_frame);
  MappedFile* file_at(Process& process, std::uint64_t pc, std::uint64_t& address);
  MappedFile* file_of(modules::Module& module);
  void search(Process& process, modules::Module& module);

  const Options& options_;
  std::optional<Start> start_; ///< of Options::from
  bool found_start_ = false, begun_ = false;
  std::map<std::uint32_t, std::unique_ptr<Process>> processes_; ///< by pid
  std::map<std::uint32_t, Thread> threads_;                     ///< by tid
  std::map<elf::File::Id, std::unique_ptr<MappedFile>> files_;
  std::vector<MappedFile*> verified_; ///< in order of appearance
  std::map<const AbiTraits*, std::unique_ptr<code::Decoder>> decoders_;
  std::uint64_t steps_ = 0, compared_ = 0, elsewhere_ = 0, no_row_ = 0;
  std::array<std::uint64_t, num_unknown> unknown_{};
  std::uint64_t processes_seen_ = 0, threads_seen_ = 0, programs_ = 0, lost_ = 0, signals_ = 0, handlers_ = 0;
  std::uint64_t threads_not_followed_ = 0, processes_not_followed_ = 0;
  std::uint64_t idle_ = 0; ///< stops without a step
  StackEvents events_;
  bool limited_ = false;
  Room room_;
};

Process& Recorder::add_process(std::uint32_t pid, std::unique_ptr<process::SteppedSpace> space) {
  auto& process = processes_[pid];
  process = std::make_unique<Process>();
  process->abi = &space->abi();
  process->unwind = unwind::find_unwind_abi(process->abi->id);
  process->space = std::move(space);
  return *process;
}

void Recorder::add_thread(std::uint32_t tid, Process& process) {
  Thread& thread = threads_[tid];
  thread.has_run = start_ && !begun_;
  thread.process = &process;
  ++process.threads;
  process::SteppedSpace* const space = process.space.get();
  thread.stack = std::make_unique<ShadowStack>(
      process.stacks, *process.abi, *process.unwind,
      [space](std::uint64_t address) { return unwind::Memory(*space).word(address); });
}

void Recorder::release(std::uint32_t tid) {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) return;
  Thread& thread = found->second;
  settle(thread, false);
  events_.frames_left += thread.stack->events().frames_left;
  events_.stack_switches += thread.stack->events().stack_switches;
  thread.stack->end();
  Process* const process = thread.process;
  threads_.erase(found);
  if (--process->threads == 0)
    std::erase_if(processes_, [&](const auto& entry) { return entry.second.get() == process; });
}

void Recorder::program(std::uint32_t pid, std::unique_ptr<process::SteppedSpace> space) {
  release(pid); // the others have been reported as ended
  ++programs_;
  const AbiTraits& abi = space->abi();
  add_thread(pid, add_process(pid, std::move(space)));
  if (!decoders_.contains(&abi)) decoders_[&abi] = code::make_decoder(abi);
  processes_seen_ += programs_ == 1;
  threads_seen_ += programs_ == 1;
}

void Recorder::lost(std::uint32_t pid, const std::string&) {
  release(pid);
  ++lost_;
}

void Recorder::thread(std::uint32_t parent, std::uint32_t tid, std::unique_ptr<process::SteppedSpace> space) {
  const auto from = threads_.find(parent);
  if (from == threads_.end()) return;
  Process& process = *from->second.process;
  Process* own = &process;
  if (space) {
    ++processes_seen_;
    own = &add_process(tid, std::move(space));
    own->stacks.copy(process.stacks);
  }
  add_thread(tid, *own);
  ++threads_seen_;
  Thread& thread = threads_[tid];
  thread.stack->copy(*from->second.stack);
  if (from->second.last) thread.parent_sp = from->second.last->values[process.abi->sp];
}

void Recorder::not_followed(std::uint32_t, bool is_process) {
  ++(is_process ? processes_not_followed_ : threads_not_followed_);
}

void Recorder::ended(std::uint32_t tid) {
  release(tid);
}

/// Adds where the start is in a module.
void Recorder::search(Process& process, modules::Module& module) {
  if (module.generated() || !process.searched.insert(module.number()).second) return;
  const auto add = [&](std::uint64_t address) {
    process.starts.push_back(address + module.bias());
    found_start_ = true;
  };
  if (start_->function.empty()) {
    const bool is_it = start_->file.empty() ? &module == process.space->files().main_module()
                                            : module.name() == start_->file;
    return is_it ? add(start_->address) : void();
  }
  const elf::Image* const image = module.image();
  if (!image) return;
  const elf::SymbolTable table = elf::SymbolTable::load(*image);
  for (const elf::Symbol& symbol : table.symbols())
    if (symbol.name == start_->function) add(symbol.address);
}

std::optional<std::vector<std::uint64_t>> Recorder::start_at(std::uint32_t pid) {
  const auto process = processes_.find(pid);
  if (!start_ || begun_) return std::nullopt;
  if (process == processes_.end()) return std::vector<std::uint64_t>();
  process::LiveSpace& files = process->second->space->files();
  (void)files.refresh();
  for (modules::Module& module : files.modules()) search(*process->second, module);
  return process->second->starts;
}

std::optional<Problem> Recorder::not_begun() const {
  if (!start_ || begun_) return std::nullopt;
  return Problem{found_start_ ? "the program has ended without reaching " + options_.from
                 : start_->function.empty()
                     ? "the program has ended without loading the file of " + options_.from
                     : "no function " + options_.from + " in the program or what it has loaded",
                 {},
                 {}};
}

std::shared_ptr<Decoded> Recorder::decode(const Process& process, std::uint64_t pc, std::uint64_t address) {
  auto result = std::make_shared<Decoded>();
  Decoded& decoded = *result;
  code::Decoder* const decoder = decoders_[process.abi].get();
  decoded.num_bytes = static_cast<std::uint8_t>(process.space->read(pc, decoded.bytes));
  const auto code = std::span<const std::byte>(decoded.bytes).first(decoded.num_bytes);
  if (!decoder || !decoder->decode(code, address, decoded.instruction, decoded.effects)) {
    decoded.instruction = {.address = address, .length = 0};
    decoded.effects.clear();
  }
  unwind::Memory memory(*process.space);
  decoded.ends_trampoline =
      decoded.instruction.system_call >= 0 && unwind::find_trampoline(*process.unwind, memory, pc) != nullptr;
  return result;
}

MappedFile* Recorder::file_of(modules::Module& module) {
  const std::string& path = module.info().file;
  struct stat info {};
  if (path.empty() || ::stat(path.c_str(), &info) != 0) return nullptr;
  const elf::File::Id id{info.st_dev, info.st_ino};
  auto& file = files_[id];
  if (file) return file.get();
  file = std::make_unique<MappedFile>(path, id, room_);
  if (room_.files == 0) {
    ++room_.files_lost;
    return file.get();
  }
  --room_.files;
  file->rows = options_.rows_of(path, id);
  if (file->rows) verified_.push_back(file.get());
  return file.get();
}

/// The file at an address, and the address in the file.
MappedFile* Recorder::file_at(Process& process, std::uint64_t pc, std::uint64_t& address) {
  process::LiveSpace& mapped = process.space->files();
  if (process.mappings_changed || !mapped.is_code(pc)) {
    (void)mapped.refresh();
    process.mappings_changed = false;
  }
  modules::Module* const module = mapped.module_at(pc);
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
    if (thread.has_run)
      return stack.join(now, std::exchange(begun_, true) ? false : !start_->function.empty());
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
  if (const auto number = system_call(instruction, last)) {
    thread.process->mappings_changed = true; // perhaps
    if (ends_handler(thread, number) && now.pc != last.pc + instruction.length)
      return stack.leave_handler(now);
  }
  code::Instruction placed = instruction; // as in the process
  placed.address = last.pc;
  stack.step(placed, thread.executing->effects, last, now);
}

/// Remembers the instruction at now.pc, and compares its row.
void Recorder::look_at(Thread& thread, const Registers& now) {
  Process& process = *thread.process;
  std::uint64_t address = now.pc;
  MappedFile* const file = file_at(process, now.pc, address);
  thread.executing = file ? file->code.find(address) : decode(process, now.pc, now.pc);
  if (!thread.executing) {
    const auto decoded = decode(process, now.pc, address);
    if (file->rows && file->rows->abi() == process.abi) decoded->row = file->rows->find(address);
    file->code.add(address, decoded);
    thread.executing = decoded;
  }
  thread.stack->look_ahead(thread.executing->instruction, thread.executing->effects, now);
  if (!file || !file->rows) {
    ++elsewhere_;
    return;
  }
  FileRecorder::Seen* const seen = file->record.visit(address, *thread.executing);
  if (!seen) return;
  if (!seen->has_row) {
    ++no_row_;
    return;
  }
  compare_row(thread, now, *file, *seen);
}

/// True if a rule starts from a register that is not known.
bool lacks_register(const FrameRow& row, const Registers& known) {
  const auto lacks = [&](const Rule& rule) {
    return (rule.kind == Rule::Kind::value || rule.kind == Rule::Kind::stored) &&
           rule.base != Rule::cfa_base && !known.has(rule.base);
  };
  return lacks(row.cfa) || lacks(row.ra) || lacks(row.fp);
}

/// Decides what has been held: the thread is in the same frame, or on its way into another one.
void Recorder::settle(Thread& thread, bool left_frame) {
  for (const HeldFault& held : thread.held) {
    if (!left_frame) {
      held.file.add(held.fault);
      continue;
    }
    --held.seen.compared;
    --compared_;
    ++unknown_[static_cast<std::size_t>(Unknown::leaving)];
  }
  thread.held.clear();
}

void Recorder::compare_row(Thread& thread, const Registers& now, MappedFile& file, FileRecorder::Seen& seen) {
  Process& process = *thread.process;
  const verify::RowTable::Match& row = *thread.executing->row;
  Unknown why = thread.stack->unknown();
  // A thread has no caller, but the code may be that of its maker, too (clone).
  if (why == Unknown::thread_start && row.row.is_outermost()) why = Unknown::none;
  if (why == Unknown::none) {
    unwind::Memory memory(*process.space);
    Registers all = now;
    if (lacks_register(row.row, now)) process.space->add_registers(all);
    Comparison comparison = compare(row, *process.abi, all, memory, thread.stack->caller());
    why = comparison.unknown;
    const bool may_leave =
        comparison.faults.size() == 1 && comparison.faults[0].fault == verify::RunFault::fp;
    for (verify::RunMismatch& fault : comparison.faults) {
      fault.address = thread.executing->instruction.address;
      if (may_leave)
        thread.held.push_back({file.record, seen, fault});
      else
        file.record.add(fault);
    }
  }
  if (why != Unknown::none) {
    ++unknown_[static_cast<std::size_t>(why)];
    return;
  }
  ++compared_;
  ++seen.compared;
}

process::StepAnswer Recorder::step(std::uint32_t tid, const Registers& now) {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) return {};
  Thread& thread = found->second;
  const auto answer = [&]() -> process::StepAnswer {
    const code::Instruction& instruction = thread.executing->instruction;
    const auto call = system_call(instruction, now);
    const bool traps = instruction.flow == code::Flow::stop || instruction.flow == code::Flow::trap;
    const Decoded& decoded = *thread.executing;
    return {.system_call = call,
            .ends_handler = ends_handler(thread, call),
            .next = now.pc + instruction.length,
            .traps = traps && !call,
            .code = std::span(decoded.bytes).first(decoded.num_bytes)};
  };
  // The signal was ignored.
  if (thread.interrupted && is_same(*thread.interrupted, now)) thread.interrupted.reset();
  // The kernel also stops a thread that has not executed anything. A jump to itself looks the same.
  const bool is_idle = thread.last && !thread.interrupted && is_same(*thread.last, now);
  if (is_idle && idle_ < options_.max_steps) {
    ++idle_;
    return answer();
  }
  if (is_idle || steps_ >= options_.max_steps) {
    limited_ = true;
    return {.follow = false};
  }
  catch_up(thread, now);
  if (!thread.held.empty()) {
    const bool stays = stays_in_frame(thread.executing->instruction.flow);
    const bool left = stays && thread.stack->unknown() == Unknown::leaving;
    if (left || !stays || thread.held.size() >= most_held) settle(thread, left);
  }
  ++steps_;
  look_at(thread, now);
  thread.last = now;
  return answer();
}

void Recorder::signal(std::uint32_t tid, const Registers& now) {
  const auto found = threads_.find(tid);
  if (found == threads_.end()) return;
  Thread& thread = found->second;
  settle(thread, false);
  ++signals_;
  if (thread.last && !thread.interrupted && thread.last->pc != now.pc) {
    // The last instruction, usually a system call, was executed, and nothing after it.
    catch_up(thread, now);
    thread.executing = decode(*thread.process, now.pc, now.pc);
    thread.last = now;
  }
  thread.interrupted = now;
}

Outcome Recorder::finish(int status) {
  for (auto& [tid, thread] : threads_) settle(thread, false); // which are not followed to their ends
  Outcome outcome;
  for (MappedFile* const file : verified_)
    outcome.files.push_back({file->path, file->id, file->record.take()});
  outcome.left_out = room_.problem();
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
  s.not_followed.emplace_back("beyond the limit", room_.steps_lost);
  s.events = {{"processes", processes_seen_},
              {"threads", threads_seen_},
              {"programs executed", programs_},
              {"programs not followed", lost_},
              {"processes not followed", processes_not_followed_},
              {"threads not followed", threads_not_followed_},
              {"signals", signals_},
              {"signal handlers", handlers_},
              {"frames left without a return", events_.frames_left},
              {"switches of stacks", events_.stack_switches}};
  return outcome;
}

} // namespace

namespace {

Result<int> start(const Options& options, process::StepObserver& observer) {
  std::string emulator = options.emulator;
  if (emulator.empty() && !options.command.empty()) {
    auto found = process::find_emulator(options.command.front());
    if (!found) return unexpected(found.error());
    emulator = std::move(*found);
  }
  if (!emulator.empty() && !options.from.empty())
    return fail("a program of another machine is followed from its start: the emulator runs it");
  return emulator.empty() ? process::step_program(options.command, observer)
                          : process::step_emulated(emulator, options.command, observer);
}

} // namespace

Result<Outcome> run(const Options& options) {
  Recorder recorder(options);
  const auto status = start(options, recorder);
  if (!status) return unexpected(status.error());
  if (const auto problem = recorder.not_begun()) return unexpected(*problem);
  return recorder.finish(*status);
}

} // namespace sframe::run
