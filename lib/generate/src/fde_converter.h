// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts one FDE at a time: runs of representable rows become functions of the builder, the rest is left
// out with a reason. Scratch memory is kept between FDEs.

#pragma once

#include "known_rows.h"
#include "ownership.h"
#include "repairer.h"
#include "return_addresses.h"
#include "sframe/cfi/frame_row.h"
#include "sframe/generate/from_cfi.h"

#include <span>
#include <vector>

namespace sframe::generate {

/// The builder's options that correspond to `options`.
BuildOptions build_options(const AbiTraits& abi, const Options& options);

class FdeConverter {
public:
  /// Functions go to `builder`, results to `report`. `returns`: nullptr without Options::return_addresses.
  /// `repairer`: nullptr without Options::repair. `known`: FDEs of this section that were converted to
  /// functions of `builder`.
  FdeConverter(const AbiTraits& abi, const Options& options, ReturnAddresses* returns, Repairer* repairer,
               KnownRows& known, Builder& builder, Report& report);

  /// Converts `pieces` (by address) of the FDE, the place of which in `known` is given. Returns the first
  /// error in its instructions.
  std::optional<cfi::Error> convert(const cfi::CfiSection& section, const cfi::Fde& fde,
                                    const KnownRows::Place& place, std::span<const OwnedRange> pieces);

private:
  bool has_rows_of_instructions(const cfi::Fde& fde, std::span<const OwnedRange> pieces) const;
  bool add_known(const cfi::Fde& fde, const KnownRows::Place& place);
  void count_fde();
  void show_repairs(const cfi::Fde& fde, std::span<const OwnedRange> pieces) const;
  void add_row(const cfi::MinimalRow& row, std::uint64_t begin, std::uint64_t end);
  void append_repaired(const FrameRow& row, std::uint64_t begin, std::uint64_t end);
  void append(const FrameRow& row, std::uint64_t begin, std::uint64_t end);
  void append_plt(const cfi::MinimalRow& row, std::uint64_t begin, std::uint64_t end);
  void append_blocks(std::uint64_t begin, std::uint64_t end, const cfi::PltCfa& plt, const FrameRow& before,
                     const FrameRow& after);
  void extend_over_padding();
  void flush();
  void add(std::uint64_t begin, std::uint64_t end, std::span<FrameRow> rows, Fde fde);
  void leave_out(std::uint64_t begin, std::uint64_t end, Reason reason);

  const AbiTraits& abi_;
  const Options& options_;
  ReturnAddresses* returns_;
  Repairer* repairer_;
  std::span<const Repair> repairs_; ///< of the current FDE; those before the current row are removed
  KnownRows& known_;
  cfi::FrameRowMaker frame_rows_;
  Builder& builder_;
  Report& report_;
  Fde properties_;                       ///< of the current FDE: common to all its functions
  std::vector<FrameRow> rows_;           ///< the run in progress; offsets relative to begin_
  std::uint64_t begin_ = 0, end_ = 0;    ///< addresses of that run
  std::uint64_t fde_end_ = 0;            ///< of the current FDE
  std::uint64_t covered_ = 0, left_ = 0; ///< bytes of the current FDE
  bool has_blocks_ = false;              ///< the current FDE; repeating rows count from an address
};

} // namespace sframe::generate
