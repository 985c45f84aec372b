// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the lists of registered code, before the descriptions of the code are copied.

#pragma once

#include "sframe/address.h"
#include "sframe/base/budget.h"
#include "sframe/base/problem.h"
#include "sframe/modules/generated_code.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/address_space.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::modules::dynamic {

/// An entry of a list, decoded. All addresses are in the process.
struct Registration {
  enum class Form : std::uint8_t { elf_file, procedure, table, section };
  Form form{};
  std::uint64_t entry = 0;       ///< address of the entry
  AddressRange range;            ///< of the code; unknown (empty) for an ELF file
  std::uint64_t data = 0;        ///< the ELF file, the first region, the table, the rows
  std::uint64_t size = 0;        ///< bytes of an ELF file or a table
  std::uint64_t name = 0;        ///< a string, or 0
  std::uint64_t fde_base = 0;    ///< table: base of FDE offsets
  std::uint64_t start_base = 0;  ///< table: base of starts
  std::uint64_t load_offset = 0; ///< table: added to addresses in FDEs

  friend bool operator==(const Registration&, const Registration&) = default;
};

/// Charges for `bytes` of descriptions of generated code that are read; `budget` may be nullptr. Everything
/// is charged before it is read: what turns out to be invalid has its cost, too.
inline bool take(Budget* budget, std::uint64_t bytes) {
  return !budget || budget->take(Resource::copied_bytes, bytes);
}

/// Adds a problem, up to a number that a user can read: a damaged list may have one for each of its entries.
void add_problem(std::vector<std::string>& problems, std::string what);

/// The contents of the lists, and their problems.
struct Listing {
  std::size_t max_entries = 0; ///< also of those that are not understood
  Budget* budget = nullptr;
  std::vector<Registration> entries;
  std::vector<std::string> problems;

  void problem(std::string_view list, std::uint64_t address, std::string_view what);
};

// These read the list at `head`, up to the first invalid entry.
void read_jit_list(unwind::Memory& memory, std::uint64_t head, Listing& listing);
void read_dyn_info_list(unwind::Memory& memory, std::uint64_t head, Listing& listing);
void read_sframe_list(unwind::Memory& memory, std::uint64_t head, Listing& listing);

/// The return value of the function at the address, if it only returns a constant.
std::optional<std::uint64_t> constant_result(std::uint64_t function, unwind::Memory& memory);

/// The address ranges of the code of an ELF file in memory, from its headers. Reads at most `budget` headers
/// and subtracts those read. Empty if it is not an ELF file.
std::vector<AddressRange> find_code(const Registration& file, unwind::Memory& memory, std::uint64_t& budget);

// These copy the description of the code, at most `most` bytes. They fail if it cannot be read.
Result<GeneratedCode> copy_elf_file(const Registration& file, unwind::Memory& memory, std::uint64_t most,
                                    Budget* budget);
Result<GeneratedCode> copy_procedure(const Registration& procedure, unwind::Memory& memory,
                                     std::uint64_t most, Budget* budget);
Result<GeneratedCode> copy_table(const Registration& table, unwind::Memory& memory, std::uint64_t most,
                                 Budget* budget);
Result<GeneratedCode> copy_section(const Registration& rows, unwind::Memory& memory, std::uint64_t most,
                                   Budget* budget);

/// Their problem if the budget does not suffice.
inline constexpr std::string_view over_budget = "not copied: limit on copied code reached";
/// That of a list.
inline constexpr std::string_view not_read_further = "is not read further: limit on copied code reached";

/// `size` bytes; nothing if they cannot all be read. Allocates no more memory than can be read.
std::optional<std::vector<std::byte>> copy_bytes(unwind::Memory& memory, std::uint64_t address,
                                                 std::uint64_t size);

/// The string at the address, truncated at 4 KiB; empty for address 0 or if it cannot be read.
std::string copy_string(unwind::Memory& memory, std::uint64_t address, Budget* budget);

} // namespace sframe::modules::dynamic
