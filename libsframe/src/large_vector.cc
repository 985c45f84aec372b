// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mmap(2) and madvise(2), where there are large pages; elsewhere, memory as of any vector. Aligned blocks of
// glibc's heap would leave gaps in it that grow with every builder.

#include "sframe/large_vector.h"

#include "sframe/address.h"

#include <cstdint>
#include <new>
#if __has_include(<sys/mman.h>)
#  include <sys/mman.h>
#endif

namespace sframe {

#ifdef MADV_HUGEPAGE

namespace {

/// That of AMD64, and of most other machines; where it is larger, the kernel rounds.
constexpr std::size_t large_page = std::size_t{2} << 20;

void* pointer(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

} // namespace

void advise_large_pages(void* memory, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory), first = align_up(begin, large_page);
  if (first + large_page <= begin + bytes) ::madvise(pointer(first), begin + bytes - first, MADV_HUGEPAGE);
}

void* allocate_large(std::size_t bytes) {
  const std::size_t size = align_up(bytes, large_page), mapped = size + large_page;
  void* const memory = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  const auto begin = reinterpret_cast<std::uintptr_t>(memory), first = align_up(begin, large_page);
  if (begin < first) ::munmap(memory, first - begin);
  ::munmap(pointer(first + size), begin + mapped - (first + size));
  ::madvise(pointer(first), size, MADV_HUGEPAGE);
  return pointer(first);
}

void free_large(void* memory, std::size_t bytes) {
  ::munmap(memory, align_up(bytes, large_page));
}

#else

void advise_large_pages(void*, std::size_t) {}

void* allocate_large(std::size_t bytes) {
  return ::operator new(bytes);
}

void free_large(void* memory, std::size_t) {
  ::operator delete(memory);
}

#endif

} // namespace sframe
