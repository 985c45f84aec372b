// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface in C, over the tables of files and of processes. What stacks ask for comes by a ring buffer.

#include "sframe/bpf/tables.h"

#include "deferred.h"
#include "file_tables.h"
#include "kernel_tables.h"
#include "mappings.h"
#include "opener.h"
#include "process_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <poll.h>
#include <set>
#include <sys/epoll.h>
#include <utility>
#include <vector>

using namespace sframe::bpf;

namespace {

constexpr std::uint64_t default_max_bytes = std::uint64_t{256} << 20;

} // namespace

struct sframe_bpf_tables {
  sframe_bpf_tables(bpf_object* loaded, const sframe_bpf_options& given)
      : object(loaded), mappings(loaded),
        kernel(counts, given.max_bytes ? given.max_bytes : default_max_bytes), files(kernel, counts, given),
        processes(kernel, counts, mappings), deferred(files, counts), longest_wait(given.wait) {
    kernel.set_make_room([this](std::uint64_t bytes) { return files.make_room(bytes); });
  }

  bool open();
  int add(int pid);
  int serve(int timeout);
  void add_file(const sframe_bpf_mapping& mapping);
  void add_stacks(std::vector<DeferredStack> stacks);
  std::shared_ptr<const MappingList> list(std::uint32_t pid);
  void watch();

  bpf_object* object;
  sframe_bpf_counts counts{};
  Mappings mappings;
  KernelTables kernel;
  FileTables files;
  ProcessTables processes;
  DeferredStacks deferred;
  std::chrono::milliseconds longest_wait; ///< of add(); 0: no limit
  Opener opener;
  FileDescriptor events{-1}; ///< an epoll of what serve() waits for
  int ends = -1, not_deferred = -1;
};

namespace {

/// Calls what may throw, for C.
template <class F> int catching(F&& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return -1;
  }
}

/// Of an element of a map that has one for each processor. False with errno.
bool sum_of_processors(int map, std::uint32_t key, std::uint64_t& sum) {
  const int processors = libbpf_num_possible_cpus();
  std::vector<std::uint64_t> values(static_cast<std::size_t>(std::max(processors, 1)));
  sum = 0;
  if (processors < 0 || bpf_map_lookup_elem(map, &key, values.data()) != 0) return false;
  for (const std::uint64_t value : values) sum += value;
  return true;
}

/// The order in which tables are made: those of small files first, so that little is missing if there is no
/// time for all; of all processes, first those that many have mapped.
void sort_for_making(std::vector<sframe_bpf_mapping>& mappings, bool of_all) {
  std::map<sframe_bpf_key, std::uint64_t, KeyLess> uses;
  for (const sframe_bpf_mapping& one : mappings) uses[one.key] += of_all;
  std::ranges::stable_sort(
      mappings, {}, [&](const sframe_bpf_mapping& one) { return std::pair(~uses[one.key], one.key.size); });
}

/// For poll(): milliseconds until then, at most `timeout`; -1 is without an end.
int wait_until(std::chrono::steady_clock::time_point due, int timeout) {
  using std::chrono::milliseconds;
  if (due == due.max()) return timeout;
  const auto left = std::chrono::ceil<milliseconds>(due - std::chrono::steady_clock::now()).count();
  const int wait = static_cast<int>(std::clamp<std::int64_t>(left, 0, INT_MAX));
  return timeout < 0 ? wait : std::min(wait, timeout);
}

} // namespace

bool sframe_bpf_tables::open() {
  if (!kernel.open(object)) return false;
  const auto find = [&](const char* name) { return bpf_object__find_map_fd_by_name(object, name); };
  ends = find("sframe_counts");
  not_deferred = find("sframe_not_deferred");
  const int requests = find("sframe_requests");
  if (ends < 0 || requests < 0) {
    errno = ENOENT;
    return false;
  }
  if (!opener.start(requests, find("sframe_deferred"))) return false;
  events = FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event readable{.events = EPOLLIN, .data = {}};
  return events.number() >= 0 && ::epoll_ctl(events.number(), EPOLL_CTL_ADD, opener.event(), &readable) == 0;
}

/// Generators that were started since; those that have ended are closed, which removes them.
void sframe_bpf_tables::watch() {
  std::vector<pollfd> polled;
  files.append_polled(polled);
  for (const pollfd& one : polled) {
    epoll_event readable{.events = EPOLLIN, .data = {}};
    ::epoll_ctl(events.number(), EPOLL_CTL_ADD, one.fd, &readable); // EEXIST: it is watched
  }
}

int sframe_bpf_tables::add(int pid) {
  std::vector<sframe_bpf_mapping> all;
  if (!mappings.list(pid, all)) return -1;
  sort_for_making(all, pid == 0);
  const std::size_t before = files.size();
  using Clock = std::chrono::steady_clock;
  const auto latest = longest_wait.count() > 0 ? Clock::now() + longest_wait : Clock::time_point::max();
  /// False when that is over.
  const auto wait = [&] {
    kernel.publish();
    if (Clock::now() >= latest) return false;
    std::vector<pollfd> polled;
    files.append_polled(polled);
    ::poll(polled.data(), polled.size(), wait_until(std::min(files.due(), latest), -1));
    files.advance();
    return true;
  };
  for (const sframe_bpf_mapping& mapping : all) {
    while (files.is_full() && wait()) {
    }
    if (files.is_full()) break; // stacks ask for the others
    add_file(mapping);
  }
  while (files.num_waiting() != 0 && wait()) {
  }
  kernel.publish();
  std::set<std::uint32_t> with_code;
  for (const sframe_bpf_mapping& mapping : all) {
    const KnownFile* const file = files.find(mapping.key);
    if (mapping.key.file_system == 0 || (file && file->state == SFRAME_BPF_STATE_NOT_ELF))
      with_code.insert(mapping.process.pid);
  }
  for (const std::uint32_t one : with_code) processes.update(static_cast<int>(one));
  watch();
  return static_cast<int>(files.size() - before);
}

void sframe_bpf_tables::add_file(const sframe_bpf_mapping& mapping) {
  if (mapping.key.file_system && !files.find(mapping.key)) files.add(open_file(mapping), false);
}

/// Those of other threads come without mappings, which all threads of a process share. None if the process
/// has ended, or executes another program.
void sframe_bpf_tables::add_stacks(std::vector<DeferredStack> stacks) {
  std::map<std::uint32_t, std::shared_ptr<const MappingList>> lists;
  for (DeferredStack& stack : stacks) {
    if (const std::uint32_t pid = stack.process.pid) {
      const auto [at, is_new] = lists.try_emplace(pid);
      if (is_new) at->second = list(pid);
      if (at->second && !at->second->empty() && is_same(at->second->front().process, stack.process))
        stack.mappings = at->second;
    }
    deferred.add(std::move(stack));
  }
}

std::shared_ptr<const MappingList> sframe_bpf_tables::list(std::uint32_t pid) {
  auto all = std::make_shared<MappingList>();
  if (!mappings.list(static_cast<int>(pid), *all)) return nullptr;
  for (const sframe_bpf_mapping& mapping : *all) add_file(mapping);
  return all;
}

int sframe_bpf_tables::serve(int timeout) {
  timeout = wait_until(std::min(processes.due(), files.due()), timeout);
  pollfd polled{events.number(), POLLIN, 0};
  if (::poll(&polled, 1, timeout) < 0) return -1;
  Opener::Found found = opener.take();
  const std::size_t count = found.files.size() + found.processes.size();
  for (OpenedFile& one : found.files) files.add(std::move(one), true);
  for (const sframe_bpf_key& key : found.left) kernel.remove_file(key);
  for (const sframe_bpf_process& one : found.processes) processes.ask(one);
  add_stacks(std::move(found.stacks));
  counts.too_many += found.left.size();
  files.advance();
  kernel.publish();
  processes.advance();
  deferred.advance();
  watch();
  return static_cast<int>(count);
}

extern "C" {

sframe_bpf_tables* sframe_bpf_tables_new(bpf_object* object, const sframe_bpf_options* options) {
  if (!object || !options || options->size < offsetof(sframe_bpf_options, from)) {
    errno = EINVAL;
    return nullptr;
  }
  sframe_bpf_options all{};
  std::memcpy(&all, options, std::min(options->size, sizeof all)); // those of an older caller are shorter
  try {
    auto tables = std::make_unique<sframe_bpf_tables>(object, all);
    if (tables->open()) return tables.release();
    const int error = errno;
    tables.reset();
    errno = error;
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
  }
  return nullptr;
}

int sframe_bpf_tables_add(sframe_bpf_tables* tables, int pid) {
  return catching([&] { return tables->add(pid); });
}

int sframe_bpf_tables_serve(sframe_bpf_tables* tables, int timeout) {
  return catching([&] { return tables->serve(timeout); });
}

int sframe_bpf_tables_fd(const sframe_bpf_tables* tables) {
  return tables->events.number();
}

int sframe_bpf_tables_finish(sframe_bpf_tables* tables, sframe_bpf_stack* stack) {
  return catching([&] { return tables->deferred.finish(*stack); });
}

int sframe_bpf_tables_update_code(sframe_bpf_tables* tables, int pid) {
  return catching([&] { return tables->processes.update(pid); });
}

int sframe_bpf_tables_set_code(sframe_bpf_tables* tables, int pid, const sframe_bpf_region* regions,
                               size_t count) {
  return catching([&] { return tables->processes.set(pid, {regions, count}); });
}

void sframe_bpf_tables_remove_code(sframe_bpf_tables* tables, int pid) {
  catching([&] {
    tables->processes.remove(pid);
    return 0;
  });
}

void sframe_bpf_tables_count(const sframe_bpf_tables* tables, sframe_bpf_counts* counts) {
  const std::size_t size = counts->size;
  sframe_bpf_counts all = tables->counts;
  all.waiting = tables->files.num_waiting();
  catching([&] {
    if (tables->not_deferred >= 0) sum_of_processors(tables->not_deferred, 0, all.not_deferred);
    return 0;
  });
  std::memcpy(counts, &all, size < sizeof all ? size : sizeof all);
  counts->size = size;
}

int sframe_bpf_tables_ends(const sframe_bpf_tables* tables, std::uint64_t ends[SFRAME_BPF_NUM_ENDS]) {
  return catching([&] {
    for (std::uint32_t end = 0; end < SFRAME_BPF_NUM_ENDS; ++end)
      if (!sum_of_processors(tables->ends, end, ends[end])) return -1;
    tables->deferred.correct(ends);
    return 0;
  });
}

const char* sframe_bpf_end_text(unsigned end) {
#define SFRAME_TEXT(name, text) text,
  static const char* const texts[] = {"unfinished", SFRAME_BPF_FOR_EACH_END(SFRAME_TEXT)};
#undef SFRAME_TEXT
  return end < SFRAME_BPF_NUM_ENDS ? texts[end] : "unknown";
}

void sframe_bpf_tables_free(sframe_bpf_tables* tables) {
  delete tables;
}

} // extern "C"
