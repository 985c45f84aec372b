// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reader goes through the records. A sample's stack is put together of up to three parts:
//
//   call chain   PERF_CONTEXT_KERNEL  kernel addresses  PERF_CONTEXT_USER  addresses by frame pointers
//   registers and copied stack: user frames, walked here, instead of those by frame pointers
//   deferred     PERF_CONTEXT_USER_DEFERRED  a number: the user part is in a later record with that number

#include "sframe/perf/read_recording.h"

#include "processes.h"

#include "sframe/process/walk_registers.h"
#include "sframe/unwind/abi.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace sframe::perf {

namespace {

/// PERF_CONTEXT_*: marks in call chains.
constexpr std::uint64_t context_max = static_cast<std::uint64_t>(-4095);
constexpr std::uint64_t context_kernel = static_cast<std::uint64_t>(-128);
constexpr std::uint64_t context_user = static_cast<std::uint64_t>(-512);
constexpr std::uint64_t context_deferred = static_cast<std::uint64_t>(-640);
constexpr std::uint64_t registers_of_32_bits = 1;

struct Chain {
  std::vector<std::uint64_t> kernel, user;
  std::optional<std::uint64_t> deferred; ///< the number of the record with the user part
};

Chain split(std::span<const std::uint64_t> entries, std::uint16_t mode) {
  Chain chain;
  const bool starts_in_user = mode == mode_user;
  std::vector<std::uint64_t>* part = starts_in_user ? &chain.user : &chain.kernel;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::uint64_t entry = entries[i];
    if (entry < context_max) {
      if (part) part->push_back(entry);
    } else if (entry == context_deferred && i + 1 < entries.size()) {
      chain.deferred = entries[++i];
    } else {
      // Those of guests are no stacks of this machine.
      part = entry == context_kernel ? &chain.kernel : entry == context_user ? &chain.user : nullptr;
    }
  }
  return chain;
}

class Reader {
public:
  Reader(const Data& data, const AbiTraits* abi, const Event* event, const ReadOptions& options)
      : data_(data), abi_(abi), event_(event), files_(options.files), modules_(*abi_, files_),
        processes_(data, builder_, modules_, abi_, files_.budget.get()) {}

  ReadResult run() {
    std::uint64_t first = 0, last = 0;
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const Record record = data_.record(i);
      if (record.time != 0 && first == 0) first = record.time;
      last = std::max(last, record.time);
      take(record, first);
    }
    for (auto& [number, waiting] : deferred_)
      for (Pending& pending : waiting) finish(pending, "the deferred call chain is missing", false);
    ReadResult result;
    profile::Recording& about = builder_.recording();
    about.event = event_->name.empty() ? "event" : event_->name;
    about.abi = abi_;
    about.duration = last - first;
    about.command = data_.command();
    about.kernel_symbol = processes_.kernel_symbol();
    about.start = data_.wall_clock(first).value_or(0);
    if (damaged_ != 0)
      result.problems.push_back({std::to_string(damaged_) + " damaged samples are left out", {}, {}});
    if (processes_.is_full()) result.problems.push_back({"too many mappings: some are left out", {}, {}});
    result.other_events.assign(others_.begin(), others_.end());
    result.recording = std::move(builder_).finish();
    set_unit(result.recording);
    return result;
  }

private:
  /// A sample whose stack is not complete yet.
  struct Pending {
    std::vector<std::uint32_t> locations;
    profile::Sample sample;
    std::uint32_t pid = 0, tid = 0;
  };

  void take(const Record& record, std::uint64_t first);
  void take_sample(const Record& record, std::uint64_t first);
  void take_deferred(const Record& record);
  void add_kernel(std::span<const std::uint64_t> addresses, Pending& pending);
  void add_user_chain(std::span<const std::uint64_t> addresses, bool starts_exactly, Pending& pending);
  void add_walked(const SampleFields& fields, const core::RegisterValues& registers, Pending& pending);
  std::uint32_t location(std::uint32_t pid, std::uint64_t address, bool is_guess);
  bool is_outermost(std::uint32_t pid, std::uint64_t return_address);
  void finish(Pending& pending, std::string_view reason, bool is_complete);
  void set_unit(profile::Recording& recording) const;

  const Data& data_;
  const AbiTraits* abi_;
  const Event* event_;
  files::FileOptions files_;
  profile::RecordingBuilder builder_;
  ModuleCache modules_;
  Processes processes_;
  std::map<std::string, std::uint64_t> others_;                                      ///< samples, by event
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Pending>> deferred_; ///< by TID and number
  std::uint64_t damaged_ = 0;
};

void Reader::take(const Record& record, std::uint64_t first) {
  Fields body(record.body, data_.byte_order());
  switch (record.type) {
  case RecordType::sample: return take_sample(record, first);
  case RecordType::callchain_deferred: return take_deferred(record);
  case RecordType::lost:
    body.skip(8); // which event
    return builder_.lose("perf's buffer was full", body.u64());
  case RecordType::lost_samples: return builder_.lose("the kernel dropped them", body.u64());
  default: processes_.take(record);
  }
}

void Reader::take_sample(const Record& record, std::uint64_t first) {
  if (record.event != event_) {
    if (record.event) ++others_[record.event->name];
    return;
  }
  const auto fields = data_.sample(record);
  if (!fields) {
    ++damaged_;
    return;
  }
  Pending pending{.locations = {}, .sample = {}, .pid = fields->pid, .tid = fields->tid};
  pending.sample = {.time = fields->time > first ? fields->time - first : 0,
                    .weight = fields->period,
                    .thread = processes_.thread(fields->pid, fields->tid),
                    .cpu = fields->cpu.value_or(profile::none)};
  Chain chain = split(fields->callchain, record.mode());
  const bool in_kernel = record.mode() == mode_kernel;
  // Without a call chain, the sample's address is all there is of its part.
  if (in_kernel && chain.kernel.empty() && fields->ip != 0) chain.kernel.push_back(fields->ip);
  add_kernel(chain.kernel, pending);
  if (chain.deferred) {
    deferred_[{fields->tid, *chain.deferred}].push_back(std::move(pending));
    return;
  }
  const bool is_32_bit = fields->registers_abi == registers_of_32_bits;
  if (fields->registers_abi > registers_of_32_bits && !fields->stack.empty()) {
    if (const auto registers = core::decode_sampled_registers(abi_->machine, data_.byte_order(),
                                                              event_->user_registers, fields->registers))
      return add_walked(*fields, *registers, pending);
  }
  if (!chain.user.empty()) return add_user_chain(chain.user, true, pending);
  if (is_32_bit) return finish(pending, unwind::message(unwind::StopReason::other_mode), false);
  if (!in_kernel && fields->ip != 0) {
    const std::uint64_t only[] = {fields->ip};
    return add_user_chain(only, true, pending);
  }
  // A thread of the kernel has nothing else.
  finish(pending, {}, true);
}

void Reader::take_deferred(const Record& record) {
  Fields body(record.body, data_.byte_order());
  const std::uint64_t number = body.u64(), count = body.u64();
  const auto waiting = deferred_.find({record.tid, number});
  if (!body.good() || waiting == deferred_.end() || count > body.left().size() / 8) return;
  std::vector<std::uint64_t> entries(count);
  for (std::uint64_t& entry : entries) entry = body.u64();
  const Chain chain = split(entries, mode_user);
  for (Pending& pending : waiting->second) {
    // Many samples may wait for one record: they cost more than their bytes.
    Budget* const budget = files_.budget.get();
    if (budget && !budget->take(Resource::frames, chain.user.size()))
      finish(pending, unwind::message(unwind::StopReason::budget), false);
    else
      add_user_chain(chain.user, true, pending);
  }
  deferred_.erase(waiting);
}

void Reader::add_kernel(std::span<const std::uint64_t> addresses, Pending& pending) {
  if (addresses.empty()) return;
  const std::uint32_t file = processes_.kernel();
  for (std::size_t i = 0; i < addresses.size(); ++i)
    pending.locations.push_back(builder_.location({.file = file, .address = addresses[i] - (i != 0)}));
}

/// By frame pointers: every frame but the first is a guess, which code without them makes wrong.
void Reader::add_user_chain(std::span<const std::uint64_t> addresses, bool starts_exactly, Pending& pending) {
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const bool is_exact = starts_exactly && i == 0;
    last = addresses[i];
    if (last == 0) break;
    pending.locations.push_back(location(pending.pid, last - !is_exact, !is_exact));
  }
  if (event_->max_stack != 0 && addresses.size() >= event_->max_stack)
    return finish(pending, "perf's limit of frames", false);
  const bool is_complete = last != 0 && is_outermost(pending.pid, last);
  finish(pending, "the frame pointers of the call chain end", is_complete);
}

/// The frames of a walk, as locations.
class Frames final : public unwind::FrameReceiver {
public:
  bool frame(const unwind::Frame& frame, const unwind::Registers&) override {
    frames.emplace_back(frame.instruction_pc(), frame.trust == unwind::Trust::heuristic);
    return true;
  }
  std::vector<std::pair<std::uint64_t, bool>> frames;
};

void Reader::add_walked(const SampleFields& fields, const core::RegisterValues& values, Pending& pending) {
  const unwind::UnwindAbi* const unwind = unwind::find_unwind_abi(abi_->id);
  if (!unwind) return finish(pending, "stacks of this machine cannot be walked", false);
  if (process::is_other_mode(values, *unwind))
    return finish(pending, unwind::message(unwind::StopReason::other_mode), false);
  Walk& walk = processes_.walk(pending.pid);
  walk.space.set_stack(values.get(abi_->sp).value_or(0), fields.stack);
  walk.walker.forget_memory();
  Frames frames;
  const unwind::WalkEnd end = walk.walker.walk(process::registers_of(values, *abi_, *unwind), frames);
  for (const auto& [address, is_guess] : frames.frames)
    pending.locations.push_back(location(pending.pid, address, is_guess));
  std::string reason = unwind::message(end.reason);
  if (end.reason == unwind::StopReason::unreadable_memory && walk.space.is_behind_stack(end.detail))
    reason = "the stack is longer than its copied part (" + std::to_string(fields.wanted_stack) + " bytes)";
  walk.space.set_stack(0, {});
  finish(pending, reason, end.complete);
}

std::uint32_t Reader::location(std::uint32_t pid, std::uint64_t address, bool is_guess) {
  const Mapping* const mapping = processes_.find(pid, address);
  if (!mapping) return builder_.location({.address = address, .guessed = is_guess});
  profile::Location location{.file = mapping->file, .address = address, .guessed = is_guess};
  const MappedFile& mapped = mapping->mapped;
  if (mapping->has_file) {
    modules::Module& module = *processes_.walk(pid).space.module_at(address);
    // Without the file, its segments are not known: in most, the file offset of code is its address.
    location.address = module.info().bias || module.image() ? module.link(modules::Address(address)).value
                                                            : address - mapped.start + mapped.offset;
  } else if (mapped.is_vdso()) {
    location.address = address - mapped.start + mapped.offset;
  }
  return builder_.location(location);
}

/// True if tables say that the function has no caller.
bool Reader::is_outermost(std::uint32_t pid, std::uint64_t return_address) {
  Walk& walk = processes_.walk(pid);
  const auto [known, is_new] = walk.outermost.try_emplace(return_address);
  if (!is_new) return known->second;
  unwind::FrameState frame, caller;
  frame.registers.pc = return_address;
  frame.pc_exact = false;
  const unwind::FrameStepper* by = nullptr;
  unwind::StepResult step;
  walk.walker.step(frame, caller, by, step);
  return walk.outermost[return_address] = step.status == unwind::StepStatus::bottom;
}

void Reader::finish(Pending& pending, std::string_view reason, bool is_complete) {
  const std::uint32_t end =
      builder_.end({.complete = is_complete, .reason = is_complete ? std::string() : std::string(reason)});
  pending.sample.stack = builder_.stack(pending.locations, end);
  builder_.sample(pending.sample);
}

/// A clock that ticks evenly counts samples; other events count what they are.
void Reader::set_unit(profile::Recording& recording) const {
  constexpr std::uint32_t software = 1;
  const bool is_clock = event_->type == software && event_->config <= 1;
  const auto& samples = recording.samples;
  recording.unit = is_clock ? profile::Unit::nanoseconds : profile::Unit::events;
  const auto has_other = [&](const profile::Sample& sample) { return sample.weight != samples[0].weight; };
  if (!is_clock || samples.empty() || std::ranges::any_of(samples, has_other)) return;
  recording.unit = profile::Unit::samples;
  recording.period = samples[0].weight;
  for (profile::Sample& sample : recording.samples) sample.weight = 1;
}

/// The first event with samples, or the one of that name. ":u" and the like belong to the name in perf's own
/// words, but need not be given.
const Event* find_event(const Data& data, const std::string& name) {
  if (!name.empty()) {
    for (const auto& event : data.events())
      if (event->name == name || event->name.starts_with(name + ':')) return event.get();
    return nullptr;
  }
  for (std::size_t i = 0; i < data.size(); ++i) {
    const Record record = data.record(i);
    if (record.type == RecordType::sample && record.event) return record.event;
  }
  return data.events().front().get();
}

/// "cpu-clock:u, page-faults": some of them, if there are many.
std::string names_of_events(const Data& data) {
  constexpr std::size_t most = 8;
  std::string names;
  for (std::size_t i = 0; i < data.events().size() && i <= most; ++i) {
    if (i != 0) names += ", ";
    names += i == most ? "..." : data.events()[i]->name;
  }
  return names;
}

/// By the file's name of the machine; without one, this program's, if the byte order is right.
const AbiTraits* abi_of(const Data& data) {
  if (data.names_machine()) return data.abi();
  const AbiTraits* const own = find_abi(SFRAME_HOST_ABI);
  return own && own->byte_order == data.byte_order() ? own : nullptr;
}

} // namespace

Result<ReadResult> read_recording(const Data& data, const ReadOptions& options) {
  const AbiTraits* const abi = abi_of(data);
  if (!abi) return fail("the recording is of a machine that is not known here");
  const Event* const event = find_event(data, options.event);
  if (!event)
    return fail("the recording has no event '" + options.event + "'; it has " + names_of_events(data));
  ReadOptions for_space = options;
  for_space.files = std::move(for_space.files).for_space();
  ReadResult result = Reader(data, abi, event, for_space).run();
  result.problems.insert(result.problems.begin(), data.problems().begin(), data.problems().end());
  return result;
}

} // namespace sframe::perf
