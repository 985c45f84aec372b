// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what the lists of registered code say, before anything of the code's description is copied.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/modules/generated_code.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/address_space.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sframe::modules::dynamic {

/// An entry of a list, as numbers. All addresses are in the process.
struct Registration {
  enum class Form : std::uint8_t { elf_file, procedure, table };
  Form form{};
  std::uint64_t entry = 0;       ///< its own address
  unwind::AddressRange range;    ///< of the code; unknown (empty) for an ELF file
  std::uint64_t data = 0;        ///< the ELF file, the first region, the table
  std::uint64_t size = 0;        ///< bytes of an ELF file or a table
  std::uint64_t name = 0;        ///< a string, or 0
  std::uint64_t fde_base = 0;    ///< table: what the places of FDEs count from
  std::uint64_t start_base = 0;  ///< table: what the starts count from
  std::uint64_t load_offset = 0; ///< table: what to add to addresses in FDEs

  friend bool operator==(const Registration&, const Registration&) = default;
};

/// What the lists have, and what is wrong with them.
struct Listing {
  std::size_t max_entries = 0;
  std::vector<Registration> entries;
  std::vector<std::string> problems;

  void problem(std::string_view list, std::uint64_t address, std::string_view what);
};

// Both read the list whose head is at `head`, up to the first entry that makes no sense.
void read_jit_list(unwind::Memory& memory, std::uint64_t head, Listing& listing);
void read_dyn_info_list(unwind::Memory& memory, std::uint64_t head, Listing& listing);

/// What the function at the address returns, where it does nothing else than to return a constant.
std::optional<std::uint64_t> constant_result(std::uint64_t function, unwind::Memory& memory);

/// The addresses of the code of an ELF file in memory, by its headers, of which at most `budget` are read;
/// what is read is taken off. Empty where it is no ELF file.
std::vector<unwind::AddressRange> find_code(const Registration& file, unwind::Memory& memory,
                                            std::uint64_t& budget);

// All copy what describes the code, at most `most` bytes. Fail where it cannot be read.
Result<GeneratedCode> copy_elf_file(const Registration& file, unwind::Memory& memory, std::uint64_t most);
Result<GeneratedCode> copy_procedure(const Registration& procedure, unwind::Memory& memory,
                                     std::uint64_t most);
Result<GeneratedCode> copy_table(const Registration& table, unwind::Memory& memory, std::uint64_t most);

/// `size` bytes; nothing where they cannot all be read. Takes no more memory than there is to read.
std::optional<std::vector<std::byte>> copy_bytes(unwind::Memory& memory, std::uint64_t address,
                                                 std::uint64_t size);

/// The string at the address, cut at 4 KiB; empty for address 0 and where it cannot be read.
std::string copy_string(unwind::Memory& memory, std::uint64_t address);

} // namespace sframe::modules::dynamic
