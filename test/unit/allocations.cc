// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> count;
thread_local bool limited = false;
thread_local std::size_t left = 0;
} // namespace

std::size_t sframe::test::allocations() {
  return count;
}

void sframe::test::limit_allocations(std::optional<std::size_t> calls) {
  limited = calls.has_value();
  left = calls.value_or(0);
}

// What one of these gives another one takes: AddressSanitizer has its own of all that are not replaced.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++count;
  if (limited && left-- == 0) {
    left = 0;
    return nullptr;
  }
  return std::malloc(size ? size : 1);
}
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
