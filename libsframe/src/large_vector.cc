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

std::size_t in_large_pages(std::size_t bytes) {
  return static_cast<std::size_t>(align_up(bytes, large_page));
}

/// Bytes from `memory` to the first large page.
std::size_t before_large_page(const void* memory) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return static_cast<std::size_t>(align_up(address, large_page) - address);
}

} // namespace

void advise_large_pages(void* memory, std::size_t bytes) {
  const std::size_t before = before_large_page(memory);
  if (before + large_page > bytes) return;
  ::madvise(static_cast<std::byte*>(memory) + before, bytes - before, MADV_HUGEPAGE);
}

void* allocate_large(std::size_t bytes) {
  const std::size_t size = in_large_pages(bytes), mapped = size + large_page;
  void* const memory = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  // As much is given back as is mapped for the alignment; nothing happens for zero bytes.
  const std::size_t before = before_large_page(memory);
  std::byte* const first = static_cast<std::byte*>(memory) + before;
  ::munmap(memory, before);
  ::munmap(first + size, large_page - before);
  ::madvise(first, size, MADV_HUGEPAGE);
  return first;
}

void free_large(void* memory, std::size_t bytes) {
  ::munmap(memory, in_large_pages(bytes));
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
