// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The limits: docs/limits.md has the same table.

#include "sframe/base/budget.h"

#include <limits>

namespace sframe {

namespace {

constexpr std::uint64_t mb = 1'000'000;

struct Allowance {
  Resource resource;
  std::string_view name;
  std::uint64_t base;      ///< for every input
  std::uint64_t per_byte;  ///< added per byte of the input
  std::uint64_t bytes = 1; ///< unit of per_byte
  /// Added per byte after the first megabyte: the promise of docs/limits.md is for one, and large files have
  /// code that needs more.
  std::uint64_t per_further_byte = 0;

  constexpr std::uint64_t of(std::uint64_t size) const {
    const std::uint64_t further = size > mb ? size - mb : 0;
    return base + per_byte * size / bytes + per_further_byte * further;
  }
};

constexpr std::uint64_t mib = std::uint64_t(1) << 20;

constexpr std::array<Allowance, resource_count> allowances = {{
    {Resource::section_bytes, "section bytes", 8 * mib, 8},
    {Resource::unpacked_bytes, "decompressed bytes", 16 * mib, 16},
    {Resource::name_bytes, "bytes of names", 16 * mib, 16},
    {Resource::cfi_instructions, "CFI instructions", 4 * mib, 8},
    {Resource::rows, "rows", mib / 4, 4},
    {Resource::frames, "frames", mib / 8, 1, 4},
    {Resource::printed_bytes, "bytes of output", 24 * mib, 96},
    {Resource::files, "files", 4096, 0},
    {Resource::guesses, "bytes of code and stack for heuristics", 4 * mib, 1},
    {Resource::copied_bytes, "bytes of generated code", 8 * mib, 8},
    {Resource::debug_steps, "steps in debug information", 16 * mib, 4},
    {Resource::code_steps, "steps of code analysis", 4 * mib, 16, 1, 48},
    {Resource::processor_time, "milliseconds of processor time", 0, 0}, // by the program, for all inputs
    {Resource::memory, "MiB of memory", 0, 0},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < resource_count; ++i)
    if (allowances[i].resource != static_cast<Resource>(i)) return false;
  return true;
}
static_assert(in_order());

/// The amounts of the last end_all() for each resource, which budgets that it ended report later.
constinit std::array<std::atomic<std::uint64_t>, resource_count> last_amounts{};

Problem limit_reached(Resource resource, std::uint64_t amount) {
  return {"limit for an input of this size reached: " + std::to_string(amount) + ' ' +
              std::string(name_of(resource)) + "; the rest is skipped (--limits=off removes the limit)",
          {},
          {}};
}

} // namespace

constinit std::atomic<std::uint64_t> Budget::ended_{0};

std::string_view name_of(Resource resource) {
  return allowances[static_cast<std::size_t>(resource)].name;
}

Budget::Budget(Limits limits, std::uint64_t size) : limits_(limits) {
  refill(size);
}

Budget::Budget(Limits limits, const Amounts& amounts) : limits_(limits), limit_(amounts) {
  for (std::size_t i = 0; i < resource_count; ++i) left_[i] = amounts[i];
}

Budget::~Budget() = default;

void Budget::add(const Amounts& amounts) {
  for (std::size_t i = 0; i < resource_count; ++i) left_[i].fetch_add(amounts[i], std::memory_order_relaxed);
}

void Budget::refill(std::uint64_t size) {
  first_ = 0;
  used_up_ = 0;
  constexpr std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  for (const Allowance& allowance : allowances) {
    std::uint64_t amount = size < all / 256 ? allowance.of(size) : all;
    if (limits_ == Limits::off) amount = all;
    if (limits_ == Limits::strict) amount /= 4;
    const auto i = static_cast<std::size_t>(allowance.resource);
    left_[i] = limit_[i] = amount;
  }
}

void Budget::use_up(Resource resource) {
  std::uint8_t none = 0;
  left_[static_cast<std::size_t>(resource)].store(0, std::memory_order_relaxed);
  used_up_.fetch_or(bit(resource), std::memory_order_relaxed);
  first_.compare_exchange_strong(none, static_cast<std::uint8_t>(1 + static_cast<std::uint8_t>(resource)),
                                 std::memory_order_relaxed);
}

std::optional<Problem> Budget::problem() const {
  const std::uint8_t first = first_.load(std::memory_order_relaxed);
  if (first == 0) return std::nullopt;
  const std::size_t i = first - 1u;
  const auto resource = static_cast<Resource>(i);
  return limit_reached(resource,
                       is_of_process(resource) ? last_amounts[i].load(std::memory_order_relaxed) : limit_[i]);
}

void Budget::end_all(Resource resource, std::uint64_t amount) noexcept {
  std::uint64_t none = 0;
  const std::uint64_t ended = (amount << 8) | (1 + static_cast<std::uint64_t>(resource));
  if (ended_.load(std::memory_order_relaxed) == 0)
    last_amounts[static_cast<std::size_t>(resource)].store(amount, std::memory_order_relaxed);
  ended_.compare_exchange_strong(none, ended, std::memory_order_relaxed);
}

std::optional<Problem> Budget::all_ended() {
  const std::uint64_t ended = ended_.load(std::memory_order_relaxed);
  if (ended == 0) return std::nullopt;
  return limit_reached(resource_of(ended), ended >> 8);
}

} // namespace sframe
