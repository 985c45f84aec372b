// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hash of numbers that an input chooses: addresses, thread numbers, offsets. std::hash of a number is the
// number itself, and a file whose numbers are multiples of the number of buckets has them all in one bucket,
// so that each lookup goes through all of them.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sframe {

/// For std::unordered_map and the like. Differs from process to process, so that no input can be made for it;
/// nothing may depend on the order of the elements.
struct NumberHash {
  std::size_t operator()(std::uint64_t number) const noexcept {
    static const std::uint64_t secret = make_secret();
    std::uint64_t hash = (number ^ secret) * 0x9e3779b97f4a7c15;
    hash = (hash ^ hash >> 32) * (secret | 1);
    return static_cast<std::size_t>(hash ^ hash >> 29);
  }

private:
  /// The time, and where the kernel put the program.
  static std::uint64_t make_secret() {
    const int on_stack = 0;
    const auto now = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    return (now ^ reinterpret_cast<std::uintptr_t>(&on_stack)) * 0xff51afd7ed558ccd;
  }
};

} // namespace sframe
