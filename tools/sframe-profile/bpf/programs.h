// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The BPF programs of record.bpf.c, which are a part of this program's file: loaded for an event, and
// started.

#pragma once

#include "../event.h"

#include "sframe/base/problem.h"
#include "sframe/bpf/mapped_file.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct bpf_link;
struct bpf_object;
struct bpf_program;
struct record_settings;
struct ring_buffer;

namespace sframe::profile_tool {

/// What libbpf says goes into errors, not to standard error. Before any use of libbpf.
void keep_libbpf_messages();

class Programs {
public:
  using TakeRecord = std::function<void(std::span<const std::byte> record)>;

  Programs();
  ~Programs();
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  /// Loads those that the event needs; without the one that finds threads which wait already, if the kernel
  /// does not accept it. `all`: for all processes but this one and its children, of which
  /// `program` (0: none) is recorded, too; else for those that are added.
  Result<void> load(const Event& event, bool all, std::uint32_t program);
  bpf_object* object() const { return object_.get(); }

  /// Follows processes: from the program that it executes next on, or from now on.
  Result<void> add_process(std::uint32_t pid, bool from_exec);
  /// Whether no process is followed any more.
  bool has_no_process() const;
  /// Starts those that follow processes; then those that take samples.
  Result<void> follow();
  Result<void> start(std::uint32_t frequency);
  /// An iterator that writes records of the threads that are off their CPUs now, as it is read: their
  /// numbers, of 32 bits. Its number is -1 if the event needs none.
  Result<bpf::FileDescriptor> open_waits();
  /// Those that are opened from now on leave out the processes whose memory the others are reading.
  void leave_out_read();
  /// No program runs after this.
  void stop() { links_.clear(); }

  /// poll(2) reports it as readable when much is there to take.
  int fd() const;
  void take(const TakeRecord& take);

  struct Lost {
    std::uint64_t full = 0;    ///< the ring buffer was
    std::uint64_t blocked = 0; ///< so many threads were off a CPU
    std::uint64_t unread = 0;  ///< threads of processes that were left out
  };
  Lost lost() const;
  /// How often a program ran, and for how long.
  struct Runs {
    std::string name;
    std::uint64_t count = 0, nanoseconds = 0;
  };
  /// Of those that did.
  std::vector<Runs> runs() const;
  /// Of maps in the kernel, without the tables.
  std::uint64_t map_bytes() const;

private:
  Result<void> load(const record_settings& settings, const std::vector<const char*>& names);
  bpf_program* find(const char* name) const;
  Result<void> attach(bpf_link* link, const std::string& what);
  Result<void> start_clock(std::uint32_t frequency);
  Result<void> start_tracepoint();
  Result<void> start_kprobe();
  Result<void> start_uprobe();

  struct Destroy {
    void operator()(bpf_link* link) const;
    void operator()(bpf_object* object) const;
    void operator()(ring_buffer* ring) const;
  };

  Event event_;
  std::string without_waits_; ///< why the kernel does not accept on_waiting
  std::unique_ptr<bpf_object, Destroy> object_;
  std::unique_ptr<ring_buffer, Destroy> ring_;
  std::vector<std::unique_ptr<bpf_link, Destroy>> links_;
  const TakeRecord* take_ = nullptr;
  int statistics_ = -1;
};

} // namespace sframe::profile_tool
