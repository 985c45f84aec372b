// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report of a conversion: how much of the input the section covers, and for everything else the range of
// addresses and the reason.

#pragma once

#include "sframe/base/address_ranges.h"
#include "sframe/base/coverage.h"
#include "sframe/builder.h"
#include "sframe/cfi/error.h"
#include "sframe/cfi/frame_row.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::generate {

/// Why something was left out. Static text; equal names are equal reasons.
struct Reason {
  const char* name = "";    ///< for reports and JSON: "cfa-expression"
  const char* message = ""; ///< "CFA is a DWARF expression"

  friend bool operator==(const Reason& a, const Reason& b) { return std::string_view(a.name) == b.name; }
};

/// Why no row can represent it (cfi/frame_row.h).
Reason reason(cfi::Unrepresentable unrepresentable);
/// Why the version cannot represent it (builder.h).
Reason reason(RefusalReason refusal);

inline constexpr Reason bad_cfi = {"bad-cfi", "call frame instructions are invalid"};
inline constexpr Reason duplicate = {"duplicate", "another FDE describes the same addresses"};
inline constexpr Reason not_in_code = {"not-in-code", "FDE covers addresses that are not code"};

/// Addresses that no function of the result covers.
struct LeftOut {
  std::uint64_t start = 0;
  std::uint64_t size = 0; ///< bytes
  Reason reason;
};

/// Rows of the CFI that the code contradicts, and the row that it proves right there.
struct Repair {
  std::uint64_t begin = 0, end = 0; ///< addresses; instructions start at both
  FrameRow before, after;           ///< their offsets are 0
};

/// An unreadable entry, or instructions that cannot be executed.
struct Fault {
  std::string_view section; ///< ".eh_frame" or ".debug_frame"
  cfi::Error error;
  std::optional<std::uint64_t> start; ///< of the FDE whose instructions cannot be executed
};

struct Report {
  /// FDEs selected for conversion. total = converted + partial + skipped.
  struct Functions {
    std::uint64_t total = 0;
    std::uint64_t converted = 0; ///< every byte is covered
    std::uint64_t partial = 0;   ///< some bytes are
    std::uint64_t skipped = 0;   ///< none is
  };
  Functions functions;
  CoveredBytes pc_bytes; ///< of code in the ranges of these FDEs, by rows of the result; overlaps count once
  std::uint64_t plt_bytes = 0; ///< of the covered ones: stubs without CFI, described from their instructions
  std::uint64_t refuted_plt_bytes = 0; ///< of the covered ones: stubs whose CFI is refuted by their
                                       ///< instructions
  std::uint64_t code_bytes = 0;        ///< of the covered ones: described from instructions (Options::code)
  std::uint64_t orc_bytes = 0;         ///< of the covered ones: from the kernel's own table (Options::orc)
  std::uint64_t go_bytes = 0;          ///< of the covered ones: from Go's function table (Options::go)
  std::map<std::string_view, std::uint64_t> reasons; ///< name -> count: ranges, or FDEs without a range
  std::vector<LeftOut> left_out;                     ///< by address
  std::vector<Fault> faults;                         ///< in the order of the input
  std::vector<Repair> repairs;                       ///< by address; Options::repair
  std::vector<AddressRange> from_code;               ///< the ranges of code_bytes, in any order
  std::vector<AddressRange> from_orc, from_go;       ///< those of orc_bytes and go_bytes
  std::vector<AddressRange> from_stubs;              ///< those of plt_bytes and refuted_plt_bytes
  std::uint64_t extended = 0;                        ///< FDEs whose last row also covers padding after them
  std::uint64_t overlapping =
      0; ///< FDEs that lost part of their range to one that starts later or is smaller

  /// Why the figures are inconsistent, as a sentence, or nullptr. An inconsistent report is a bug in the
  /// conversion: its section must not be used.
  const char* contradiction() const;
  /// True if nothing was left out and nothing was unreadable.
  bool complete() const { return pc_bytes.covered == pc_bytes.total && faults.empty(); }

  /// Records a range that is left out. If it continues the last range, for the same reason and in the same
  /// FDE, extends that.
  void leave_out(std::uint64_t start, std::uint64_t end, Reason reason, bool same_fde);
  /// Adds the counts and faults of another report, but not its ranges.
  void add_counts(const Report& other);
  /// Counts a reason that has no range of its own.
  void count(Reason reason) { ++reasons[reason.name]; }
};

} // namespace sframe::generate
