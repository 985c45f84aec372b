// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: structs that start with their size, which may be those of a caller of another release
// (sframe/c/common.h has the rules).

#pragma once

#include "sframe/c/walk.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <type_traits>

namespace sframe::c {

/// The smallest size of a struct: that of the first release, or without the members that a caller may leave
/// out. A struct that grows gets its first size here.
template <class T> inline constexpr std::size_t smallest = sizeof(T);
template <> inline constexpr std::size_t smallest<sframe_error> = offsetof(sframe_error, function);
template <> inline constexpr std::size_t smallest<sframe_frame> = offsetof(sframe_frame, known_registers);

/// The largest size that is taken for one.
inline constexpr std::size_t largest = 4096;

/// True if the caller has set the size.
template <class T> bool is_sized(const T* given) {
  return given->size >= smallest<T> && given->size <= largest;
}

/// The same for an array, whose first element has the size of all. An empty one needs none.
template <class T> bool is_array(const T* first, std::size_t count) {
  return count == 0 || (is_sized(first) && first->size % alignof(T) == 0);
}

template <class T> T* element(T* first, std::size_t number) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(first) + number * first->size);
}

/// Copies as much of `from` as the caller's struct of `size` bytes has room for.
template <class T> void fill_sized(T* to, T from, std::size_t size) {
  from.size = size;
  std::memcpy(to, &from, std::min(size, sizeof from));
}

/// Fills the caller's struct; SFRAME_INVALID if its size is not set.
template <class T> sframe_status fill(T* to, const T& from) {
  if (!is_sized(to)) return SFRAME_INVALID;
  fill_sized(to, from, to->size);
  return SFRAME_OK;
}

/// The caller's struct of `size` bytes, with zeros for the members that it lacks. Nothing if the size is
/// wrong, or if members that this library lacks are not 0.
template <class T> std::optional<T> take(const T* from, std::size_t size) {
  if (size < smallest<T> || size > largest) return std::nullopt;
  const auto* bytes = reinterpret_cast<const std::byte*>(from);
  if (size > sizeof(T) &&
      std::any_of(bytes + sizeof(T), bytes + size, [](std::byte b) { return b != std::byte{}; }))
    return std::nullopt;
  T taken{};
  std::memcpy(&taken, from, std::min(size, sizeof taken));
  return taken;
}
template <class T> std::optional<T> take(const T* from) {
  return take(from, from->size);
}

} // namespace sframe::c
