// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the processes and threads of a recording at the time of one record, by its records so far.

#pragma once

#include "address_space.h"

#include "sframe/number_hash.h"
#include "sframe/perf/data.h"
#include "sframe/profile/recording_builder.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>

namespace sframe::perf {

/// How a process's stacks are walked.
struct Walk {
  Walk(const AbiTraits& abi, std::shared_ptr<Mappings> of, ModuleCache& modules, Budget* budget);

  std::shared_ptr<Mappings> mappings;
  SampleSpace space;
  unwind::Walker walker;
  std::unordered_map<std::uint64_t, bool, NumberHash> outermost; ///< functions without callers, by address
};

class Processes {
public:
  /// All must outlive the object.
  Processes(const Data& data, profile::RecordingBuilder& builder, ModuleCache& modules, const AbiTraits* abi,
            Budget* budget);

  /// A record that is no sample.
  void take(const Record& record);

  /// In the recording.
  std::uint32_t thread(std::uint32_t pid, std::uint32_t tid);
  std::uint32_t process(std::uint32_t pid);
  /// The mapping of an address; nullptr if there is none.
  Mapping* find(std::uint32_t pid, std::uint64_t address) { return of(pid).mappings->find(address); }
  /// For walks of the process; valid until the next call.
  Walk& walk(std::uint32_t pid);
  /// The kernel, in the recording.
  std::uint32_t kernel();
  /// A symbol of the kernel and its address then; empty if the recording has none.
  const std::pair<std::string, std::uint64_t>& kernel_symbol() const { return kernel_symbol_; }
  /// True if mappings were left out, since there are too many.
  bool is_full() const { return mappings_left_ == 0; }

private:
  struct Process {
    std::string name;
    std::shared_ptr<Mappings> mappings;
  };
  Process& of(std::uint32_t pid);
  static void use(Process& process, std::shared_ptr<Mappings> mappings);
  void name(const Record& record);
  void fork(const Record& record);
  void exit(const Record& record);
  void map(const Record& record);
  void map_kernel(const Record& record);
  void add(std::uint32_t pid, std::uint64_t start, Mapping mapping);
  std::uint32_t file_of(const Mapping& mapping, std::uint32_t pid);

  const Data& data_;
  profile::RecordingBuilder& builder_;
  ModuleCache& modules_;
  const AbiTraits* abi_;
  Budget* budget_;
  std::unordered_map<std::uint32_t, Process, NumberHash> processes_;
  std::unordered_map<std::uint32_t, std::string, NumberHash> thread_names_;
  std::deque<std::unique_ptr<Walk>> walks_; ///< the last used is the first
  std::pair<std::string, std::uint64_t> kernel_symbol_;
  bool is_own_kernel_; ///< as far as its version tells: files of perf need not have build IDs
  std::uint64_t mappings_left_;
};

} // namespace sframe::perf
