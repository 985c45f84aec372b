// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// BPF programs are loaded, tables are made of what is mapped, and then the events are started. In each round
// the events of processes are read before the stacks, so that mappings are known; tables that stacks ask for
// are made in between. After the end, stacks that wait for tables have some seconds more.

#include "bpf_recorder.h"

#include "../generated_names.h"
#include "../own_cost.h"
#include "../program.h"
#include "earlier_waits.h"
#include "kernel_names.h"
#include "needed_files.h"
#include "processes.h"
#include "programs.h"
#include "recorded_stacks.h"

#include "sframe/base/proc_text.h"
#include "sframe/base/program_path.h"
#include "sframe/base/text.h"
#include "sframe/bpf/mapped_file.h"
#include "sframe/bpf/tables.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace sframe::profile_tool {

namespace {

constexpr int round_time = 20;       ///< milliseconds: for as long at most, records wait in the ring buffer
constexpr int longest_start = 2'500; ///< milliseconds for tables before the recording begins,
/// and for those of a program before it does: what it lacks then are its own stacks.
constexpr std::chrono::seconds longest_program_start{10};
/// For tables of the last stacks.
constexpr std::chrono::seconds longest_finish{5};
/// For threads that have waited since before the recording, when it is over.
constexpr std::chrono::seconds longest_search{5};

/// That of a process or thread; 0 if there is none.
std::uint32_t process_of(std::uint32_t named) {
  const std::string status = read_proc_file("/proc/" + std::to_string(named) + "/status");
  return static_cast<std::uint32_t>(std::strtoul(status_value(status, "Tgid").c_str(), nullptr, 10));
}

/// Begins with the tables of a program, and of what most programs have mapped: this process maps all that the
/// program will need, for as long as its mappings are listed.
void add_tables_of(sframe_bpf_tables& tables, const std::string& program, int interruption) {
  std::vector<void*> pages;
  for (const std::string& path : find_needed_files(program, interruption)) {
    const bpf::FileDescriptor file = open_regular(path);
    if (file.number() < 0) continue;
    pages.push_back(::mmap(nullptr, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.number(), 0));
  }
  sframe_bpf_tables_add(&tables, ::getpid());
  for (void* const page : pages)
    if (page != MAP_FAILED) ::munmap(page, 1);
}

class BpfRecorder {
public:
  BpfRecorder(const RecordOptions& options, const Event& event, StartedProgram& program,
              const tool::Interruption& interruption, tool::MessageSink& messages)
      : options_(options), event_(event), program_(program), interruption_(interruption), messages_(messages),
        processes_(builder_, generated_, options.all) {}

  Result<profile::Recording> run() {
    if (auto prepared = prepare(); !prepared) return unexpected(prepared.error());
    if (auto started = start(); !started) return unexpected(started.error());
    while (!is_over()) advance();
    end();
    return finish();
  }

private:
  Result<void> prepare();
  Result<void> make_tables();
  Result<void> add_targets();
  Result<void> wait_for_tables();
  sframe_bpf_counts count() const;
  Result<void> start();
  bool find_waits();
  void go_past_unread();
  bool is_over();
  void advance();
  void end();
  void finish_waits();
  profile::Recording finish();
  void report_tables(const sframe_bpf_counts& counts);
  void report_losses();

  const RecordOptions& options_;
  const Event& event_;
  StartedProgram& program_;
  const tool::Interruption& interruption_;
  tool::MessageSink& messages_;
  profile::RecordingBuilder builder_;
  GeneratedNames generated_;
  Processes processes_;
  Programs programs_;
  ProcessEvents events_;
  struct Free {
    void operator()(sframe_bpf_tables* tables) const { sframe_bpf_tables_free(tables); }
  };
  std::unique_ptr<sframe_bpf_tables, Free> tables_; ///< goes before the programs
  std::optional<RecordedStacks> stacks_;
  EarlierWaits waits_;
  std::uint64_t zero_ = 0, end_ = 0; ///< CLOCK_MONOTONIC
  std::uint64_t next_second_ = 0;    ///< for what is done once in a second
  bool is_interrupted_ = false;
  bool can_go_past_ = true; ///< until that has failed once
};

/// What takes time: programs are checked by the kernel, and tables are made.
Result<void> BpfRecorder::prepare() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
  }
  const auto generator = find_companion("sframe-gen");
  if (!generator) return fail("sframe-gen, which makes tables, is neither beside sframe-profile nor in PATH");
  if (auto loaded = programs_.load(event_, options_.all, program_.pid()); !loaded) return loaded;
  sframe_bpf_options tables{};
  tables.size = sizeof tables;
  tables.generator = generator->c_str();
  tables.wait = options_.command.empty() ? longest_start : 1; // wait_for_tables() does
  if (options_.tables.keeps && options_.tables.path.empty())
    return fail("--keep-generated: HOME is not set; --sframe-dir DIR names a folder");
  make_default(options_.tables);
  tables.directory = options_.tables.path.empty() ? nullptr : options_.tables.path.c_str();
  tables.keep = options_.tables.keeps;
  tables.keep_bytes = options_.tables.max_bytes;
  tables_.reset(sframe_bpf_tables_new(programs_.object(), &tables));
  if (!tables_) return fail(std::string("no memory for tables: ") + std::strerror(errno));
  // Before the events, of which there may be many until all tables are made.
  if (auto made = make_tables(); !made) return made;
  if (auto opened = events_.open(); !opened) return opened;
  if (auto followed = programs_.follow(); !followed) return followed;
  return add_targets();
}

Result<void> BpfRecorder::make_tables() {
  if (options_.all) sframe_bpf_tables_add(tables_.get(), 0);
  for (const std::uint32_t named : options_.pids)
    if (const std::uint32_t pid = process_of(named))
      sframe_bpf_tables_add(tables_.get(), static_cast<int>(pid));
  if (options_.command.empty()) return {};
  add_tables_of(*tables_, options_.command.front(), interruption_.fd());
  return wait_for_tables();
}

Result<void> BpfRecorder::add_targets() {
  if (!options_.command.empty()) {
    if (auto added = programs_.add_process(program_.pid(), true); !added) return added;
    processes_.watch(program_.pid());
  }
  for (const std::uint32_t named : options_.pids) {
    const std::uint32_t pid = process_of(named);
    if (pid == 0) return fail("there is no process " + std::to_string(named));
    if (auto added = programs_.add_process(pid, false); !added) return added;
    processes_.watch(pid);
  }
  return {};
}

/// Until they are there, or the time for them is over.
Result<void> BpfRecorder::wait_for_tables() {
  const auto latest = std::chrono::steady_clock::now() + longest_program_start;
  for (;;) {
    pollfd interrupted{interruption_.fd(), POLLIN, 0};
    if (::poll(&interrupted, 1, 0) > 0) return fail(program_.name() + ": interrupted before it was started");
    const std::uint64_t waiting = count().waiting;
    if (waiting == 0) return {};
    if (std::chrono::steady_clock::now() >= latest) {
      messages_.warning({}, program_.name() + " is started before " + counted(waiting, "table") + " of " +
                                "its files: their making takes more than " +
                                counted(static_cast<std::uint64_t>(longest_program_start.count()), "second"));
      return {};
    }
    sframe_bpf_tables_serve(tables_.get(), round_time);
  }
}

sframe_bpf_counts BpfRecorder::count() const {
  sframe_bpf_counts counts{};
  counts.size = sizeof counts;
  sframe_bpf_tables_count(tables_.get(), &counts);
  return counts;
}

Result<void> BpfRecorder::start() {
  const std::uint64_t period = event_.has_clock() ? 1'000'000'000 / options_.frequency : 0;
  profile::Recording& recording = builder_.recording();
  recording.event = options_.event;
  recording.period = period;
  recording.command = options_.command;
  using profile::Unit;
  recording.unit = event_.has_switches() ? Unit::nanoseconds
                   : event_.has_clock()  ? Unit::samples
                                         : Unit::events;
  zero_ = now(CLOCK_MONOTONIC);
  recording.start = now(CLOCK_REALTIME);
  stacks_.emplace(builder_, processes_, event_.has_switches() ? period : 1, zero_);
  if (auto started = programs_.start(options_.frequency); !started) return started;
  find_waits();
  end_ = options_.seconds > 0 ? zero_ + static_cast<std::uint64_t>(std::llround(options_.seconds * 1e9))
                              : ~std::uint64_t{0};
  if (!options_.command.empty()) return program_.go();
  return {};
}

/// Of threads that are off their CPUs, the next switch would be the first one that is seen.
bool BpfRecorder::find_waits() {
  const auto say = [&](const Problem& why) {
    messages_.warning({}, "waits that began before the recording are not seen: " + why.text());
    return false;
  };
  auto iterator = programs_.open_waits();
  if (!iterator) return say(iterator.error());
  if (iterator->number() < 0) return true;
  auto started = waits_.start(std::move(*iterator));
  return started || say(started.error());
}

/// A search waits for the memory of a process: starts another one that skips this process.
void BpfRecorder::go_past_unread() {
  programs_.leave_out_read();
  can_go_past_ = find_waits();
}

/// Waits for a round, or for what ends the recording.
bool BpfRecorder::is_over() {
  const std::uint64_t time = now(CLOCK_MONOTONIC);
  if (time >= end_) return true;
  const auto left = static_cast<int>(std::min<std::uint64_t>((end_ - time) / 1'000'000 + 1, round_time));
  pollfd polled[] = {{programs_.fd(), POLLIN, 0},
                     {interruption_.fd(), POLLIN, 0},
                     {program_.end_fd(), POLLIN, 0},
                     {waits_.event(), POLLIN, 0},
                     {sframe_bpf_tables_fd(tables_.get()), POLLIN, 0}};
  ::poll(polled, std::size(polled), left);
  if (polled[1].revents) {
    is_interrupted_ = true;
    if (interruption_.is_from_process()) program_.send(interruption_.number());
    return true;
  }
  if (polled[2].revents) return true;
  return !options_.pids.empty() && programs_.has_no_process();
}

void BpfRecorder::advance() {
  const bool has_waits = waits_.take_event();
  const std::uint64_t until = now(CLOCK_MONOTONIC);
  programs_.take([&](std::span<const std::byte> record) { stacks_->add(record); });
  std::vector<ProcessEvent> happened;
  events_.take(happened);
  stacks_->add(std::move(happened));
  stacks_->advance(until);
  sframe_bpf_tables_serve(tables_.get(), 0);
  stacks_->finish(*tables_, false);
  if (has_waits) waits_.go_on();
  if (can_go_past_ && waits_.is_stuck()) go_past_unread();
  if (until < next_second_) return;
  next_second_ = until + 1'000'000'000;
  processes_.forget_ended();
}

/// In a short recording there was no time for all.
void BpfRecorder::finish_waits() {
  const auto latest = std::chrono::steady_clock::now() + longest_search;
  while (!waits_.is_over() && std::chrono::steady_clock::now() < latest) {
    pollfd polled{waits_.event(), POLLIN, 0};
    ::poll(&polled, 1, round_time);
    advance();
  }
  if (!waits_.is_over())
    messages_.warning({}, "some waits that began before the recording are missing: there was no time to look "
                          "for all");
}

/// What happens after the end only tells whether a thread has waited until then.
void BpfRecorder::end() {
  end_ = std::min(end_, now(CLOCK_MONOTONIC));
  stacks_->set_end(end_);
  finish_waits();
  programs_.stop();
  advance();
  const auto latest = std::chrono::steady_clock::now() + longest_finish;
  while (stacks_->has_waiting() && std::chrono::steady_clock::now() < latest) {
    sframe_bpf_tables_serve(tables_.get(), round_time);
    stacks_->finish(*tables_, false);
  }
  stacks_->finish(*tables_, true);
  stacks_->end_blocked();
}

/// What is said of the folder of tables does not change how the recording ends.
void BpfRecorder::report_tables(const sframe_bpf_counts& counts) {
  const std::string& folder = options_.tables.path;
  messages_.detail({}, counted(counts.tables, "table") + ", " + counted(counts.bytes, "byte") + ", " +
                           counted(counts.rows, "row"));
  if (const std::uint64_t unfinished = counts.not_deferred + counts.not_finished)
    messages_.detail({}, counted(unfinished, "stack") + " not finished: no room for copies, or no file");
  if (counts.waiting) messages_.detail({}, counted(counts.waiting, "table") + " not ready at the end");
  if (counts.partial)
    messages_.warning({}, counted(counts.partial, "table") +
                              " without rows from code, which could not be analysed, or had no room");
  if (counts.removed)
    messages_.detail(folder, counted(counts.removed, "table") +
                                 " removed, unused for longest: the limit is " +
                                 counted(options_.tables.max_bytes, "byte"));
  if (counts.untrusted)
    messages_.warning(folder,
                      counted(counts.untrusted, "table") + " not used, which another user may have written");
  if (counts.not_kept)
    messages_.warning(folder,
                      counted(counts.not_kept, "table") + " not kept: " +
                          (counts.keep_error == EPERM ? "another user may change the folder"
                                                      : std::strerror(static_cast<int>(counts.keep_error))));
}

profile::Recording BpfRecorder::finish() {
  report_losses();
  program_.finish(is_interrupted_, messages_);
  profile::Recording recording = std::move(builder_).finish();
  if (!name_kernel(recording, event_.kind != Event::Kind::cpu))
    messages_.warning({}, "functions of the kernel have no names: /proc/kallsyms hides addresses "
                          "(kernel.kptr_restrict)");
  generated_.name(recording);
  const sframe_bpf_counts counts = count();
  report_tables(counts);
  const bool lacks_tables = std::ranges::any_of(recording.ends, [](const profile::End& end) {
    return end.reason == std::string_view(sframe_bpf_end_text(SFRAME_BPF_END_PENDING));
  });
  if (lacks_tables && !options_.tables.keeps)
    messages_.warning({}, "tables were not made in time: --keep-generated makes them once for all "
                          "recordings");
  recording.duration = end_ - zero_;
  recording.own_time = used_time() + static_cast<std::uint64_t>(waits_.used_time().count());
  recording.making_time = counts.making_time;
  for (const Programs::Runs& runs : programs_.runs()) {
    messages_.detail({}, "the BPF program " + runs.name + " ran " + counted(runs.count, "time") + ", for " +
                             with_commas(runs.nanoseconds / runs.count) + " ns");
    recording.own_time += runs.nanoseconds;
  }
  recording.own_memory = used_memory() + events_.bytes() + programs_.map_bytes() + counts.bytes;
  return recording;
}

void BpfRecorder::report_losses() {
  const Programs::Lost lost = programs_.lost();
  builder_.lose("no room in the ring buffer", lost.full);
  builder_.lose("too many threads that wait", lost.blocked);
  builder_.lose("the memory of a process that waits could not be read in time",
                lost.unread + waits_.num_stuck());
  if (events_.lost())
    messages_.warning({}, "the kernel had no room for " + counted(events_.lost(), "event") +
                              " of processes: some frames may have no file");
  if (processes_.unknown())
    messages_.detail({}, counted(processes_.unknown(), "frame") + " in mappings that are not known");
}

} // namespace

std::string missing_for_bpf() {
  keep_libbpf_messages();
  std::array<char, 512> text{};
  sframe_bpf_missing(nullptr, text.data(), text.size());
  std::string missing = text.data();
  if (!missing.empty()) return missing;
  std::array<char, 64> space{};
  const ssize_t size = ::readlink("/proc/self/ns/pid", space.data(), space.size() - 1);
  if (size > 0 && std::string_view(space.data()) != "pid:[4026531836]")
    return "process IDs of the machine (this is another PID name space)";
  return {};
}

Result<profile::Recording> record_by_bpf(const RecordOptions& options, const Event& event,
                                         StartedProgram& program, const tool::Interruption& interruption,
                                         tool::MessageSink& messages) {
  return BpfRecorder(options, event, program, interruption, messages).run();
}

} // namespace sframe::profile_tool
