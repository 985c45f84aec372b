// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A vector for many elements. Its blocks of 1 MiB and more have large pages (2 MiB on AMD64) if the kernel
// supports them: the kernel takes half of the time to fill new memory in pages of 4 KiB.

#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe {

/// Asks the kernel for large pages in the memory, which was not written to yet: for those parts of it that
/// are large pages as a whole. Nothing happens where that is not supported.
void advise_large_pages(void* memory, std::size_t bytes);

/// New large pages, where they are supported. Throws std::bad_alloc.
void* allocate_large(std::size_t bytes);

/// Frees what allocate_large() returned for so many bytes.
void free_large(void* memory, std::size_t bytes);

/// Blocks of at least this size are allocated by allocate_large().
inline constexpr std::size_t least_large_block = std::size_t{1} << 20;

/// An allocator for std::vector. New elements without a value are left as they are: to fill them with zeros
/// first would write twice.
template <class T> struct LargeAllocator {
  using value_type = T;

  LargeAllocator() = default;
  template <class Other> LargeAllocator(const LargeAllocator<Other>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    return static_cast<T*>(bytes < least_large_block ? ::operator new(bytes) : allocate_large(bytes));
  }
  void deallocate(T* elements, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < least_large_block)
      ::operator delete(elements);
    else
      free_large(elements, bytes);
  }

  template <class Element, class... Arguments> void construct(Element* at, Arguments&&... arguments) {
    if constexpr (sizeof...(Arguments) == 0)
      ::new (static_cast<void*>(at)) Element;
    else
      ::new (static_cast<void*>(at)) Element(std::forward<Arguments>(arguments)...);
  }

  friend bool operator==(const LargeAllocator&, const LargeAllocator&) { return true; }
};

template <class T> using LargeVector = std::vector<T, LargeAllocator<T>>;

/// Makes room for so many more elements, so that adding them cannot fail. Doubles the capacity; that of large
/// blocks grows eightfold, since it is only address space until it is written to, and copying fills new
/// memory. Where there is less address space, by half as much or less, but by an eighth at least: to copy all
/// for each new element would take forever. Throws std::bad_alloc; nothing is changed then.
template <class T> void make_room(LargeVector<T>& elements, std::size_t more = 1) {
  const std::size_t size = elements.size(), least = size + more;
  if (least <= elements.capacity()) return;
  const std::size_t smallest = std::max(least, size + size / 8);
  std::size_t room = std::max<std::size_t>({8, least, size * 2});
  if (room * sizeof(T) >= least_large_block) room *= 4;
  for (; room > smallest; room /= 2) {
    try {
      return elements.reserve(room);
    } catch (const std::bad_alloc&) {
    }
  }
  elements.reserve(smallest);
}

/// Appends so many elements without values, and returns the first. Throws as make_room().
template <class T> T* extend(LargeVector<T>& elements, std::size_t count) {
  make_room(elements, count);
  const std::size_t size = elements.size();
  elements.resize(size + count);
  return elements.data() + size;
}

} // namespace sframe

#pragma GCC visibility pop
