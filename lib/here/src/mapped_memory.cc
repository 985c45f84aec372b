// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mapped_memory.h"

#include "host.h"

#include <cerrno>

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// Sanitizers must be notified of new mappings, or they take the memory for what was there before.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#  define HAVE_SANITIZER 1
#elif defined(__has_feature)
#  if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#    define HAVE_SANITIZER 1
#  endif
#endif

namespace sframe::here {

namespace {

constexpr std::size_t granule = 64 << 10; ///< the largest page size of the supported ABIs
constexpr int map_access = PROT_READ | PROT_WRITE;
constexpr int map_kind = MAP_PRIVATE | MAP_ANONYMOUS;

void* map_pages(std::size_t size) {
#if defined(HAVE_SANITIZER)
  return mmap(nullptr, size, map_access, map_kind, -1, 0);
#else
  if constexpr (host::mmap_arguments_in_memory) {
    const unsigned long arguments[] = {0, size, map_access, map_kind, ~0UL, 0};
    return reinterpret_cast<void*>(syscall(SYS_mmap, arguments));
  } else {
    return reinterpret_cast<void*>(syscall(SYS_mmap, nullptr, size, map_access, map_kind, -1, 0));
  }
#endif
}

std::size_t kernel_page_size() {
  return static_cast<std::size_t>(getauxval(AT_PAGESZ)); // only reads the auxiliary vector
}

} // namespace

std::size_t memory_size(std::size_t size) {
  const std::size_t unit = kernel_page_size();
  return (size + unit - 1) / unit * unit;
}

void* map_memory(std::size_t size) {
  if (size > PTRDIFF_MAX - granule) return nullptr;
  const int before = errno;
  void* const memory = map_pages(memory_size(size));
  errno = before;
  return memory == MAP_FAILED ? nullptr : memory;
}

void unmap_memory(void* memory, std::size_t size) {
  const int before = errno;
#if defined(HAVE_SANITIZER)
  munmap(memory, memory_size(size));
#else
  syscall(SYS_munmap, memory, memory_size(size));
#endif
  errno = before;
}

} // namespace sframe::here
