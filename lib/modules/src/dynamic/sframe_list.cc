// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of lib/jit: registries, each with a table of runs of code, whose rows are SFrame sections. The
// layouts are in sframe/jit/list.h; they are read here as any process's memory, which may be damaged.

#include "dynamic/follow.h"

#include "sframe/bytes.h"

#include <algorithm>

namespace sframe::modules::dynamic {

namespace {

constexpr std::string_view sframe_list_name = "sframe_jit_list";
constexpr std::uint64_t registry_size = 16, run_size = 16;
constexpr std::uint64_t smallest_entry = 32, largest_entry = 256; ///< later versions may have more fields
constexpr std::uint64_t max_runs = 64;
constexpr std::uint64_t read_for_each_kept = 2;    ///< of lib/jit's tables about half may be of removed code
constexpr std::uint64_t largest_section = 1 << 24; ///< of one entry

class Reader {
public:
  Reader(unwind::Memory& memory, std::uint64_t entry_size, Listing& listing)
      : memory_(memory), entry_size_(entry_size), listing_(listing),
        left_(read_for_each_kept * listing.max_entries) {}

  /// False after a problem: what follows is not read.
  bool read_table(std::uint64_t table) {
    const auto count = memory_.word(table);
    if (!count) return fail(table, "cannot be read");
    if (*count > max_runs) return fail(table, "has too many runs");
    if (!take(listing_.budget, *count * run_size)) return fail(table, not_read_further);
    for (std::uint64_t i = 0; i < *count; ++i) {
      const std::uint64_t run = table + 8 + i * run_size;
      const auto entries = memory_.word(run), entry_count = memory_.word(run + 8);
      if (!entries || !entry_count) return fail(run, "cannot be read");
      if (!read_run(*entries, *entry_count)) return false;
    }
    return true;
  }

private:
  bool read_run(std::uint64_t entries, std::uint64_t count) {
    if (count > left_) return fail(entries, "has too many entries");
    left_ -= count;
    if (!take(listing_.budget, count * entry_size_)) return fail(entries, not_read_further);
    const auto bytes = copy_bytes(memory_, entries, count * entry_size_);
    if (!bytes) return fail(entries, "cannot be read");
    for (std::uint64_t i = 0; i < count; ++i)
      if (!add(entries + i * entry_size_, std::span(*bytes).subspan(i * entry_size_, smallest_entry)))
        return false;
    return true;
  }

  bool add(std::uint64_t at, std::span<const std::byte> entry) {
    const auto word = [&](std::size_t offset) {
      return load<std::uint64_t>(entry.data() + offset, memory_.space().abi().byte_order);
    };
    const std::uint64_t start = word(0), rows = word(8), size = word(24);
    if (!rows) return true; // removed
    if (listing_.entries.size() >= listing_.max_entries) return fail(at, "has too many entries");
    if (!size || size > ~start) {
      fail(at, "has an entry with an impossible range");
      return true;
    }
    listing_.entries.push_back({.form = Registration::Form::section,
                                .entry = at,
                                .range = {start, size},
                                .data = rows,
                                .name = word(16)});
    return true;
  }

  bool fail(std::uint64_t address, std::string_view what) {
    listing_.problem(sframe_list_name, address, what);
    return false;
  }

  unwind::Memory& memory_;
  std::uint64_t entry_size_;
  Listing& listing_;
  std::uint64_t left_; ///< entries that are still read; those of removed code have their cost, too
};

} // namespace

void read_sframe_list(unwind::Memory& memory, std::uint64_t head, Listing& listing) {
  const auto version = memory.number(head, 4), entry_size = memory.number(head + 4, 4),
             first = memory.number(head + 8, 8);
  if (!version || !entry_size || !first) return listing.problem(sframe_list_name, head, "cannot be read");
  if (*version != 1 || *entry_size < smallest_entry || *entry_size > largest_entry)
    return listing.problem(sframe_list_name, head, "has an unsupported version");
  Reader reader(memory, *entry_size, listing);
  follow(memory, *first, registry_size, sframe_list_name, listing, [&](std::uint64_t at) {
    const auto table = memory.word(at + 8);
    if (!table) listing.problem(sframe_list_name, at, "cannot be read");
    return table && (*table == 0 || reader.read_table(*table));
  });
}

Result<GeneratedCode> copy_section(const Registration& from, unwind::Memory& memory, std::uint64_t most,
                                   Budget* budget) {
  const auto size = memory.word(from.data);
  if (!size) return fail("rows cannot be read");
  if (*size > std::min(most, largest_section)) return fail("too large: limit on copied code reached");
  if (!take(budget, *size)) return fail(std::string(over_budget));
  auto bytes = copy_bytes(memory, from.data + 8, *size);
  if (!bytes) return fail("rows cannot be read");
  GeneratedCode code;
  code.section = std::move(*bytes);
  code.section_address = from.range.start;
  code.function = copy_string(memory, from.name, budget);
  return code;
}

} // namespace sframe::modules::dynamic
