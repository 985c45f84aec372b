// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts call frame information to SFrame: each FDE becomes a function of a Builder, row by row.
//
//   auto input = sframe::generate::CfiInput::from_image(image);
//   auto [builder, report] = sframe::generate::from_cfi(*input, {});
//   auto bytes = builder.finish(address);
//
// Rows that cannot be represented are left out as ranges of addresses, not as whole functions. The format
// does not require that an FDE is a whole function, so an FDE with such rows is split around them, and keeps
// its prologue and epilogue. The report lists each such range with its reason.
//
// The CFA expression of x86 PLTs (cfi::plt_cfa) becomes a PCMASK function. Rows of PLTs without CFI come from
// their instructions (plt.h).
//
// Options::return_addresses: readers that do not subtract 1 from a return address need the row of the call at
// the address after it. This extends functions over padding alone, never over code.
//
// If FDEs of one section overlap, an address belongs to the FDE that starts last; of equal starts, to the
// smallest; of equal ranges, to the first in the section. Unwinders that search by start address find the
// same FDE. Addresses described by an earlier section of the input are ignored in later ones.
//
// Cost: linear in the input except for sorting FDEs by address; memory 16 bytes per FDE, a quarter of the
// sections' size (what is known of instructions), and the builder. The work is spread over threads in parts
// of some thousand FDEs; the result does not depend on their number.

#pragma once

#include "sframe/builder.h"
#include "sframe/generate/cfi_input.h"
#include "sframe/generate/fde_analyzer.h"
#include "sframe/generate/report.h"
#include "sframe/tables/go.h"
#include "sframe/tables/orc.h"

#include <functional>
#include <optional>
#include <span>

namespace sframe::generate {

/// An FDE with repairs. Valid during the call that it is passed to.
struct RepairedFde {
  const cfi::Fde& fde;
  std::span<const Repair> repairs; ///< by address, disjoint: those that the report lists
  const FdeAnalyzer& analyzer;     ///< with the FDE's rows and the results for its code
};

struct Options {
  VersionNumber version = default_version;
  bool merge_rows = true;       ///< leave out a row that is equal to the previous one
  bool share_rows = false;      ///< BuildOptions::share_rows
  bool pcrel = true;            ///< BuildOptions::pcrel
  bool merge_functions = false; ///< Builder::merge_functions()
  /// A function that ends with a call also covers the padding after it, where the return address is: for
  /// readers that look up return addresses as they are. Needs CfiInput::image.
  bool return_addresses = false;
  UsableRows usable; ///< BuildOptions::usable; other rows are left out
  bool plt = true;   ///< false: ignore linker-generated stubs
  /// Rows that the code contradicts, where it proves another row right: only listed in the report, or put
  /// right. Needs CfiInput::image, of a linked file. Costs the analysis of all code.
  enum class Repair : std::uint8_t { none, list, apply };
  Repair repair = Repair::none;
  /// With `repair`: called for each FDE that has repairs, from several threads at once. For those who want to
  /// know more of them than the report has.
  std::function<void(const RepairedFde&)> on_repairs;
  /// Go's function table, whose functions have their rows from there, whatever CFI says of them; must outlive
  /// the conversion. nullptr: none. Needs CfiInput::image.
  tables::GoTable* go = nullptr;
  /// Same for the kernel's own table, for what CFI does not describe.
  const tables::OrcTable* orc = nullptr;
  /// Functions without CFI, and in no such table, are described from their instructions. Needs
  /// CfiInput::image, of a linked file.
  bool code = false;
  /// Selects the FDEs to convert; others do not appear in the report. Empty: all. Called from several threads
  /// at once.
  std::function<bool(const cfi::Fde&)> wanted;
  unsigned threads = 1;
  /// Called with the share of the work that was done since the last call; from several threads at once. The
  /// shares add up to 1, less if a section cannot be read. May be empty.
  std::function<void(double share)> progress;
  /// Functions out of reach of these fields are left out. If not given, all functions are converted, and
  /// Builder::finish() fails if one is out of reach.
  std::optional<StartFields> start_fields;
};

struct Conversion {
  Builder builder;
  Report report;
};

/// Converts everything in `input`. Never fails: errors are in Report::faults. FDEs of size 0 are ignored.
Conversion from_cfi(const CfiInput& input, const Options& options);

} // namespace sframe::generate
