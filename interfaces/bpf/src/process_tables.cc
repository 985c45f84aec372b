// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reading of a process: its mappings; the lists, by a symbol that its files have; what they contain; a
// table for each window. Windows whose tables are the same keep them. The kernel has the new words first,
// then the old code is taken away (kernel_tables.h).

#include "process_tables.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <sys/uio.h>

namespace sframe::bpf {

namespace {

constexpr std::size_t max_processes = 1024, max_modules = 4096, max_lists = 16;
constexpr std::size_t max_table_bytes = std::size_t{16} << 20; ///< of one process
using std::chrono::milliseconds;

/// SFRAME_BPF_WINDOW_KEY of stack.bpf.h.
sframe_bpf_key key_of(const sframe_bpf_process& process, std::uint64_t window) {
  return {process.start, window, process.programs, UINT64_C(1) << 63 | process.pid};
}

/// What this thread has used of a processor: waiting for the kernel is not a cost.
std::chrono::nanoseconds used_time() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

bool read_memory(int pid, std::uint64_t address, std::span<std::byte> to) {
  while (!to.empty()) {
    const iovec local{to.data(), to.size()}, remote{reinterpret_cast<void*>(address), to.size()};
    const ssize_t size = ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (size <= 0) return false;
    address += static_cast<std::uint64_t>(size);
    to = to.subspan(static_cast<std::size_t>(size));
  }
  return true;
}

} // namespace

ProcessTables::Process* ProcessTables::find_or_add(const sframe_bpf_process& id) {
  const auto found = processes_.find(id.pid);
  if (found == processes_.end() && processes_.size() == max_processes) {
    // One that has no list, or none with code, may ask again.
    const auto idle =
        std::ranges::find_if(processes_, [](const auto& one) { return one.second.windows.empty(); });
    if (idle == processes_.end()) {
      ++counts_.no_room;
      return nullptr;
    }
    forget(idle->second);
    processes_.erase(idle);
  }
  Process& process = processes_[id.pid];
  if (process.entered && !is_same(process.id, id)) {
    forget(process);
    process = {};
  }
  process.id = id;
  return &process;
}

/// Takes all that it has from the kernel.
void ProcessTables::forget(Process& process) {
  replace(process, {});
  kernel_.remove_window({process.id, SFRAME_BPF_ALL_WINDOWS});
  process.entered = false;
  counts_.regions -= process.regions;
  process.regions = 0;
}

const ProcessTables::Module& ProcessTables::module_of(const sframe_bpf_mapping& mapping) {
  static const Module none;
  if (const auto found = modules_.find(mapping.key); found != modules_.end()) return found->second;
  const FileDescriptor file = open_mapped(mapping);
  if (file.number() < 0) return none; // the process has ended
  if (modules_.size() == max_modules) modules_.clear();
  Module& module = modules_[mapping.key];
  const auto image = read_mapped_file(file.number());
  if (!image) return module;
  module.image = *image;
  module.symbol = find_list_symbol(file.number());
  return module;
}

std::vector<CodeList> ProcessTables::find_lists(std::span<const sframe_bpf_mapping> mappings) {
  std::vector<CodeList> lists;
  for (const sframe_bpf_mapping& mapping : mappings) {
    if (mapping.key.file_system == 0 || lists.size() == max_lists) continue;
    const Module& module = module_of(mapping);
    if (!module.symbol) continue;
    for (const sframe_bpf_segment& segment : module.image.segments) {
      // The mapping may have been split, or start in the page before the segment.
      const bool overlaps = segment.offset - mapping.offset < mapping.end - mapping.start ||
                            mapping.offset - segment.offset < segment.size;
      if (segment.size == 0 || !overlaps) continue;
      const std::uint64_t bias = mapping.start + (segment.offset - mapping.offset) - segment.address;
      const CodeList list{bias + module.symbol->address, module.symbol->has_counters, 0};
      if (std::ranges::find(lists, list.address, &CodeList::address) == lists.end()) lists.push_back(list);
      break;
    }
  }
  return lists;
}

/// Of a window whose table or counter has changed; the table stays if it is the same.
std::optional<ProcessTables::Window> ProcessTables::make_window(const Process& process, std::uint64_t number,
                                                                const CodeList& list,
                                                                std::span<const std::byte> table,
                                                                const Window* old) {
  Window made{number, 0, {}, nullptr};
  if (old && old->table->size == table.size() &&
      std::memcmp(old->table->memory.get(), table.data(), table.size()) == 0) {
    made.table = old->table;
  } else {
    auto loaded = kernel_.load(table);
    if (!loaded) return std::nullopt;
    made.table = std::make_shared<const LoadedTable>(std::move(*loaded));
  }
  made.code.key = key_of(process.id, number);
  made.code.slot = made.table->slot;
  made.code.table = made.table->header;
  made.code.counter = list.counter();
  made.code.replacements = list.replacements;
  if (old && std::memcmp(&made.code, &old->code, sizeof made.code) == 0) return *old;
  const auto code_number = kernel_.add_code(made.code);
  if (code_number) made.code_number = *code_number;
  const std::uint64_t word = SFRAME_BPF_STATE_READY | std::uint64_t{made.code_number} << 32;
  if (code_number && kernel_.set_window({process.id, number}, word)) return made;
  if (code_number) {
    ++counts_.no_room;
    kernel_.remove_code(*code_number);
  }
  if (!old || old->table != made.table) kernel_.unload(*made.table);
  return std::nullopt;
}

/// The kernel has the words of the new windows; takes what only the old ones have. False if they are the
/// same.
bool ProcessTables::replace(Process& process, std::vector<Window> windows) {
  const std::vector<Window> before = std::exchange(process.windows, std::move(windows));
  std::vector<const LoadedTable*> unused;
  bool changed = before.size() != process.windows.size();
  for (const Window& old : before) {
    const auto now = std::ranges::lower_bound(process.windows, old.number, {}, &Window::number);
    const bool stays = now != process.windows.end() && now->number == old.number;
    if (stays && now->code_number == old.code_number) continue;
    changed = true;
    if (!stays) kernel_.remove_window({process.id, old.number});
    kernel_.remove_code(old.code_number);
    if (!stays || now->table != old.table) unused.push_back(old.table.get());
  }
  for (const LoadedTable* table : unused) kernel_.unload(*table);
  kernel_.wait();
  return changed;
}

/// Makes what the code has that of the process. True if something has changed.
bool ProcessTables::enter(Process& process, ProcessCode& code, bool has_list) {
  std::vector<Window> windows;
  std::size_t bytes = 0;
  const auto take = [&](std::uint64_t number, std::span<const std::byte> table, std::uint32_t list) {
    bytes += table.size();
    if (bytes > max_table_bytes) {
      ++counts_.no_room;
      return false;
    }
    const auto old = std::ranges::lower_bound(process.windows, number, {}, &Window::number);
    const bool known = old != process.windows.end() && old->number == number;
    if (auto made = make_window(process, number, code.lists[list], table, known ? &*old : nullptr))
      windows.push_back(std::move(*made));
    return true;
  };
  const std::uint64_t refused = code.refused;
  make_windows(code, take);
  const std::size_t all = code.regions.size();
  const std::size_t regions = all - std::min<std::size_t>(all, code.refused - refused);
  const bool changed = replace(process, std::move(windows));
  const std::uint64_t state = has_list ? SFRAME_BPF_STATE_READY : SFRAME_BPF_STATE_NONE;
  process.entered = kernel_.set_window({process.id, SFRAME_BPF_ALL_WINDOWS}, state);
  counts_.regions += regions - process.regions;
  process.regions = regions;
  counts_.refused += code.refused;
  return changed;
}

int ProcessTables::read(int pid) {
  std::vector<sframe_bpf_mapping> mappings, after;
  if (!mappings_.list(pid, mappings)) return -1;
  if (mappings.empty()) {
    remove(pid);
    errno = ESRCH;
    return -1;
  }
  Process* const process = find_or_add(mappings.front().process);
  if (!process) {
    errno = ENOSPC;
    return -1;
  }
  const auto start = used_time();
  const auto lists = find_lists(mappings);
  ProcessCode code = read_process_code(
      [pid](std::uint64_t address, std::span<std::byte> to) { return read_memory(pid, address, to); }, lists);
  // The number may be that of another process by now.
  if (!mappings_.list(pid, after) || after.empty() || !is_same(after.front().process, process->id)) {
    remove(pid);
    errno = ESRCH;
    return -1;
  }
  const bool changed = enter(*process, code, !lists.empty());
  process->given = process->asked = false;
  process->pause =
      changed ? Clock::duration::zero()
              : std::clamp<Clock::duration>(2 * process->pause, milliseconds(10), milliseconds(10'000));
  process->next = Clock::now() + std::max<Clock::duration>(process->pause, 10 * (used_time() - start));
  return static_cast<int>(process->regions);
}

int ProcessTables::update(int pid) {
  return read(pid);
}

int ProcessTables::set(int pid, std::span<const sframe_bpf_region> regions) {
  ProcessCode code;
  code.lists.resize(1);
  for (const sframe_bpf_region& one : regions) {
    const auto* const bytes = static_cast<const std::byte*>(one.section);
    code.regions.push_back({.start = one.start,
                            .size = one.code_size,
                            .offset = code.sections.size(),
                            .section_size = one.section_size});
    code.sections.insert(code.sections.end(), bytes, bytes + one.section_size);
  }
  std::ranges::sort(code.regions, {}, &CodeRegion::start);
  std::uint64_t end = 0;
  for (const CodeRegion& one : code.regions) {
    if (one.start < end || one.size == 0 || one.size > UINT64_C(64) << 20 || one.size > ~one.start) {
      errno = EINVAL;
      return -1;
    }
    end = one.start + one.size;
  }
  std::vector<sframe_bpf_mapping> mappings;
  if (!mappings_.list(pid, mappings)) return -1;
  Process* const process = mappings.empty() ? nullptr : find_or_add(mappings.front().process);
  if (!process) {
    errno = mappings.empty() ? ESRCH : ENOSPC;
    return -1;
  }
  process->given = true;
  process->asked = false;
  enter(*process, code, true);
  return static_cast<int>(process->regions);
}

void ProcessTables::remove(int pid) {
  const auto found = processes_.find(static_cast<std::uint32_t>(pid));
  if (found == processes_.end()) return;
  forget(found->second);
  processes_.erase(found);
}

void ProcessTables::ask(const sframe_bpf_process& id) {
  Process* const process = find_or_add(id);
  if (!process) {
    kernel_.remove_window({id, SFRAME_BPF_ALL_WINDOWS});
    return;
  }
  process->asked = !process->given; // else the question stays, and nobody asks again
  process->entered = true;
}

ProcessTables::Clock::time_point ProcessTables::due() const {
  auto soonest = Clock::time_point::max();
  for (const auto& [number, process] : processes_)
    if (process.asked) soonest = std::min(soonest, std::max(process.next, next_reading_));
  return soonest;
}

void ProcessTables::advance() {
  const auto now = Clock::now();
  std::vector<int> ended;
  const Process* asked = nullptr;
  const bool looks = now >= next_look_;
  if (looks) next_look_ = now + milliseconds(1000);
  for (const auto& [number, process] : processes_) {
    const int pid = static_cast<int>(number);
    if (looks && ::kill(pid, 0) != 0 && errno == ESRCH)
      ended.push_back(pid);
    else if (process.asked && process.next <= now && (!asked || process.next < asked->next))
      asked = &process;
  }
  if (asked && next_reading_ <= now) {
    read(static_cast<int>(asked->id.pid));
    const auto after = Clock::now();
    next_reading_ = after + (after - now);
  }
  for (const int pid : ended) remove(pid);
}

} // namespace sframe::bpf
