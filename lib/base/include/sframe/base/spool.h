// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes that are collected first and used afterwards, of any size: in memory up to a limit, beyond it in a
// temporary file without a name, in the folder $TMPDIR or /tmp. The kernel frees it at the end of the
// process, however it ends. If no such file can be made, all is in memory.

#pragma once

#include "sframe/base/problem.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#pragma GCC visibility push(default)

namespace sframe {

/// Makes the temporary file of this process, which all Spools share. They make it when they need it, but a
/// sandbox may forbid that. No effect if it exists or cannot be made.
void prepare_spools();

/// Movable; the bytes stay at their address after finish().
class Spool {
public:
  /// Bytes in memory. Pages of zeros are not stored, and do not count.
  static constexpr std::uint64_t most_in_memory = std::uint64_t{64} << 20;

  Spool() = default;
  Spool(Spool&& other) noexcept { swap(other); }
  Spool& operator=(Spool&& other) noexcept {
    Spool(std::move(other)).swap(*this);
    return *this;
  }
  ~Spool();

  /// Appends bytes. Fails if there is no memory, or no room for the temporary file; the Problem has its
  /// folder.
  Result<void> append(std::span<const std::byte> bytes);

  std::uint64_t size() const { return size_; }
  /// Size of all pages that are not zeros.
  std::uint64_t stored() const { return stored_; }

  /// To be called after the last append(), before bytes(). Fails if the file cannot be mapped.
  Result<void> finish();
  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(map_), size_}; }

private:
  void swap(Spool& other) noexcept;
  Result<void> append_in_memory(std::span<const std::byte> bytes);
  Result<void> append_to_file(std::span<const std::byte> bytes);
  Result<void> reserve(std::uint64_t size);
  Result<void> move_to_file();
  Result<void> write(std::span<const std::byte> bytes);

  static constexpr int in_memory = -1;

  void* map_ = nullptr;
  std::uint64_t size_ = 0, capacity_ = 0, stored_ = 0;
  int place_ = in_memory; ///< the number of the part of the file
};

} // namespace sframe

#pragma GCC visibility pop
