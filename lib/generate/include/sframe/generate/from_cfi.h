// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From call frame information to SFrame: each FDE becomes a function of a Builder, row by row.
//
//   auto input = sframe::generate::CfiInput::from_image(image);
//   auto [builder, report] = sframe::generate::from_cfi(*input, {});
//   auto bytes = builder.finish(address);
//
// What cannot be said is left out as a range of addresses, not as a function: nothing in the format says
// that an FDE is a whole function, so an FDE with unsayable rows becomes several that stand around them,
// and keeps its prologue and epilogue. The report has each such range with its reason.
//
// The CFA expression of x86 PLTs (cfi::plt_cfa) becomes a PCMASK function. PLTs without CFI are described from their
// instructions (plt.h).
//
// Where FDEs of one section overlap, an address belongs to the one that starts last, of equal starts to the
// smallest, of equal ranges to the first in the section: what unwinders find that search by start address.
// What an earlier section of the input describes, a later one does not.
//
// Cost: linear in the input but for sorting FDEs by address; memory 16 bytes per FDE beside the builder. The
// work is spread over threads in parts of some thousand FDEs; the result does not depend on their number.

#pragma once

#include "sframe/builder.h"
#include "sframe/generate/cfi_input.h"
#include "sframe/generate/report.h"

#include <functional>
#include <optional>

namespace sframe::generate {

struct Options {
  VersionNumber version = VersionNumber::v3;
  bool merge_rows = true;       ///< leave out a row that says the same as the one before it
  bool share_rows = false;      ///< BuildOptions::share_rows
  bool merge_functions = false; ///< Builder::merge_functions()
  bool plt = true;              ///< false: linker-made stubs are not asked for
  /// FDEs to convert; the others are not asked for and appear nowhere in the report. Empty: all.
  /// Called from several threads at once.
  std::function<bool(const cfi::Fde&)> wanted;
  unsigned threads = 1;
  /// Functions that these cannot reach are left out. Not given: all functions are taken, and
  /// Builder::finish() refuses if one is out of reach.
  std::optional<StartFields> start_fields;

  bool reaches(std::uint64_t start) const { return !start_fields || start_fields->reach(version, start); }
};

struct Conversion {
  Builder builder;
  Report report;
};

/// Converts everything in `input`. Never fails: what cannot be read is in Report::faults. FDEs of size 0
/// are ignored.
Conversion from_cfi(const CfiInput& input, const Options& options);

} // namespace sframe::generate
