// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What reading one input may cost. Small files can ask for work without end: a thousand section headers over the
// same bytes, a megabyte of zeros compressed a thousand times. A Budget has an amount of each resource that
// follows from the input's size, far above what real files need (docs/limits.md), and everything that reads the
// input takes from it. One that is used up stays so: what reads then stops, and its program reports that once.

#pragma once

#include "sframe/base/problem.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sframe {

enum class Resource : std::uint8_t {
  section_bytes,    ///< of sections and segments, each time that one is opened
  unpacked_bytes,   ///< made by decompression
  name_bytes,       ///< of names of members, symbols and files, and what demangling makes of them
  cfi_instructions, ///< executed, each time
  rows,             ///< of SFrame functions, decoded
  frames,           ///< walked
  printed_bytes,    ///< of output
  files,            ///< opened because the input names them
  guesses,          ///< words of stacks and bytes of code that are looked at where no table knows a frame
};
inline constexpr std::size_t resource_count = 9;

/// As messages have it: "unpacked bytes".
std::string_view name_of(Resource resource);

/// How much an input may cost.
enum class Limits : std::uint8_t {
  off,      ///< without end
  standard, ///< a 1 MB file takes at most a second and 256 MB
  strict,   ///< a quarter of that
};

class Budget {
public:
  /// For an input of `size` bytes.
  Budget(Limits limits, std::uint64_t size);
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  /// Takes `amount`. False where there is less, and from then on. Any thread may call it.
  bool take(Resource resource, std::uint64_t amount = 1) {
    std::atomic<std::uint64_t>& left = left_[static_cast<std::size_t>(resource)];
    std::uint64_t now = left.load(std::memory_order_relaxed);
    while (now >= amount)
      if (left.compare_exchange_weak(now, now - amount, std::memory_order_relaxed)) return true;
    left.store(0, std::memory_order_relaxed);
    use_up(resource);
    return false;
  }

  /// As new, for an input of `size` bytes: what changes is read again, a process that runs on. Not while another
  /// thread takes from it.
  void refill(std::uint64_t size);

  Limits limits() const { return limits_; }

  bool is_used_up() const { return first_.load(std::memory_order_relaxed) != 0; }
  bool is_used_up(Resource resource) const {
    return used_up_.load(std::memory_order_relaxed) & 1u << static_cast<unsigned>(resource);
  }

  /// What ran out first, as a Problem that names the resource and its limit; nothing where none did.
  std::optional<Problem> problem() const;

private:
  void use_up(Resource resource);

  Limits limits_;
  std::array<std::atomic<std::uint64_t>, resource_count> left_;
  std::array<std::uint64_t, resource_count> limit_;
  std::atomic<std::uint8_t> first_ = 0;   ///< 1 + the resource that ran out first
  std::atomic<std::uint32_t> used_up_ = 0; ///< a bit for each
};

} // namespace sframe
