// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace sframe::generate {

/// A list in one block of memory, which has its length, too: an empty list takes 8 bytes, a third of a
/// std::vector. For members of objects of which there are many, where most lists are short or empty. Elements
/// are numbers, pointers or plain structures; at most 2^32 - 1.
template <class T> class CompactList {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

public:
  CompactList() = default;
  explicit CompactList(std::span<const T> elements) {
    reserve(elements.size());
    for (const T& element : elements) push_back(element);
  }

  const T* data() const { return block_ ? reinterpret_cast<const T*>(block_.get() + sizeof(Head)) : nullptr; }
  T* data() { return block_ ? reinterpret_cast<T*>(block_.get() + sizeof(Head)) : nullptr; }
  std::size_t size() const { return block_ ? head().size : 0; }
  bool empty() const { return size() == 0; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  T* begin() { return data(); }
  T* end() { return data() + size(); }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& back() const { return data()[size() - 1]; }
  T& back() { return data()[size() - 1]; }

  void push_back(const T& element) {
    const T copy = element; // which may be in the block
    const std::size_t size = this->size();
    if (!block_ || size == head().capacity) set_capacity(std::max<std::size_t>(min_capacity, 2 * size));
    data()[size] = copy;
    ++head().size;
  }
  void pop_back() { --head().size; }
  /// Keeps the first ones.
  void truncate(std::size_t size) {
    if (block_) head().size = static_cast<std::uint32_t>(size);
  }
  /// Room for so many elements.
  void reserve(std::size_t capacity) {
    if (capacity != 0 && (!block_ || capacity > head().capacity)) set_capacity(capacity);
  }
  /// Gives back the room that no element has.
  void shrink_to_fit() {
    if (!block_ || size() == head().capacity) return;
    if (empty())
      block_.reset();
    else
      set_capacity(size());
  }

private:
  struct alignas(8) Head {
    std::uint32_t size, capacity;
  };
  static_assert(alignof(T) <= alignof(Head));
  static constexpr std::size_t min_capacity = 2;

  Head& head() const { return *reinterpret_cast<Head*>(block_.get()); }
  void set_capacity(std::size_t capacity) {
    if (capacity > std::numeric_limits<std::uint32_t>::max()) throw std::bad_alloc();
    const std::size_t size = this->size();
    auto block = std::make_unique_for_overwrite<std::byte[]>(sizeof(Head) + capacity * sizeof(T));
    new (block.get()) Head{static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(capacity)};
    if (size != 0) std::memcpy(block.get() + sizeof(Head), data(), size * sizeof(T));
    block_ = std::move(block);
  }

  std::unique_ptr<std::byte[]> block_; ///< nullptr: no room, and empty
};

} // namespace sframe::generate
