// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The input of verification, read from files: SFrame sections, the CFI to compare them with, and the ranges
// of code.
//
// The checks work on one address space. An image already has one. In a relocatable object all sections start
// at 0, so each section gets its own address range: address = section index * 2^40 + offset. locate()
// converts such an address back to a section and an offset.

#pragma once

#include "sframe/base/budget.h"
#include "sframe/cfi/section.h"
#include "sframe/elf/image.h"
#include "sframe/generate/plt.h"
#include "sframe/section.h"
#include "sframe/verify/findings.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sframe::verify {

/// In a relocatable object: the target of a relocated field of a table.
struct RelocatedField {
  std::uint64_t offset = 0; ///< of the field in the table
  std::uint32_t section = 0;
  std::uint64_t target = 0; ///< offset in that section
};

/// The bytes of one .sframe, which may be several concatenated sections.
struct SframeTable {
  std::string_view name;
  std::uint64_t address = 0;
  std::span<const std::byte> bytes;
  std::vector<RelocatedField> relocated_fields; ///< by offset
  const elf::SectionHeader* section =
      nullptr; ///< of Input::sframe_image(); nullptr for a segment or raw bytes
  /// In a relocatable object: why the relocations could not be applied. `relocated_fields` is then empty.
  std::optional<Problem> relocation_problem;
};

/// One SFrame section of a table.
struct SframePart {
  Section section;
  std::uint32_t table = 0;  ///< index in Input::tables
  std::uint64_t offset = 0; ///< of the section in the table
};

/// The error that ended the reading of a table.
struct SframeFault {
  std::uint32_t table = 0;
  Error error; ///< its offset counts from the table's start
};

/// An entry that cannot be read.
struct CfiFault {
  std::uint32_t table = 0; ///< index in Input::cfi
  cfi::Error error;
};

struct CfiTable {
  cfi::CfiSection section;
  std::string_view name;
  std::vector<RelocatedField> relocated_fields; ///< by offset
};

/// Why files cannot be verified.
struct LoadProblem : Problem {
  const elf::Image* image = nullptr; ///< the file that has it; nullptr: no single one
};

class Input {
public:
  /// The files to read. All views and images must outlive the Input.
  struct Sources {
    const elf::Image* image = nullptr;        ///< the code; nullptr if there is only a raw section
    const elf::Image* sframe_image = nullptr; ///< has .sframe; `image` if nullptr
    std::span<const std::byte> raw;           ///< a raw section; used if there is no sframe_image
    std::uint64_t raw_address = 0;
    bool use_raw = false;
    const elf::Image* debug_image = nullptr; ///< has CFI that `image` lacks
    bool cfi = true;                         ///< false: do not read CFI
    bool may_lack_section = false;           ///< a file without .sframe is an Input without parts
    Budget* budget = nullptr;                ///< budget of the checks; nullptr: only their own limits
    /// Receives the shares of a check that are done: at most 1 in all for each check. May be empty, and is
    /// called on several threads.
    std::function<void(double share)> progress;
  };

  /// Reads headers, index entries and relocations. Errors in the section are not a failure: they are in
  /// faults(), and functions that cannot be decoded are not in functions(). Fails if the file's own structure
  /// prevents it, if there is no .sframe, and for a raw section with a relocatable object. N log N in the
  /// functions.
  static expected<Input, LoadProblem> load(const Sources& sources);

  /// Takes from the budget given to load(). False if it is used up: the checks then stop. Thread-safe.
  bool spend(Resource resource, std::uint64_t amount) const {
    return !budget_ || budget_->take(resource, amount);
  }

  bool is_used_up(Resource resource) const { return budget_ && budget_->is_used_up(resource); }
  /// The budget given to load(); may be nullptr.
  Budget* budget() const { return budget_; }

  /// For the checks: Sources::progress.
  void advance(double share) const {
    if (progress_) progress_(share);
  }

  /// Takes from a budget, if there is one, for the rows of a function.
  static bool spend_rows(Budget* budget, const Section& section, const EncodedFde& fde) {
    const std::uint64_t rows = 1 + std::min<std::uint64_t>(fde.num_fres, section.plausible_rows());
    return !budget || budget->take(Resource::rows, rows);
  }

  // What these return is valid as long as the Input.

  /// The file whose CFI and code are compared; nullptr if there is none.
  const elf::Image* image() const { return image_; }
  /// The file with .sframe, which may differ from image(); nullptr for raw bytes.
  const elf::Image* sframe_image() const { return sframe_image_; }
  /// True for a relocatable object.
  bool relocatable() const { return relocatable_; }

  /// The tables with SFrame sections, the sections, and their faults, in the file's order.
  std::span<const SframeTable> tables() const { return tables_; }
  std::span<const SframePart> parts() const { return parts_; }
  std::span<const SframeFault> faults() const { return faults_; }

  /// The decodable non-empty functions, as sort_ranges() sorts them. Here and below, a range's owner is the
  /// number of a function of a part, or the offset of an FDE in a CFI table.
  std::span<const OwnedRange> functions() const { return functions_; }
  /// The same as disjoint ranges, by address.
  std::span<const OwnedRange> pieces() const { return pieces_; }

  /// Number of functions in all sections.
  std::uint64_t num_functions() const { return num_functions_; }

  /// .eh_frame before .debug_frame.
  std::span<const CfiTable> cfi() const { return cfi_; }
  /// The FDEs of the tables of a kind that describe code of the file, as disjoint ranges, by address.
  std::span<const OwnedRange> eh_frame() const { return eh_frame_; }
  std::span<const OwnedRange> debug_frame() const { return debug_frame_; }
  /// Those of .eh_frame, and of .debug_frame for what it does not cover.
  std::span<const OwnedRange> all_cfi() const {
    if (eh_frame_.empty()) return debug_frame_;
    return debug_frame_.empty() ? eh_frame_ : all_cfi_;
  }
  /// In the order of cfi().
  std::span<const CfiFault> cfi_faults() const { return cfi_faults_; }

  /// Executable bytes. Empty if there is no image, or if it has none.
  const AddressSet& code() const { return code_; }

  /// True for an address in a section of linker-generated stubs, which need not have CFI.
  bool in_stubs(std::uint64_t address) const { return stubs_.contains(address); }
  /// The rows computed from the stubs' instructions.
  const generate::StubRows& stub_rows() const { return stub_rows_; }

  /// The address, in the common address space, of `start` of function `fde` of a part or of FDE `fde` of a
  /// CFI table. Empty if a relocatable object's section would have to be larger than 2^40 bytes.
  std::optional<std::uint64_t> address(const SframePart& part, const EncodedFde& fde) const;
  std::optional<std::uint64_t> address(const CfiTable& table, const cfi::Fde& fde) const;

  /// The same of an offset in a section of a relocatable object. In a linked file the section does not
  /// matter, and the offset is the address.
  std::optional<std::uint64_t> address_in(std::uint32_t section, std::uint64_t offset) const;

  /// The inverse of address(): section and offset in a relocatable object, else section 0 and the address.
  Location locate(std::uint64_t address) const;

  /// A finding that concerns the addresses [begin, end) of the common address space; `begin` alone if equal.
  Finding finding(Id id, std::uint64_t begin, std::uint64_t end, std::string message) const;

private:
  static constexpr unsigned section_shift = 40;

  Result<void> add_tables(const elf::Image& image);
  void read_parts();
  void add_functions(std::uint32_t part);
  Result<void> add_cfi(const elf::Image& image, cfi::SectionKind kind);
  Result<void> add_all_cfi(const elf::Image& image);
  void add_cfi_functions(std::uint32_t number);
  void add_code();
  void add_stubs();

  Budget* budget_ = nullptr;
  std::function<void(double share)> progress_;
  const elf::Image* image_ = nullptr;
  const elf::Image* sframe_image_ = nullptr;
  bool relocatable_ = false;
  std::vector<elf::Contents> storage_;
  std::vector<SframeTable> tables_;
  std::vector<SframePart> parts_;
  std::vector<SframeFault> faults_;
  std::vector<OwnedRange> functions_, pieces_;
  std::uint64_t num_functions_ = 0;
  std::vector<CfiTable> cfi_;
  std::vector<CfiFault> cfi_faults_;
  std::vector<OwnedRange> eh_frame_, debug_frame_;
  std::vector<OwnedRange> all_cfi_; ///< empty unless both have functions
  AddressSet code_, stubs_;
  generate::StubRows stub_rows_;
};

} // namespace sframe::verify
