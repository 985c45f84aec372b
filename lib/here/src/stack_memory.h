// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: reads the calling thread's stack without faults. A range of addresses is known to be readable;
// before a word outside is read, the kernel checks its page, which is then added to the range. The range of a
// thread's own stack is kept for its next walks: that stack lasts as long as the thread. A coroutine's or
// signal stack may be unmapped, and is checked again in each walk.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace sframe::here {

/// Async-signal-safe; errno is preserved.
class StackMemory {
public:
  /// For a walk that starts with this SP.
  explicit StackMemory(std::uint64_t sp);

  // Neither is instrumented: a damaged stack can point to memory without sanitizer shadow, or to freed
  // memory, and reading that is harmless here.

  /// The word at the address; false if it cannot be read.
  [[gnu::no_sanitize("address", "thread")]] bool load(std::uint64_t address, std::uint64_t& value) {
    if (address - low_ >= starts_ && !admit(address, sizeof value)) return false;
    std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
    return true;
  }

  /// The bytes at the address, at most 4096; false if they cannot all be read.
  [[gnu::no_sanitize("address", "thread")]] bool read(std::uint64_t address, std::span<std::byte> bytes) {
    if (!admit(address, bytes.size())) return false;
    for (std::byte& byte : bytes) byte = *reinterpret_cast<const volatile std::byte*>(address++);
    return true;
  }

  /// To be called at the end of the walk: keeps the thread's range, if permitted.
  void remember() const;

private:
  bool admit(std::uint64_t address, std::size_t size);
  bool extend(std::uint64_t first, std::uint64_t end);
  void set_range(std::uint64_t low, std::uint64_t high);

  std::uint64_t low_ = 0;
  std::uint64_t high_ = 0;
  std::uint64_t starts_ = 0; ///< number of addresses, from low_ on, at which words can start
  bool assumed_ = false;     ///< the range is used although SP is not in it
};

} // namespace sframe::here
