// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From records of the BPF programs to samples of a recording. A sample is complete when its stack is, part of
// which may have to wait for a table, and when its weight is known: that of a thread that left its CPU, when
// it is back.

#pragma once

#include "../event.h"
#include "processes.h"
#include "record.h"

#include "sframe/profile/recording_builder.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

struct sframe_bpf_tables;

namespace sframe::profile_tool {

class RecordedStacks {
public:
  /// `period`: the weight of a sample of the clock. `zero`: the time when the recording began.
  RecordedStacks(profile::RecordingBuilder& builder, Processes& processes, std::uint64_t period,
                 std::uint64_t zero)
      : builder_(builder), processes_(processes), period_(period), zero_(zero) {}

  /// A record of the ring buffer. They are in the right order for each thread; their times may not be, since
  /// processors have clocks of their own.
  void add(std::span<const std::byte> record);
  void add(std::vector<ProcessEvent> events);
  /// Takes all that was added, in the order of time: each sample with the mappings that there were.
  /// `until`: a time before which nothing more is added.
  void advance(std::uint64_t until);

  bool has_waiting() const { return !waiting_.empty(); }
  /// Finishes stacks whose tables are there by now; with `last` all, as far as they go.
  void finish(sframe_bpf_tables& tables, bool last);
  /// When the recording ends: later times of records that are added from now on count as this one.
  void set_end(std::uint64_t time) { end_ = time; }
  /// Threads that are still off their CPUs at the end.
  void end_blocked();

private:
  struct Record {
    std::uint32_t tid = 0, pid = 0;
    std::uint64_t time = 0; ///< CLOCK_MONOTONIC
    std::string name;
    bool is_kernel_thread = false;
    std::vector<std::uint64_t> kernel, user; ///< addresses, the innermost ones first
    std::uint64_t guessed[2] = {};           ///< of `user`, as in sframe_bpf_stack
    std::uint32_t end = 0;                   ///< enum sframe_bpf_end
    std::unique_ptr<sframe_bpf_stack> rest;  ///< one that has to be finished: then it replaces these
  };
  /// A sample that is not complete.
  struct Open {
    profile::Sample sample;
    bool has_weight = false, has_stack = false;
    Processes::Owner owner;
    Record record;
    std::uint64_t used = 0; ///< the thread's processor time
    std::shared_ptr<const CodeMappings> mappings;
  };

  static void take_stack(Record& record, const sframe_bpf_stack& stack);
  void add_left(const std::shared_ptr<Open>& open);
  void take(const std::shared_ptr<Open>& open);
  static profile::End end_of(const Record& record);
  void add_stack(Open& open);
  void add_weight(Open& open, std::uint64_t weight);
  void end_wait(Open& open, std::uint64_t time);

  profile::RecordingBuilder& builder_;
  Processes& processes_;
  std::uint64_t period_, zero_, end_ = ~std::uint64_t{0};
  std::vector<std::shared_ptr<Open>> taken_; ///< by this round
  std::vector<ProcessEvent> events_;
  std::deque<std::shared_ptr<Open>> waiting_;                        ///< for tables, the oldest first
  std::unordered_map<std::uint32_t, std::shared_ptr<Open>> blocked_; ///< by thread
};

} // namespace sframe::profile_tool
