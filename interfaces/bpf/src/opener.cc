// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The thread reads two ring buffers. What it finds is kept, up to limits, until take().

#include "opener.h"

#include <bpf/libbpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <poll.h>
#include <sched.h>
#include <span>
#include <string>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace sframe::bpf {

namespace {

constexpr std::size_t max_files = 256, max_stacks = std::size_t{64} << 20;

/// Whether the process sees the mounts that this one sees: in a container, root is not the one of this
/// machine. The code that the kernel maps into all processes belongs to no user.
bool has_own_mounts(const sframe_bpf_mapping& mapping) {
  if (mapping.key.file_system == SFRAME_BPF_VDSO) return true;
  struct stat own {};
  struct stat its {};
  const std::string path = "/proc/" + std::to_string(mapping.process.pid) + "/ns/mnt";
  return ::stat("/proc/self/ns/mnt", &own) == 0 && ::stat(path.c_str(), &its) == 0 &&
         own.st_dev == its.st_dev && own.st_ino == its.st_ino;
}

} // namespace

OpenedFile open_file(const sframe_bpf_mapping& mapping) {
  OpenedFile opened{mapping, open_mapped(mapping), {}, {}};
  if (opened.file.number() < 0) return opened;
  opened.owner = owner_of_changes(opened.file.number());
  struct stat now {};
  if (!opened.owner && !has_own_mounts(mapping) && ::fstat(opened.file.number(), &now) == 0)
    opened.owner = now.st_uid;
  opened.image = read_mapped_file(opened.file.number());
  return opened;
}

Opener::~Opener() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(end_.number(), &one, sizeof one);
    thread_.join();
  }
  if (rings_) ring_buffer__free(rings_);
}

bool Opener::start(int requests, int deferred) {
  event_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  end_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC));
  if (event_.number() < 0 || end_.number() < 0) return false;
  rings_ = ring_buffer__new(requests, take_request, this, nullptr);
  if (!rings_) return false;
  if (deferred >= 0 && ring_buffer__add(rings_, deferred, take_deferred, this) != 0) return false;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    errno = EAGAIN;
    return false;
  }
  return true;
}

/// Before all others, if that is allowed: it needs some microseconds, and no process waits for it.
void Opener::run() {
  const sched_param soon{.sched_priority = 1};
  ::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &soon);
  for (;;) {
    pollfd polled[] = {{ring_buffer__epoll_fd(rings_), POLLIN, 0}, {end_.number(), POLLIN, 0}};
    if (::poll(polled, 2, -1) < 0 && errno != EINTR) return;
    if (polled[1].revents) return;
    ring_buffer__consume(rings_);
  }
}

void Opener::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event_.number(), &one, sizeof one);
}

int Opener::take_request(void* context, void* data, std::size_t size) {
  sframe_bpf_mapping mapping;
  if (size < sizeof mapping) return 0;
  std::memcpy(&mapping, data, sizeof mapping);
  try { // libbpf is C
    static_cast<Opener*>(context)->add_request(mapping);
  } catch (const std::bad_alloc&) { // the process's first stack is not the last one
  }
  return 0;
}

int Opener::take_deferred(void* context, void* data, std::size_t size) {
  const auto& deferred = *static_cast<const sframe_bpf_deferred*>(data);
  if (size < offsetof(sframe_bpf_deferred, mappings)) return 0;
  if (deferred.process.pid == 0 && size < sizeof deferred) return 0;
  try {
    static_cast<Opener*>(context)->add_deferred(deferred);
  } catch (const std::bad_alloc&) {
  }
  return 0;
}

void Opener::open(const sframe_bpf_mapping& mapping) {
  {
    const std::lock_guard guard(lock_);
    if (found_.files.size() == max_files) {
      found_.left.push_back(mapping.key);
      return;
    }
  }
  OpenedFile opened = open_file(mapping);
  const std::lock_guard guard(lock_);
  found_.files.push_back(std::move(opened));
}

void Opener::add_request(const sframe_bpf_mapping& mapping) {
  if (mapping.flags & SFRAME_BPF_IS_GENERATED) {
    const std::lock_guard guard(lock_);
    found_.processes.push_back(mapping.process);
  } else {
    open(mapping);
  }
  wake();
}

void Opener::add_deferred(const sframe_bpf_deferred& deferred) {
  std::shared_ptr<const MappingList> mappings;
  if (deferred.process.pid == 0) {
    const auto* const first = deferred.mappings;
    mappings = std::make_shared<MappingList>(
        first, first + std::min<std::size_t>(deferred.num_mappings, SFRAME_BPF_COPY_MAPPINGS));
    for (const sframe_bpf_mapping& mapping : *mappings)
      if (mapping.flags & SFRAME_BPF_IS_NEW) open(mapping);
  }
  const std::size_t bytes =
      std::min<std::size_t>(deferred.pages, SFRAME_BPF_COPY_PAGES) * SFRAME_BPF_COPY_PAGE;
  const auto* const copy = reinterpret_cast<const std::byte*>(deferred.copy);
  DeferredStack stack{deferred.ticket,  deferred.at,        deferred.first, {},
                      deferred.process, std::move(mappings)};
  // Nothing below SP is needed.
  const std::size_t below = std::min<std::size_t>(deferred.at.sp - deferred.first, bytes);
  stack.first += below;
  stack.copy.assign(copy + below, copy + bytes);
  const std::lock_guard guard(lock_);
  if (bytes <= max_stacks - copied_) { // else it is not finished
    copied_ += bytes;
    found_.stacks.push_back(std::move(stack));
  }
  wake();
}

Opener::Found Opener::take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t size = ::read(event_.number(), &count, sizeof count);
  const std::lock_guard guard(lock_);
  copied_ = 0;
  return std::exchange(found_, {});
}

} // namespace sframe::bpf
