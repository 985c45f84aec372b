// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A record of perf_event_open(2) is a header, the numbers of its type, and what sample_type asks for
// (Trailer). Each CPU has a ring buffer of its own; records of one are in the order of their times.
//
//   PERF_RECORD_FORK   type 7, size 56 | pid, ppid, tid, ptid, time | pid, tid, time, cpu, 0

#include "process_events.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <linux/perf_event.h>
#include <span>
#include <string_view>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace sframe::profile_tool {

namespace {

constexpr std::size_t events_bytes = std::size_t{256} << 10;

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

/// What ends each record, by sample_type.
struct Trailer {
  std::uint32_t pid, tid;
  std::uint64_t time;
  std::uint32_t cpu, reserved;
};

/// The numbers of PERF_RECORD_MMAP2 after its header.
struct MappingRecord {
  std::uint32_t pid, tid;
  std::uint64_t start, size, offset;
  std::uint32_t major, minor;
  std::uint64_t inode, generation;
  std::uint32_t protection, flags;
};

/// Those of PERF_RECORD_FORK and PERF_RECORD_EXIT.
struct TaskRecord {
  std::uint32_t pid, parent, tid, parent_tid;
};

template <class T> bool take(std::span<const std::byte>& bytes, T& to) {
  if (bytes.size() < sizeof to) return false;
  std::memcpy(&to, bytes.data(), sizeof to);
  bytes = bytes.subspan(sizeof to);
  return true;
}

std::string text_of(std::span<const std::byte> bytes) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::string(all.substr(0, all.find('\0')));
}

bool parse_mapping(std::span<const std::byte> bytes, ProcessEvent& event) {
  MappingRecord record;
  if (!take(bytes, record)) return false;
  event.kind = ProcessEvent::Kind::mapping;
  event.pid = record.pid;
  event.tid = record.tid;
  event.start = record.start;
  event.size = record.size;
  event.offset = record.offset;
  event.text = text_of(bytes);
  event.inode = record.inode;
  event.device = ::makedev(record.major, record.minor);
  return record.size != 0 && record.start + record.size > record.start;
}

/// One record without its header. False if it says nothing that is needed.
bool parse(const perf_event_header& header, std::span<const std::byte> bytes, ProcessEvent& event) {
  Trailer trailer;
  if (bytes.size() < sizeof trailer) return false;
  std::span<const std::byte> end = bytes.last(sizeof trailer);
  take(end, trailer);
  event.time = trailer.time;
  bytes = bytes.first(bytes.size() - sizeof trailer);
  using Kind = ProcessEvent::Kind;
  if (header.type == PERF_RECORD_MMAP2) return parse_mapping(bytes, event);
  if (header.type == PERF_RECORD_COMM) {
    event.kind = header.misc & PERF_RECORD_MISC_COMM_EXEC ? Kind::program : Kind::name;
    if (!take(bytes, event.pid) || !take(bytes, event.tid)) return false;
    event.text = text_of(bytes);
    return true;
  }
  if (header.type != PERF_RECORD_FORK && header.type != PERF_RECORD_EXIT) return false;
  TaskRecord record;
  if (!take(bytes, record)) return false;
  event.kind = header.type == PERF_RECORD_FORK ? Kind::started : Kind::ended;
  event.pid = record.pid;
  event.tid = record.tid;
  event.parent = record.parent;
  return true;
}

/// Without build IDs: Linux (up to 6.18 at least) marks the records of all other recorders, too, as records
/// with a build ID, and perf 6.1 ends with "stack smashing detected".
int open_event(int cpu) {
  perf_event_attr attribute{};
  attribute.type = PERF_TYPE_SOFTWARE;
  attribute.size = sizeof attribute;
  attribute.config = PERF_COUNT_SW_DUMMY;
  attribute.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  attribute.sample_id_all = 1;
  attribute.mmap = attribute.mmap2 = 1;
  attribute.comm = attribute.comm_exec = attribute.task = 1;
  attribute.use_clockid = 1;
  attribute.clockid = CLOCK_MONOTONIC;
  attribute.watermark = 1;
  attribute.wakeup_watermark = events_bytes / 2;
  return static_cast<int>(::syscall(SYS_perf_event_open, &attribute, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

} // namespace

ProcessEvents::~ProcessEvents() {
  for (const Ring& ring : rings_) {
    if (ring.memory) ::munmap(ring.memory, events_bytes + page_size());
    ::close(ring.event);
  }
}

Result<void> ProcessEvents::open() {
  const long processors = ::sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < processors; ++cpu) {
    const int event = open_event(cpu);
    if (event < 0 && (errno == ENODEV || errno == ENXIO)) continue; // it is off
    if (event < 0) return fail(std::string("events of processes cannot be read: ") + std::strerror(errno));
    Ring& ring = rings_.emplace_back();
    ring.event = event;
    void* const memory =
        ::mmap(nullptr, events_bytes + page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (memory == MAP_FAILED)
      return fail(std::string("no memory for events of processes: ") + std::strerror(errno));
    ring.memory = memory;
  }
  return {};
}

std::uint64_t ProcessEvents::bytes() const {
  return rings_.size() * events_bytes;
}

void ProcessEvents::take(std::vector<ProcessEvent>& events) {
  for (Ring& ring : rings_) take(ring, events);
}

/// Records may go over the end of the ring: each is copied.
void ProcessEvents::take(Ring& ring, std::vector<ProcessEvent>& events) {
  auto* const page = static_cast<perf_event_mmap_page*>(ring.memory);
  const auto* const data = static_cast<const std::byte*>(ring.memory) + page_size();
  const std::uint64_t written = std::atomic_ref(page->data_head).load(std::memory_order_acquire);
  const auto copy = [&](std::uint64_t from, std::span<std::byte> to) {
    const std::size_t at = from % events_bytes, first = std::min(to.size(), events_bytes - at);
    std::memcpy(to.data(), data + at, first);
    std::memcpy(to.data() + first, data, to.size() - first);
  };
  while (written - ring.read >= sizeof(perf_event_header)) {
    perf_event_header header;
    copy(ring.read, std::as_writable_bytes(std::span(&header, 1)));
    if (header.size < sizeof header) break;
    record_.resize(header.size - sizeof header);
    copy(ring.read + sizeof header, record_);
    ring.read += header.size;
    if (header.type == PERF_RECORD_LOST && record_.size() >= 16) {
      std::uint64_t count = 0;
      std::memcpy(&count, record_.data() + 8, sizeof count);
      lost_ += count;
    } else if (ProcessEvent event; parse(header, record_, event)) {
      events.push_back(std::move(event));
    }
  }
  ring.read = written;
  std::atomic_ref(page->data_tail).store(written, std::memory_order_release);
}

} // namespace sframe::profile_tool
