// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A limit on the cost of reading one input. Small files can cause unlimited work: a thousand section headers
// over the same bytes, a megabyte of zeros compressed a thousand times. A Budget has an amount of each
// resource that depends on the input's size, far above what real files need (docs/limits.md); all readers of
// the input take from it. An exhausted resource stays exhausted: readers then stop, and the program reports
// it once.

#pragma once

#include "sframe/base/problem.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe {

enum class Resource : std::uint8_t {
  section_bytes,    ///< of sections and segments, each time one is opened
  unpacked_bytes,   ///< made by decompression
  name_bytes,       ///< of names of members, symbols and files, and their demangled forms
  cfi_instructions, ///< executed, counting repetitions
  rows,             ///< of SFrame functions, decoded
  frames,           ///< walked
  printed_bytes,    ///< of output
  files,            ///< opened because the input names them
  guesses,          ///< stack words and code bytes examined for frames without unwind tables
  copied_bytes,     ///< of code that the process generated and registered, as copied
  debug_steps,      ///< through debug information, for source lines and variables
  code_steps,       ///< of the analysis of machine code
  processor_time,   ///< milliseconds, of the process: cannot be taken, but end (Budget::end_all())
  memory,           ///< MiB, likewise
};
inline constexpr std::size_t resource_count = 14;

/// True for what is of the whole process, and not taken.
constexpr bool is_of_process(Resource resource) {
  return resource == Resource::processor_time || resource == Resource::memory;
}

/// The name used in messages: "decompressed bytes".
std::string_view name_of(Resource resource);

/// Strictness of the limits.
enum class Limits : std::uint8_t {
  off,      ///< unlimited
  standard, ///< a 1 MB file takes at most a second and 256 MB
  strict,   ///< a quarter of that
};

class Budget {
public:
  /// For an input of `size` bytes.
  Budget(Limits limits, std::uint64_t size);
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;
  virtual ~Budget();

  /// Takes `amount`. False if less is left, and from then on. Thread-safe.
  bool take(Resource resource, std::uint64_t amount = 1) {
    const std::uint64_t ended = ended_.load(std::memory_order_relaxed);
    if (ended == 0 && (take_from_left(resource, amount) || (add_more() && take_from_left(resource, amount))))
      return true;
    use_up(ended == 0 ? resource : resource_of(ended));
    return false;
  }

  /// From now on, take() fails for all budgets of the process: it has used up `amount` of `resource`,
  /// processor time or memory, for all inputs together. The first call counts. For a program that limits
  /// itself; a program that embeds these libraries never has to. Async-signal-safe.
  static void end_all(Resource resource, std::uint64_t amount) noexcept;
  /// For long work that takes from no budget: why end_all() was called; nothing if it was not.
  static std::optional<Problem> all_ended();
  /// Ends the effect of end_all() on what is left in budgets from which nothing was asked meanwhile.
  /// Thread-safe.
  static void resume_all() noexcept { ended_.store(0, std::memory_order_relaxed); }

  /// Takes what one of the SFrame sections in a table costs, which may be empty: its header is printed, and a
  /// view of it kept.
  bool take_section() { return take(Resource::rows, 8); }

  /// What can still be taken.
  std::uint64_t left(Resource resource) const {
    return left_[static_cast<std::size_t>(resource)].load(std::memory_order_relaxed);
  }

  /// Resets the budget for an input of `size` bytes, before changing input (a running process) is read again.
  /// Must not run concurrently with take().
  void refill(std::uint64_t size);

  Limits limits() const { return limits_; }

  bool is_used_up() const { return first_.load(std::memory_order_relaxed) != 0; }
  bool is_used_up(Resource resource) const {
    return used_up_.load(std::memory_order_relaxed) & bit(resource);
  }
  /// True if a resource that is needed to find frames is exhausted; without the others, only their lines and
  /// variables are missing.
  bool ends_walks() const { return used_up_.load(std::memory_order_relaxed) & ~bit(Resource::debug_steps); }

  /// True if something was asked for after end_all(): what was not given may be missing.
  bool ended_with_all() const { return is_used_up(Resource::processor_time) || is_used_up(Resource::memory); }

  /// The first exhausted resource, as a Problem with its name and limit; nothing if none is exhausted.
  std::optional<Problem> problem() const;

protected:
  using Amounts = std::array<std::uint64_t, resource_count>;

  /// A part of another budget (budget_shares.h).
  Budget(Limits limits, const Amounts& amounts);

  /// Called before take() fails: true if add() was called.
  virtual bool add_more() { return false; }
  void add(const Amounts& amounts);

private:
  friend class BudgetShares;

  static constexpr Resource resource_of(std::uint64_t ended) {
    return static_cast<Resource>((ended & 0xff) - 1);
  }
  static constexpr std::uint32_t bit(Resource resource) {
    return std::uint32_t{1} << static_cast<unsigned>(resource);
  }

  bool take_from_left(Resource resource, std::uint64_t amount) {
    std::atomic<std::uint64_t>& left = left_[static_cast<std::size_t>(resource)];
    std::uint64_t now = left.load(std::memory_order_relaxed);
    while (now >= amount)
      if (left.compare_exchange_weak(now, now - amount, std::memory_order_relaxed)) return true;
    return false;
  }
  void use_up(Resource resource);

  Limits limits_;
  std::array<std::atomic<std::uint64_t>, resource_count> left_;
  Amounts limit_;
  std::atomic<std::uint8_t> first_ = 0;    ///< 1 + the resource exhausted first
  std::atomic<std::uint32_t> used_up_ = 0; ///< one bit per resource

  // By end_all(): 1 + resource, and the amount from bit 8; or 0.
  static std::atomic<std::uint64_t> ended_;
};

} // namespace sframe

#pragma GCC visibility pop
