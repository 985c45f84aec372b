// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface in C, over the tables of files and of processes. What stacks ask for comes by a ring buffer.

#include "sframe/bpf/tables.h"

#include "file_tables.h"
#include "kernel_tables.h"
#include "mappings.h"
#include "process_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <poll.h>
#include <set>
#include <vector>

using namespace sframe::bpf;

namespace {

constexpr std::uint64_t default_max_bytes = std::uint64_t{256} << 20;

const char* text_or_empty(const char* text) {
  return text ? text : "";
}

} // namespace

struct sframe_bpf_tables {
  sframe_bpf_tables(bpf_object* loaded, const sframe_bpf_options& given)
      : object(loaded), mappings(loaded),
        kernel(counts, given.max_bytes ? given.max_bytes : default_max_bytes),
        files(kernel, counts, text_or_empty(given.directory), text_or_empty(given.generator)),
        processes(kernel, counts, mappings) {}
  ~sframe_bpf_tables() {
    if (requests) ring_buffer__free(requests);
  }

  bool open();
  int add(int pid);
  int serve(int timeout);
  void take(const sframe_bpf_mapping& mapping);

  bpf_object* object;
  sframe_bpf_counts counts{};
  Mappings mappings;
  KernelTables kernel;
  FileTables files;
  ProcessTables processes;
  int ends = -1;
  ring_buffer* requests = nullptr;
};

namespace {

int take_request(void* context, void* data, std::size_t size) {
  sframe_bpf_mapping mapping;
  if (size < sizeof mapping) return 0;
  std::memcpy(&mapping, data, sizeof mapping);
  try { // libbpf is C
    static_cast<sframe_bpf_tables*>(context)->take(mapping);
    return 0;
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

/// Calls what may throw, for C.
template <class F> int catching(F&& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return -1;
  }
}

} // namespace

bool sframe_bpf_tables::open() {
  if (!kernel.open(object)) return false;
  ends = bpf_object__find_map_fd_by_name(object, "sframe_counts");
  const int ring = bpf_object__find_map_fd_by_name(object, "sframe_requests");
  if (ends < 0 || ring < 0) {
    errno = ENOENT;
    return false;
  }
  requests = ring_buffer__new(ring, take_request, this, nullptr);
  return requests != nullptr;
}

void sframe_bpf_tables::take(const sframe_bpf_mapping& mapping) {
  if (mapping.flags & SFRAME_BPF_IS_GENERATED)
    processes.ask(mapping.process);
  else
    files.add(mapping);
}

int sframe_bpf_tables::add(int pid) {
  std::vector<sframe_bpf_mapping> all;
  if (!mappings.list(pid, all)) return -1;
  const std::size_t before = files.size();
  const auto wait = [&] {
    std::vector<pollfd> polled;
    files.append_polled(polled);
    ::poll(polled.data(), polled.size(), -1);
    files.advance();
  };
  for (const sframe_bpf_mapping& mapping : all) {
    if (mapping.key.file_system) files.add(mapping);
    while (files.is_full()) wait();
  }
  while (files.is_busy()) wait();
  std::set<std::uint32_t> with_code;
  for (const sframe_bpf_mapping& mapping : all) {
    const KnownFile* const file = files.find(mapping.key);
    if (mapping.key.file_system == 0 || (file && file->state == SFRAME_BPF_STATE_NOT_ELF))
      with_code.insert(mapping.process.pid);
  }
  for (const std::uint32_t one : with_code) processes.update(static_cast<int>(one));
  return static_cast<int>(files.size() - before);
}

int sframe_bpf_tables::serve(int timeout) {
  const int due = processes.due();
  if (due >= 0 && (timeout < 0 || due < timeout)) timeout = due;
  std::vector<pollfd> polled = {{ring_buffer__epoll_fd(requests), POLLIN, 0}};
  files.append_polled(polled);
  if (::poll(polled.data(), polled.size(), timeout) < 0) return -1;
  const int count = ring_buffer__consume(requests);
  if (count < 0) {
    errno = -count;
    return -1;
  }
  files.advance();
  processes.advance();
  return count;
}

extern "C" {

sframe_bpf_tables* sframe_bpf_tables_new(bpf_object* object, const sframe_bpf_options* options) {
  if (!object || !options || options->size < sizeof *options) {
    errno = EINVAL;
    return nullptr;
  }
  try {
    auto tables = std::make_unique<sframe_bpf_tables>(object, *options);
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
  std::memcpy(counts, &tables->counts, size < sizeof *counts ? size : sizeof *counts);
  counts->size = size;
}

int sframe_bpf_tables_ends(const sframe_bpf_tables* tables, std::uint64_t ends[SFRAME_BPF_NUM_ENDS]) {
  const int processors = libbpf_num_possible_cpus();
  if (processors < 0) return -1;
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(processors));
  for (std::uint32_t end = 0; end < SFRAME_BPF_NUM_ENDS; ++end) {
    ends[end] = 0;
    if (bpf_map_lookup_elem(tables->ends, &end, counts.data()) != 0) return -1;
    for (const std::uint64_t count : counts) ends[end] += count;
  }
  return 0;
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
