// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GDB's JIT interface: a doubly linked list of ELF files in memory (GDB manual, "JIT Compilation Interface").
//
//   jit_descriptor            jit_code_entry
//   +0   u32 version (1)      +0   next_entry
//   +4   u32 action_flag      +8   prev_entry
//   +8   relevant_entry       +16  symfile_addr
//   +16  first_entry          +24  u64 symfile_size

#include "dynamic/follow.h"

#include "sframe/elf/image.h"

#include <array>
#include <utility>

namespace sframe::modules::dynamic {

namespace {

constexpr std::string_view descriptor_name = "__jit_debug_descriptor";
constexpr std::uint64_t jit_entry_size = 32;
constexpr std::size_t max_problems = 100; ///< of all lists together

/// The number at an offset in an ELF file in memory; 0 if it cannot be read.
std::uint64_t number(unwind::Memory& memory, std::uint64_t address, std::uint32_t size) {
  return memory.number(address, size).value_or(0);
}

/// One of the two tables of headers: offsets of its fields in the ELF64 header and in an entry.
struct HeaderTable {
  std::uint32_t offset, entry_size, count; ///< in the ELF header
  std::uint32_t type, flags, address, size, flags_size;
  std::uint64_t code_flags; ///< if all are set, the entry is code
};
constexpr HeaderTable section_table = {.offset = 40,
                                       .entry_size = 58,
                                       .count = 60,
                                       .type = 4,
                                       .flags = 8,
                                       .address = 16,
                                       .size = 32,
                                       .flags_size = 8,
                                       .code_flags = elf::shf_alloc | elf::shf_execinstr};
constexpr HeaderTable segment_table = {.offset = 32,
                                       .entry_size = 54,
                                       .count = 56,
                                       .type = 0,
                                       .flags = 4,
                                       .address = 16,
                                       .size = 40,
                                       .flags_size = 4,
                                       .code_flags = elf::pf_x};

std::vector<AddressRange> code_in(const HeaderTable& table, const Registration& file, unwind::Memory& memory,
                                  std::uint64_t& budget) {
  std::vector<AddressRange> found;
  const std::uint64_t first = file.data + number(memory, file.data + table.offset, 8);
  const std::uint64_t size = number(memory, file.data + table.entry_size, 2);
  const std::uint64_t count = number(memory, file.data + table.count, 2);
  for (std::uint64_t i = 0; i < count && budget; ++i, --budget) {
    const std::uint64_t at = first + i * size;
    const std::uint64_t flags = number(memory, at + table.flags, table.flags_size);
    if ((flags & table.code_flags) != table.code_flags) continue;
    const std::uint64_t start = number(memory, at + table.address, 8);
    const std::uint64_t length = number(memory, at + table.size, 8);
    if (length && length <= ~start) found.push_back({start, length});
  }
  return found;
}

} // namespace

void add_problem(std::vector<std::string>& problems, std::string what) {
  if (problems.size() < max_problems)
    problems.push_back(std::move(what));
  else if (problems.size() == max_problems)
    problems.emplace_back("generated code: further problems are left out");
}

void Listing::problem(std::string_view list, std::uint64_t address, std::string_view what) {
  if (problems.size() > max_problems) return; // there may be very many
  add_problem(problems, std::string(list) + ": the list of generated code " + std::string(what) + " at " +
                            hex(address));
}

void read_jit_list(unwind::Memory& memory, std::uint64_t head, Listing& listing) {
  const auto version = memory.number(head, 4), first = memory.number(head + 16, 8);
  // Some programs have zeros here before the first use.
  if (version && first && *version == 0 && *first == 0) return;
  if (!version || !first || *version != 1)
    return listing.problem(descriptor_name, head,
                           version && first ? "has an unsupported version" : "cannot be read");
  follow(memory, *first, jit_entry_size, descriptor_name, listing, [&](std::uint64_t at) {
    const auto address = memory.word(at + 16), size = memory.word(at + 24);
    if (address && size)
      listing.entries.push_back(
          {.form = Registration::Form::elf_file, .entry = at, .range = {}, .data = *address, .size = *size});
    else
      listing.problem(descriptor_name, at, "cannot be read");
    return address && size;
  });
}

std::vector<AddressRange> find_code(const Registration& file, unwind::Memory& memory, std::uint64_t& budget) {
  std::array<std::byte, 64> header;
  if (file.size < header.size() || !memory.bytes(file.data, header) || !elf::Image::is_elf(header)) return {};
  auto found = code_in(section_table, file, memory, budget);
  return found.empty() ? code_in(segment_table, file, memory, budget) : found;
}

Result<GeneratedCode> copy_elf_file(const Registration& file, unwind::Memory& memory, std::uint64_t most,
                                    Budget* budget) {
  if (file.size > most) return fail("too large: limit on copied code reached");
  if (!take(budget, file.size)) return fail(std::string(over_budget));
  auto bytes = copy_bytes(memory, file.data, file.size);
  if (!bytes) return fail("cannot be read");
  GeneratedCode code;
  code.image = std::move(*bytes);
  return code;
}

} // namespace sframe::modules::dynamic
