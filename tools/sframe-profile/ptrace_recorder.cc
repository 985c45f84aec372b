// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A round for each period: every process is stopped, its threads are walked, and it runs again before
// anything else is done with the frames. A round that would begin after the next one is left out: the samples
// of the next one count for its time, too.

#include "ptrace_recorder.h"

#include "generated_names.h"
#include "own_cost.h"
#include "program.h"
#include "thread_shares.h"

#include "sframe/base/budget.h"
#include "sframe/base/text.h"
#include "sframe/process/live_process.h"
#include "sframe/profile/recording_builder.h"
#include "sframe/steppers/steppers.h"
#include "sframe/unwind/walker.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace sframe::profile_tool {

namespace {

constexpr std::uint32_t max_frames = 1'024;

/// The frames of a walk: the process runs again before anything else is done with them.
class Frames final : public unwind::FrameReceiver {
public:
  bool frame(const unwind::Frame& frame, const unwind::Registers&) override {
    frames.push_back({frame.instruction_pc(), frame.trust != unwind::Trust::exact});
    return true;
  }
  struct Place {
    std::uint64_t pc;
    bool guessed;
  };
  std::vector<Place> frames;
};

/// Nanoseconds of processor time of all threads, also those that have ended; 0 if it has ended.
std::uint64_t used_by(std::uint32_t pid) {
  clockid_t clock{};
  return ::clock_getcpuclockid(static_cast<pid_t>(pid), &clock) == 0 ? now(clock) : 0;
}

/// A process that is sampled.
class Sampled {
public:
  Sampled(std::unique_ptr<process::LiveProcess> process, Event::Kind event, std::uint64_t period)
      : process_(std::move(process)), shares_(event, period) {
    find_due(); // what was used before does not count
  }

  process::LiveProcess& process() { return *process_; }
  /// Stops it, walks the threads that samples are due of, and adds these, at the given time of the recording.
  Result<void> sample(std::uint64_t time, profile::RecordingBuilder& builder, GeneratedNames& names);
  /// When no sample follows: adds those without a stack that the rest of its time is due.
  void end(std::uint64_t time, profile::RecordingBuilder& builder);

private:
  std::map<std::uint32_t, std::uint64_t> find_due() {
    const auto threads = process_->activity();
    return shares_.look(threads, now(CLOCK_MONOTONIC), used_by(process_->pid()));
  }
  void prepare();
  std::uint32_t locate(const Frames::Place& place, std::uint32_t process, profile::RecordingBuilder& builder,
                       GeneratedNames& names);

  std::unique_ptr<process::LiveProcess> process_;
  std::optional<unwind::Walker> walker_;
  const modules::Module* main_ = nullptr; ///< that walker_ knows
  ThreadShares shares_;
  std::map<std::uint32_t, std::string> thread_names_;
};

/// One walker for all samples of a program: it caches rules by address.
void Sampled::prepare() {
  process::LiveSpace& space = process_->space();
  if (walker_ && main_ == space.main_module()) {
    walker_->forget_memory();
    return;
  }
  main_ = space.main_module();
  walker_.emplace(space, steppers::default_steppers(space.abi(), space.main_module()));
  walker_->set_max_frames(max_frames);
}

std::uint32_t Sampled::locate(const Frames::Place& place, std::uint32_t process,
                              profile::RecordingBuilder& builder, GeneratedNames& names) {
  modules::Module* const module = process_->space().module_at(place.pc);
  profile::File file;
  file.process = process;
  if (!module || module->generated()) {
    names.open(process_->pid());
    file.kind = profile::FileKind::generated;
    return builder.location({.file = builder.file(file), .address = place.pc, .guessed = place.guessed});
  }
  const std::span<const std::byte> id = module->build_id();
  file.kind = module->info().vdso ? profile::FileKind::vdso : profile::FileKind::elf;
  file.path = module->info().path;
  file.build_id.assign(id.begin(), id.end());
  const std::string& opened = module->info().file.empty() ? file.path : module->info().file;
  struct stat now {};
  if (id.empty() && ::stat(opened.c_str(), &now) == 0) file.identity = profile::identity_of(now);
  const std::uint64_t address = module->link(modules::Address(place.pc)).value;
  return builder.location({.file = builder.file(file), .address = address, .guessed = place.guessed});
}

Result<void> Sampled::sample(std::uint64_t time, profile::RecordingBuilder& builder, GeneratedNames& names) {
  struct Walked {
    profile::Sample sample;
    Frames frames;
    unwind::WalkEnd end;
  };
  std::map<std::uint32_t, std::uint64_t> weights = find_due();
  if (auto stopped = process_->stop(); !stopped) {
    shares_.give_back(weights);
    return stopped;
  }
  prepare();
  std::vector<Walked> all;
  const std::uint32_t process = builder.process(process_->pid(), process_->name());
  for (const process::Thread& thread : process_->threads()) {
    thread_names_[thread.tid] = thread.name;
    const auto due = weights.find(thread.tid);
    if (due == weights.end()) continue;
    Walked& walked = all.emplace_back();
    walked.sample.time = time;
    walked.sample.weight = due->second;
    walked.sample.thread = builder.thread(thread.tid, process, thread.name);
    walked.end = walker_->walk(thread.frame(), walked.frames);
    weights.erase(due);
  }
  process_->resume();
  shares_.give_back(weights); // of threads that have ended meanwhile
  for (Walked& walked : all) {
    std::vector<std::uint32_t> locations;
    for (const Frames::Place& place : walked.frames.frames)
      locations.push_back(locate(place, process, builder, names));
    const bool complete = walked.end.complete;
    const std::uint32_t end = builder.end(
        {.complete = complete, .reason = complete ? "outermost frame" : unwind::message(walked.end.reason)});
    walked.sample.stack = builder.stack(locations, end);
    builder.sample(walked.sample);
  }
  builder.lose("threads that did not stop", process_->unstopped().size());
  return {};
}

void Sampled::end(std::uint64_t time, profile::RecordingBuilder& builder) {
  if (process_->is_terminated()) find_due(); // what was used after the last stop
  for (const auto& [tid, weight] : shares_.rest(process_->pid())) {
    const auto name = thread_names_.find(tid);
    const std::uint32_t process = builder.process(process_->pid(), process_->name());
    profile::Sample sample;
    sample.time = time;
    sample.weight = weight;
    sample.thread =
        builder.thread(tid, process, name == thread_names_.end() ? process_->name() : name->second);
    sample.stack = builder.stack(
        {}, builder.end({.complete = false, .reason = "no stop of the thread while it did this"}));
    builder.sample(sample);
  }
}

class PtraceRecorder {
public:
  PtraceRecorder(const RecordOptions& options, const Event& event, StartedProgram& program,
                 const tool::Interruption& interruption)
      : options_(options), event_(event), program_(program), interruption_(interruption),
        period_(1'000'000'000 / options.frequency) {}

  Result<profile::Recording> run(tool::MessageSink& messages);

private:
  Result<void> attach(std::uint32_t pid);
  bool is_over_before(std::uint64_t time);
  void take();

  const RecordOptions& options_;
  const Event& event_;
  StartedProgram& program_;
  const tool::Interruption& interruption_;
  std::uint64_t period_, zero_ = 0;
  profile::RecordingBuilder builder_;
  GeneratedNames names_;
  std::vector<Sampled> processes_;
  bool is_interrupted_ = false;
};

Result<void> PtraceRecorder::attach(std::uint32_t pid) {
  modules::FileOptions files = options_.files;
  files.budget = std::make_shared<Budget>(Limits::standard, 0); // refilled for each sample
  auto process = process::LiveProcess::attach(pid, std::move(files));
  if (!process) return fail("process " + std::to_string(pid) + ": " + process.error().text());
  processes_.emplace_back(std::move(*process), event_.kind, period_);
  return {};
}

/// True if the recording is over at that time, or ends before.
bool PtraceRecorder::is_over_before(std::uint64_t time) {
  const auto end = options_.seconds > 0
                       ? zero_ + static_cast<std::uint64_t>(std::llround(options_.seconds * 1e9))
                       : ~std::uint64_t{0};
  std::vector<pollfd> polled = {{interruption_.fd(), POLLIN, 0}, {program_.end_fd(), POLLIN, 0}};
  const std::uint64_t at = now(CLOCK_MONOTONIC), until = std::min(time, end);
  const timespec left{.tv_sec = static_cast<time_t>(until > at ? (until - at) / 1'000'000'000 : 0),
                      .tv_nsec = static_cast<long>(until > at ? (until - at) % 1'000'000'000 : 0)};
  ::ppoll(polled.data(), polled.size(), &left, nullptr);
  if (polled[0].revents) {
    is_interrupted_ = true;
    if (interruption_.is_from_process()) program_.send(interruption_.number());
  }
  return is_interrupted_ || polled[1].revents || time >= end;
}

void PtraceRecorder::take() {
  const std::uint64_t time = now(CLOCK_MONOTONIC) - zero_;
  std::erase_if(processes_, [&](Sampled& one) {
    if (one.sample(time, builder_, names_) || !one.process().is_terminated()) return false;
    one.end(time, builder_);
    return true;
  });
}

Result<profile::Recording> PtraceRecorder::run(tool::MessageSink& messages) {
  for (const std::uint32_t pid : options_.pids)
    if (auto attached = attach(pid); !attached) return unexpected(attached.error());
  if (!options_.command.empty()) {
    if (auto started = program_.go(); !started) return unexpected(started.error());
    // It may have ended already.
    if (auto attached = attach(program_.pid()); !attached && !is_over_before(now(CLOCK_MONOTONIC))) {
      program_.finish(false, messages); // it must not go on alone
      return fail(program_.name() + " cannot be recorded: " + attached.error().text());
    }
  }
  profile::Recording& recording = builder_.recording();
  recording.event = options_.event;
  recording.unit = event_.kind == Event::Kind::cpu ? profile::Unit::samples : profile::Unit::nanoseconds;
  recording.period = period_;
  recording.command = options_.command;
  recording.start = now(CLOCK_REALTIME);
  zero_ = now(CLOCK_MONOTONIC);
  std::uint64_t next = zero_ + period_, left_out = 0; // a sample is for the time before it
  while (!processes_.empty() && !is_over_before(next)) {
    take();
    next += period_;
    const std::uint64_t time = now(CLOCK_MONOTONIC);
    if (time <= next) continue;
    const std::uint64_t late = (time - next) / period_;
    left_out += late;
    next += late * period_;
  }
  if (left_out)
    messages.warning({}, counted(left_out, "time") +
                             ", samples were due while the last ones were being taken: "
                             "later ones count for this time, too");
  recording.duration = now(CLOCK_MONOTONIC) - zero_;
  for (Sampled& one : processes_) one.end(recording.duration, builder_);
  program_.finish(is_interrupted_, messages);
  recording.own_time = used_time();
  recording.own_memory = used_memory();
  profile::Recording finished = std::move(builder_).finish();
  names_.name(finished);
  return finished;
}

} // namespace

bool can_stop_for(const Event& event) {
  return event.has_clock() || event.has_switches();
}

Result<profile::Recording> record_by_ptrace(const RecordOptions& options, const Event& event,
                                            StartedProgram& program, const tool::Interruption& interruption,
                                            tool::MessageSink& messages) {
  return PtraceRecorder(options, event, program, interruption).run(messages);
}

} // namespace sframe::profile_tool
