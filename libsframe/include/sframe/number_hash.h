// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hashes for what an input chooses: addresses, thread numbers, offsets, rows. With a hash that is always the
// same, a file can be made whose elements are all in one bucket, so that each lookup goes through all of
// them. That is easy for std::hash of a number, which is the number itself, and possible for that of a text.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace sframe {

/// A number that differs from process to process, and that no input can know: from the time, and from where
/// the kernel put the stack.
inline std::uint64_t process_secret() {
  static const std::uint64_t secret = [] {
    const int on_stack = 0;
    const auto now = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    return (now ^ reinterpret_cast<std::uintptr_t>(&on_stack)) * 0xff51afd7ed558ccd;
  }();
  return secret;
}

/// A hash of words. Nothing may depend on its value: it differs from process to process.
class SecretHash {
public:
  /// Constant cost. The secret is a factor of each step: if the hash only began with it, a change of one word
  /// could be undone in the next one, whatever the secret.
  void add(std::uint64_t word) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = Wide{value_ ^ word} * factor_;
    value_ = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  std::uint64_t value() const { return value_; }

private:
  std::uint64_t value_ = process_secret(), factor_ = value_ | 1;
};

/// For std::unordered_map and the like. Nothing may depend on the order of the elements.
struct NumberHash {
  std::size_t operator()(std::uint64_t number) const noexcept {
    SecretHash hash;
    hash.add(number);
    return static_cast<std::size_t>(hash.value());
  }
};

} // namespace sframe
