// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generated code of a process, from the list in its memory (sframe/jit/list.h). The process runs while it
// is read, and may be hostile: everything is bounded, and what is kept was consistent.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::bpf {

/// Code with its rows: an SFrame section whose address is the code's start.
struct CodeRegion {
  std::uint64_t start = 0, size = 0;
  std::uint64_t rows = 0;                   ///< where the process has the section
  std::size_t offset = 0, section_size = 0; ///< where the copy is, in ProcessCode::sections
  std::uint32_t list = 0;                   ///< number of the list that it is from
};

/// A list of a process.
struct CodeList {
  std::uint64_t address = 0;
  bool has_counters = false;
  std::uint64_t replacements = 0; ///< before the list was read

  std::uint64_t counter() const { return has_counters ? address + 24 : 0; }
};

struct ProcessCode {
  std::vector<CodeRegion> regions; ///< by start, without overlaps
  std::vector<std::byte> sections;
  std::vector<CodeList> lists;
  std::uint64_t refused = 0; ///< regions that are impossible, or too many
};

/// Reads memory of a process; false if not all of it can be read.
using ReadMemory = std::function<bool(std::uint64_t address, std::span<std::byte> to)>;

/// What the lists at these addresses have. At most 262,144 regions, 16 MiB of sections, and 64 MiB of code
/// each.
ProcessCode read_process_code(const ReadMemory& read, std::span<const CodeList> lists);

/// The list's address relative to the file's base, and whether it has counters, if the symbols of the ELF
/// file have it. Reads at most the 4 million first symbols.
struct ListSymbol {
  std::uint64_t address = 0;
  bool has_counters = false;
};
std::optional<ListSymbol> find_list_symbol(int file);

/// `number` of the window, its table, and the number of the list that its code is from. Returns false to end.
using TakeWindow =
    std::function<bool(std::uint64_t number, std::span<const std::byte> table, std::uint32_t list)>;

/// Makes a table for each window of addresses (SFRAME_BPF_WINDOW_BITS) with all code that has an address in
/// it, in order: so what a change costs depends on the code near it. Regions whose sections are invalid, of
/// another ABI than this program's, or name code outside of the region, are left out and counted as refused;
/// so is what needs more than 256 windows, or 2 million rows. Linear in the rows, but for sorting.
void make_windows(ProcessCode& code, const TakeWindow& take);

} // namespace sframe::bpf

#pragma GCC visibility pop
