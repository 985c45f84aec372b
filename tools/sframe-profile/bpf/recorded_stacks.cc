// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records come in the ring buffer's order, and are sorted with the events of processes by time. A sample is
// given to the builder by whoever adds its last part: the stack, or the weight.

#include "recorded_stacks.h"

#include "sframe/bpf/tables.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace sframe::profile_tool {

namespace {

/// Stacks that wait for tables: a record of each has up to 2 KB, and its mappings are shared.
constexpr std::size_t max_waiting = 16'384;

} // namespace

void RecordedStacks::take_stack(Record& record, const sframe_bpf_stack& stack) {
  record.user.assign(stack.pcs, stack.pcs + stack.depth);
  std::ranges::copy(stack.guessed, record.guessed);
  record.end = stack.end;
}

void RecordedStacks::add(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(record_came)) return;
  record_came came;
  std::memcpy(&came, bytes.data(), sizeof came);
  const bool is_late = came.kind != RECORD_WAITED && came.time > end_;
  if (is_late && came.kind == RECORD_SAMPLE) return;
  if (came.kind == RECORD_CAME) {
    const auto found = blocked_.find(came.tid);
    if (found == blocked_.end()) return;
    end_wait(*found->second, came.time);
    blocked_.erase(found);
    return;
  }
  constexpr std::size_t first = offsetof(record_sample, stack) + offsetof(sframe_bpf_stack, pcs);
  if (bytes.size() < first) return;
  const auto& sample = *reinterpret_cast<const record_sample*>(bytes.data()); // aligned, by the ring buffer
  auto open = std::make_shared<Open>();
  Record& record = open->record;
  record.tid = sample.tid;
  record.pid = sample.pid;
  record.time = sample.time;
  record.name.assign(sample.name, ::strnlen(sample.name, sizeof sample.name));
  record.is_kernel_thread = sample.is_kernel_thread != 0;
  const std::span frames(sample.stack.pcs, (bytes.size() - first) / sizeof *sample.stack.pcs);
  if (sample.stack.depth > SFRAME_BPF_MAX_FRAMES || frames.size() < sample.stack.depth + sample.kernel_frames)
    return;
  const auto kernel = frames.subspan(sample.stack.depth, sample.kernel_frames);
  record.kernel.assign(kernel.begin(), kernel.end());
  take_stack(record, sample.stack);
  if (sample.stack.ticket != 0) {
    record.rest = std::make_unique<sframe_bpf_stack>();
    std::memcpy(record.rest.get(), &sample.stack, offsetof(sframe_bpf_stack, pcs));
    std::ranges::copy(record.user, record.rest->pcs);
  }
  // What was mapped is known of the time of the record; the thread waits at least from the beginning on.
  if (sample.kind != RECORD_WAITED) open->sample.time = record.time - std::min(record.time, zero_);
  open->sample.cpu = sample.cpu;
  open->used = sample.used;
  if (sample.kind == RECORD_SAMPLE)
    add_weight(*open, period_);
  else
    add_left(open);
  if (is_late) {
    blocked_.erase(sample.tid);
    return;
  }
  taken_.push_back(std::move(open));
}

/// The record of its last return may be missing: there was no room for it, or the kernel did not report it
/// (some kernels hide threads, and what they are switched to). It came when it had not yet used what it has
/// since.
void RecordedStacks::add_left(const std::shared_ptr<Open>& open) {
  const std::uint64_t time = open->record.time;
  std::shared_ptr<Open>& blocked = blocked_[open->record.tid];
  if (blocked) end_wait(*blocked, time - std::min(open->used - blocked->used, time));
  blocked = open;
}

void RecordedStacks::add(std::vector<ProcessEvent> events) {
  std::ranges::move(events, std::back_inserter(events_));
}

void RecordedStacks::advance(std::uint64_t until) {
  std::ranges::stable_sort(taken_, {}, [](const auto& open) { return open->record.time; });
  std::ranges::stable_sort(events_, {}, &ProcessEvent::time);
  auto event = events_.begin();
  const auto apply = [&](std::uint64_t time) {
    for (; event != events_.end() && event->time <= time; ++event) processes_.apply(*event);
  };
  for (const std::shared_ptr<Open>& open : taken_) {
    apply(open->record.time);
    take(open);
  }
  apply(until);
  events_.erase(events_.begin(), event);
  taken_.clear();
}

void RecordedStacks::take(const std::shared_ptr<Open>& open) {
  const Record& record = open->record;
  const Processes::Known& process = processes_.find(record.pid);
  open->owner = {record.pid, builder_.process(record.pid, process.name)};
  open->sample.thread = builder_.thread(record.tid, open->owner.process, record.name);
  open->mappings = process.mappings;
  if (record.rest && waiting_.size() < max_waiting)
    waiting_.push_back(open);
  else
    add_stack(*open);
}

/// A return address of 0 ends a stack, as unwind::Walker has it: Go's goexit has one. A guessed frame is
/// never a part of a complete stack. A thread whose memory has gone has the kernel's frames only.
profile::End RecordedStacks::end_of(const Record& record) {
  if (record.is_kernel_thread) return {.complete = true, .reason = "kernel thread"};
  const bool is_outermost = record.end == SFRAME_BPF_END_OUTERMOST || record.end == SFRAME_BPF_END_ZERO_PC ||
                            record.end == SFRAME_BPF_END_NO_PROGRAM;
  if (is_outermost && (record.guessed[0] | record.guessed[1]) != 0)
    return {.complete = false, .reason = "not proved: frames are guessed by frame pointers"};
  return {.complete = is_outermost, .reason = sframe_bpf_end_text(record.end)};
}

/// The stack is final: it becomes locations.
void RecordedStacks::add_stack(Open& open) {
  static const profile::File kernel{.kind = profile::FileKind::kernel, .path = "[kernel]"};
  std::vector<std::uint32_t> locations;
  const Record& record = open.record;
  for (std::size_t i = 0; i < record.kernel.size(); ++i)
    locations.push_back(
        builder_.location({.file = builder_.file(kernel), .address = record.kernel[i] - (i != 0 ? 1 : 0)}));
  for (std::size_t i = 0; i < record.user.size(); ++i) {
    const bool is_guess = (record.guessed[i / 64] >> i % 64 & 1) != 0;
    locations.push_back(processes_.locate(open.owner, *open.mappings, record.user[i], is_guess));
  }
  open.sample.stack = builder_.stack(locations, builder_.end(end_of(record)));
  open.has_stack = true;
  open.record = {};
  open.mappings.reset();
  if (open.has_weight) builder_.sample(open.sample);
}

/// The clocks of two processors may differ.
void RecordedStacks::end_wait(Open& open, std::uint64_t time) {
  const std::uint64_t end = std::min(time, end_) - std::min(time, zero_);
  add_weight(open, end - std::min(open.sample.time, end));
}

void RecordedStacks::add_weight(Open& open, std::uint64_t weight) {
  open.sample.weight = weight;
  open.has_weight = true;
  if (open.has_stack) builder_.sample(open.sample);
}

void RecordedStacks::finish(sframe_bpf_tables& tables, bool last) {
  std::erase_if(waiting_, [&](const std::shared_ptr<Open>& open) {
    Record& record = open->record;
    if (sframe_bpf_tables_finish(&tables, record.rest.get()) == 1 && !last) return false;
    take_stack(record, *record.rest);
    add_stack(*open);
    return true;
  });
}

void RecordedStacks::end_blocked() {
  for (const auto& [tid, open] : blocked_) end_wait(*open, end_);
  blocked_.clear();
}

} // namespace sframe::profile_tool
