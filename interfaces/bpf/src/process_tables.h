// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of generated code, by process: made of the list that the process has (process_code.h), or of
// rows that the caller has. A stack in code that is not known asks for the list to be read again; what that
// costs decides how soon it is done.

#pragma once

#include "file_tables.h"
#include "kernel_tables.h"
#include "mappings.h"

#include "sframe/bpf/process_code.h"
#include "sframe/bpf/tables.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sframe::bpf {

class ProcessTables {
public:
  using Clock = std::chrono::steady_clock;

  ProcessTables(KernelTables& kernel, sframe_bpf_counts& counts, const Mappings& mappings)
      : kernel_(kernel), counts_(counts), mappings_(mappings) {}

  /// These return the number of regions that have tables now, or -1 with errno.
  int update(int pid);
  int set(int pid, std::span<const sframe_bpf_region> regions);
  void remove(int pid);

  /// A stack has asked.
  void ask(const sframe_bpf_process& process);
  /// When what was asked is due; the latest time there is if nothing is.
  Clock::time_point due() const;
  /// Does it for one process, and removes what processes had that have ended.
  void advance();

private:
  struct Window {
    std::uint64_t number;
    std::uint32_t code_number;
    sframe_bpf_code code;
    std::shared_ptr<const LoadedTable> table;
  };
  struct Process {
    sframe_bpf_process id{};
    bool given = false; ///< by set()
    bool asked = false;
    bool entered = false; ///< it has a word for all windows
    std::size_t regions = 0;
    std::vector<Window> windows; ///< by number
    Clock::time_point next{};    ///< when its list may be read again
    Clock::duration pause{};     ///< after readings that found nothing new
  };
  /// What a file says of the list.
  struct Module {
    std::optional<ListSymbol> symbol;
    MappedFile image;
  };

  Process* find_or_add(const sframe_bpf_process& id);
  int read(int pid);
  std::vector<CodeList> find_lists(std::span<const sframe_bpf_mapping> mappings);
  const Module& module_of(const sframe_bpf_mapping& mapping);
  bool enter(Process& process, ProcessCode& code, bool has_list);
  std::optional<Window> make_window(const Process& process, std::uint64_t number, const CodeList& list,
                                    std::span<const std::byte> table, const Window* old);
  bool replace(Process& process, std::vector<Window> windows);
  void forget(Process& process);

  KernelTables& kernel_;
  sframe_bpf_counts& counts_;
  const Mappings& mappings_;
  std::map<std::uint32_t, Process> processes_; ///< by number
  std::map<sframe_bpf_key, Module, KeyLess> modules_;
  Clock::time_point next_look_{};    ///< for processes that have ended
  Clock::time_point next_reading_{}; ///< of any process: files and stacks have half of the time
};

} // namespace sframe::bpf
