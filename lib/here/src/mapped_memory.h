// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: memory directly from the kernel. malloc() and operator new may be the callers of a walk, with
// their locks held; so may an mmap() that replaces the C library's. Nothing here throws: an exception would
// allocate.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

namespace sframe::here {

/// Zeroed memory of `size` bytes, rounded up to pages; nullptr if there is none. Async-signal-safe; errno is
/// preserved.
void* map_memory(std::size_t size);
/// Frees what map_memory() returned.
void unmap_memory(void* memory, std::size_t size);
/// The size to which map_memory() rounds up.
std::size_t memory_size(std::size_t size);

/// An object in its own mapping; nullptr if memory ran out.
template <class T, class... Arguments> T* make_mapped(Arguments&&... arguments) {
  void* const memory = map_memory(sizeof(T));
  return memory ? std::construct_at(static_cast<T*>(memory), std::forward<Arguments>(arguments)...) : nullptr;
}
template <class T> void destroy_mapped(T* object) {
  if (!object) return;
  std::destroy_at(object);
  unmap_memory(object, sizeof(T));
}
struct MappedDeleter {
  template <class T> void operator()(T* object) const { destroy_mapped(object); }
};
template <class T> using MappedPointer = std::unique_ptr<T, MappedDeleter>;

/// A vector of simple values. If memory runs out, the element and all later ones are dropped, and failed()
/// is true.
template <class T> class Array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
  Array() = default;
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    Array(std::move(other)).swap(*this);
    return *this;
  }
  ~Array() {
    if (data_) unmap_memory(data_, mapped_);
  }

  bool failed() const { return failed_; }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  /// Bytes.
  std::size_t memory() const { return mapped_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

  void push_back(const T& value) {
    if (reserve(size_ + 1)) std::construct_at(data_ + size_++, value);
  }
  /// Makes `count` zeroed elements in an empty array.
  bool fill(std::size_t count) {
    if (!reserve(count)) return false;
    size_ = count;
    return true;
  }

private:
  void swap(Array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(mapped_, other.mapped_);
    std::swap(failed_, other.failed_);
  }
  bool reserve(std::size_t count) {
    if (failed_ || count * sizeof(T) <= mapped_) return !failed_;
    const std::size_t wanted = std::max(count * sizeof(T), 2 * mapped_);
    void* const memory = map_memory(wanted);
    failed_ = !memory;
    if (failed_) return false;
    if (data_) {
      std::memcpy(memory, static_cast<const void*>(data_), size_ * sizeof(T));
      unmap_memory(data_, mapped_);
    }
    data_ = static_cast<T*>(memory);
    mapped_ = memory_size(wanted);
    return true;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t mapped_ = 0; ///< bytes
  bool failed_ = false;
};

} // namespace sframe::here
