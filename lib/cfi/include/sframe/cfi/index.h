// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the FDE for an address. There is an index built from a whole section, and the search table that
// linkers put into .eh_frame_hdr (Linux Standard Base 5.0, section 10.6.2). FdeFinder uses the table if
// possible, else the index.

#pragma once

#include "sframe/cfi/section.h"
#include "sframe/expected.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::cfi {

/// All FDEs of a section by start address. 16 bytes each; keeps no pointer into the section's bytes.
class FdeIndex {
public:
  struct Entry {
    std::uint64_t start = 0;
    std::uint32_t size = 0;   ///< 0xffffffff means that or more
    std::uint32_t offset = 0; ///< of the FDE in the section
  };

  /// Reads every FDE. Unreadable entries are left out and, if `faults` is given, added to it. FDEs of size 0
  /// are left out. Linear; uses up to `threads` threads. They read `parts` of the section, which are
  /// section.parts() of any size; if there are none, build() makes them. ErrorKind::too_large for a section
  /// of 4 GiB or more.
  static expected<FdeIndex, Error> build(const CfiSection& section, std::vector<Error>* faults = nullptr,
                                         unsigned threads = 1, std::span<const std::uint64_t> parts = {});

  /// By start; equal starts in the section's order.
  std::span<const Entry> entries() const { return entries_; }

  /// The entry whose range contains `pc`, or nullptr. If ranges overlap, the one that starts last; the search
  /// goes back over at most max_overlap entries.
  const Entry* find(std::uint64_t pc) const;

  static constexpr std::size_t max_overlap = 16;

private:
  std::vector<Entry> entries_;
};

/// The search table of .eh_frame_hdr. A view: copies nothing, allocates nothing.
class EhFrameHdr {
public:
  /// Reads the header. `bytes` is the section (or the segment PT_GNU_EH_FRAME) at `address`. Data-relative
  /// pointers are relative to `address`. Fails if there is no table, or its entries have no fixed size.
  /// Constant cost: entries are read when searched.
  static expected<EhFrameHdr, Error> parse(std::span<const std::byte> bytes, std::uint64_t address,
                                           const AbiTraits& abi);

  /// The address of .eh_frame in a header, which need not have a table; nothing if parse() would not find it.
  static std::optional<std::uint64_t> find_eh_frame(std::span<const std::byte> bytes, std::uint64_t address,
                                                    const AbiTraits& abi);

  /// The address of .eh_frame in the header; nothing if it is omitted or indirect.
  std::optional<std::uint64_t> eh_frame() const { return eh_frame_; }

  /// Number of entries, limited to those that the bytes hold.
  std::uint64_t size() const { return count_; }

  struct Entry {
    std::uint64_t start = 0; ///< address of the first byte of the FDE's range
    std::uint64_t fde = 0;   ///< address of the FDE's length field
  };

  /// Entry `number` < size(). Constant cost.
  Entry entry(std::uint64_t number) const;

  /// The last entry that starts at or before `pc`, if the table is sorted. Its FDE may end before `pc`.
  /// Logarithmic.
  std::optional<Entry> find(std::uint64_t pc) const;

  /// True if starts never decrease. Linear.
  bool sorted() const;

private:
  std::uint64_t number_at(std::uint64_t offset) const;

  std::span<const std::byte> bytes_;
  std::uint64_t address_ = 0; ///< of the section
  std::uint64_t table_offset_ = 0;
  std::uint64_t count_ = 0;
  std::optional<std::uint64_t> eh_frame_;
  std::uint8_t encoding_ = 0;
  std::uint8_t width_ = 0; ///< bytes of one number
  const AbiTraits* abi_ = nullptr;
};

/// .eh_frame without the bytes that follow it. `rest` starts with .eh_frame. The result extends to the last
/// FDE in `table` (or the start, if there is none), and on to the terminator or the first unreadable
/// entry. Linear in the table, or else in the section.
CfiSection eh_frame_part(const CfiSection& rest, const std::optional<EhFrameHdr>& table);

/// Finds FDEs by address, with the search table if it is valid, else with an index that the first search
/// builds.
class FdeFinder {
public:
  FdeFinder() = default;
  explicit FdeFinder(const CfiSection& section) : section_(section) {}
  /// `table` is for this section (.eh_frame); its FDE addresses are checked against the section's bounds.
  FdeFinder(const CfiSection& section, const EhFrameHdr& table) : section_(section), table_(table) {}

  /// The FDE whose range contains `pc`; nothing if there is none. With the table the cost is logarithmic and
  /// the section is not scanned. At the first address not found, it checks once that the table is sorted and
  /// that its entries are FDEs of the section; otherwise it drops the table. Not thread-safe. The only Error
  /// is that of Index::build().
  expected<std::optional<Fde>, Error> find(std::uint64_t pc);

  const CfiSection& section() const { return section_; }

private:
  std::optional<Fde> fde_of(const EhFrameHdr::Entry& entry) const;
  std::optional<Fde> find_in_table(std::uint64_t pc) const;
  bool is_table_valid() const;
  expected<std::optional<Fde>, Error> find_in_index(std::uint64_t pc);

  CfiSection section_;
  std::optional<EhFrameHdr> table_;
  bool table_checked_ = false; ///< and found valid
  std::optional<FdeIndex> index_;
};

} // namespace sframe::cfi

#pragma GCC visibility pop
