// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// heap_profiler: counts allocated bytes by stack. A library for LD_PRELOAD: every malloc() of any program
// and its libraries walks the stack with sframe::here::callers(), which neither calls malloc() nor locks.
//
//   LD_PRELOAD=.../heap_profiler.so HEAP_PROFILE=out.folded python3 script.py
//
// At the end of the process, $HEAP_PROFILE (heap.folded) has one line per stack: function names from the
// outermost frame on, separated by semicolons, and the total of bytes requested there. This is the input of
// flame graph tools. A summary goes to standard error. (Linux, glibc.)

#include "sframe/here/here.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

using namespace sframe;

namespace {

constexpr std::size_t most_frames = 60;

/// A stack and its allocations. The thread that inserts its hash also fills in the frames.
struct Site {
  std::atomic<std::uint64_t> hash, allocations, bytes;
  std::atomic<std::uint32_t> frame_count; ///< 0 until the frames are filled in
  std::array<std::uint64_t, most_frames> frames;
};

/// A hash table that never moves, so that it needs no lock; unused pages cost nothing.
constinit std::array<Site, 1 << 16> sites{};

struct Totals {
  std::atomic<std::uint64_t> allocations, bytes, incomplete, without_place;
};
constinit Totals totals{};

std::uint64_t hash_of(std::span<const std::uint64_t> frames) {
  std::uint64_t hash = frames.size();
  for (const std::uint64_t pc : frames) hash = (hash ^ pc) * 0x9e3779b97f4a7c15, hash ^= hash >> 29;
  return hash | 1; // 0 marks an empty slot
}

Site* find_site(std::uint64_t hash) {
  for (std::size_t i = 0; i < 64; ++i) {
    Site& site = sites[((hash >> 16) + i) % sites.size()];
    std::uint64_t there = site.hash.load(std::memory_order_relaxed);
    if (there == hash || (there == 0 && site.hash.compare_exchange_strong(there, hash)) || there == hash)
      return &site;
  }
  return nullptr;
}

/// Counts an allocation for the stack of the caller of the enclosing function.
[[gnu::always_inline]] inline void count(std::size_t bytes) {
  std::array<std::uint64_t, most_frames> frames;
  const here::Callers walk = here::callers(frames, 1); // skips malloc() itself
  totals.allocations.fetch_add(1, std::memory_order_relaxed);
  totals.bytes.fetch_add(bytes, std::memory_order_relaxed);
  const bool complete = walk.end == unwind::StopReason::bottom || walk.end == unwind::StopReason::zero_pc ||
                        walk.end == unwind::StopReason::frame_limit;
  if (!complete) totals.incomplete.fetch_add(1, std::memory_order_relaxed);

  const auto found = std::span<const std::uint64_t>(frames).first(walk.count);
  const std::uint64_t hash = hash_of(found);
  Site* const site = find_site(hash);
  if (!site) {
    totals.without_place.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  // The first to count fills in the frames.
  if (site->allocations.fetch_add(1, std::memory_order_relaxed) == 0) {
    std::ranges::copy(found, site->frames.begin());
    site->frame_count.store(static_cast<std::uint32_t>(found.size()), std::memory_order_release);
  }
  site->bytes.fetch_add(bytes, std::memory_order_relaxed);
}

/// Text output to a file, with its own buffer.
class Output {
public:
  explicit Output(const char* path) : fd_(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {}
  ~Output() {
    flush();
    close(fd_);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void add(const char* text) {
    for (; *text; ++text) {
      if (size_ == buffer_.size()) flush();
      buffer_[size_++] = *text;
    }
  }

private:
  void flush() {
    if (write(fd_, buffer_.data(), size_) < 0) fd_ = -1;
    size_ = 0;
  }
  int fd_;
  std::array<char, 4096> buffer_;
  std::size_t size_ = 0;
};

/// What dladdr() says. Answers are kept, since it searches all symbols of a file.
Dl_info info_of(std::uint64_t pc) {
  struct Answer {
    std::uint64_t pc;
    Dl_info info;
  };
  static std::array<Answer, 8192> answers;
  Answer& answer = answers[pc % answers.size()];
  if (answer.pc != pc) {
    answer = {pc, {}};
    dladdr(reinterpret_cast<void*>(pc), &answer.info);
  }
  return answer.info;
}

/// The function's name, if the dynamic linker knows it, or the file and the offset in it.
void add_name(Output& output, std::uint64_t return_address) {
  std::array<char, 32> number;
  const std::uint64_t pc = return_address - 1; // an address in the call
  const Dl_info info = info_of(pc);
  if (info.dli_sname) {
    output.add(info.dli_sname);
    return;
  }
  if (info.dli_fname) {
    const char* const slash = std::strrchr(info.dli_fname, '/');
    output.add(slash ? slash + 1 : info.dli_fname);
  }
  std::snprintf(number.data(), number.size(), "+0x%lx",
                static_cast<unsigned long>(pc - reinterpret_cast<std::uint64_t>(info.dli_fbase)));
  output.add(number.data());
}

/// Many programs close standard error before they end, so this is a copy.
constinit int messages = STDERR_FILENO;

[[gnu::constructor]] void start() {
  if (const int copy = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100); copy >= 0) messages = copy;
  here::refresh(); // all modules at once; callers() adds those loaded later
}

[[gnu::destructor]] void write_profile() {
  const char* const path = std::getenv("HEAP_PROFILE");
  Output output(path ? path : "heap.folded");
  std::array<char, 200> line;
  std::size_t stacks = 0;
  for (const Site& site : sites) {
    const std::uint32_t count = site.frame_count.load(std::memory_order_acquire);
    if (count == 0) continue;
    ++stacks;
    for (std::uint32_t i = count; i-- > 0;) {
      add_name(output, site.frames[i]);
      if (i) output.add(";");
    }
    std::snprintf(line.data(), line.size(), " %llu\n", static_cast<unsigned long long>(site.bytes.load()));
    output.add(line.data());
  }
  std::snprintf(line.data(), line.size(),
                "heap_profiler: %llu allocations, %llu bytes, %zu stacks; %llu walks incomplete, of these "
                "%llu for lack of tables; %llu not counted\n",
                static_cast<unsigned long long>(totals.allocations),
                static_cast<unsigned long long>(totals.bytes), stacks,
                static_cast<unsigned long long>(totals.incomplete),
                static_cast<unsigned long long>(here::left_out()),
                static_cast<unsigned long long>(totals.without_place));
  (void)!write(messages, line.data(), std::strlen(line.data()));
}

} // namespace

// Other names of the C library's functions.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
  count(size);
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
  count(number * size);
  return __libc_calloc(number, size);
}
void* realloc(void* old, std::size_t size) {
  count(size);
  return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  count(size);
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count(size);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  count(size);
  if (alignment < sizeof(void*) || (alignment & (alignment - 1))) return EINVAL;
  void* const room = __libc_memalign(alignment, size);
  if (!room) return ENOMEM;
  *result = room;
  return 0;
}
}
