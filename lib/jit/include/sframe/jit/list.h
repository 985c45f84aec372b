// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the code of a process is found in its memory: the symbol `sframe_jit_list`, in any number of modules.
// A debugger reads it in a core or a stopped process, and at no moment is anything half done: tables and
// arrays are replaced as a whole, by one word. Integers have the process's byte order, pointers 8 bytes.
//
//   List (sframe_jit_list)   Registry        Table               Entry: 32 bytes        RowsBlock
//   +0  u32 version (1)      +0  next        +0  u64 runs        +0  start of the code  +0  u64 size
//   +4  u32 entry size       +8  table       +8  Run: entries    +8  rows, or 0         +8  SFrame section
//   +8  first registry                       +16      u64 count  +16 name, or 0
//   +16 u64 changes                          +24 Run ...         +24 u64 size of the code
//   +24 u64 replacements
//
// A reader of a process that runs reads `changes` before and after: if it is the same, what was read between
// was the list at a moment. What it has kept holds as long as `replacements` is what it was before. Lists
// whose symbol has a size of 16 bytes have no counters.
//
// `entries` are sorted by their starts; those with rows overlap with no others that have. An entry whose rows
// are 0 has been removed. A section's address is the start of the code.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#pragma GCC visibility push(default)

namespace sframe::jit {

struct RowsBlock {
  std::uint64_t size = 0; ///< bytes of the section, which follows

  std::span<const std::byte> section() const { return {reinterpret_cast<const std::byte*>(this + 1), size}; }
};

struct ListedCode {
  std::uint64_t start = 0;
  std::atomic<const RowsBlock*> rows = nullptr;
  const char* name = nullptr; ///< ends with 0
  std::uint64_t size = 0;
};

struct ListedRun {
  const ListedCode* entries = nullptr;
  std::uint64_t count = 0;
};

struct ListedTable {
  static constexpr std::size_t max_runs = 48; ///< each is at least twice as long as the next one
  std::uint64_t count = 0;
  std::array<ListedRun, max_runs> runs;
};

struct ListedRegistry {
  std::atomic<const ListedRegistry*> next = nullptr;
  std::atomic<const ListedTable*> table = nullptr;
};

struct List {
  static constexpr std::uint32_t current_version = 1;
  std::uint32_t version = current_version;
  std::uint32_t entry_size = sizeof(ListedCode);
  std::atomic<const ListedRegistry*> first = nullptr;
  std::atomic<std::uint64_t> changes = 0; ///< grows after each change, before memory is freed
  /// Grows before and after each change of what was true of an address: code is dropped or has other rows.
  std::atomic<std::uint64_t> replacements = 0;
};

static_assert(sizeof(ListedCode) == 32 && sizeof(ListedRun) == 16 && sizeof(List) == 32);
static_assert(offsetof(ListedCode, rows) == 8 && offsetof(ListedTable, runs) == 8);

} // namespace sframe::jit

extern "C" sframe::jit::List sframe_jit_list;

#pragma GCC visibility pop
