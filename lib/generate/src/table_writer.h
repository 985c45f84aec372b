// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows from a table that is not CFI become functions: those that follow each other are in one FDE, until a
// gap, the start of a function, or the mark of signal frames, which an FDE has as a whole, ends it.

#pragma once

#include "sframe/generate/from_cfi.h"

#include <vector>

namespace sframe::generate {

class TableWriter {
public:
  /// `bytes` and `ranges`, of the report in `out`, are of what the table gives rows. All must outlive the
  /// object.
  TableWriter(const Options& options, Conversion& out, std::uint64_t& bytes,
              std::vector<AddressRange>& ranges)
      : options_(options), out_(out), bytes_(bytes), ranges_(ranges) {}

  /// The next addresses, in order.
  void add(AddressRange range, FrameRow row, bool signal_frame);
  /// The next ones, without a row.
  void leave_out(AddressRange range, const Reason& reason);
  /// The next address begins a function; or there is none.
  void end_function();

private:
  const Options& options_;
  Conversion& out_;
  std::uint64_t& bytes_;
  std::vector<AddressRange>& ranges_;
  Fde fde_; ///< of rows_
  std::vector<FrameRow> rows_;
  std::uint64_t end_ = 0; ///< of the last of rows_
};

/// Add what the tables in the options describe of the input's code outside `described`, and add its addresses
/// to that. Linear in the entries; N log N in the symbols of a kernel.
void add_from_orc(const CfiInput& input, const Options& options, AddressSet& described, Conversion& out);
void add_from_go(const CfiInput& input, const Options& options, AddressSet& described, Conversion& out);

} // namespace sframe::generate
