// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The unwind tables of one module, by link address: SFrame sections (in the image or a sidecar), .eh_frame
// with or without .eh_frame_hdr, .debug_frame. A lookup costs a binary search and the decoding of one
// function's rows up to the address; callers cache results (the ready steppers do).

#pragma once

#include "sframe/cfi/index.h"
#include "sframe/elf/image.h"
#include "sframe/index.h"
#include "sframe/modules/address.h"
#include "sframe/section.h"
#include "sframe/unwind/rule_source.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::cfi {
struct ImageCfi;
}

namespace sframe {
class Budget;
}

namespace sframe::modules {

/// Bytes of a process's memory that the host has, without copying.
class ByteSource {
public:
  virtual ~ByteSource() = default;
  /// A contiguous run of bytes at `address`; empty if there is none.
  virtual std::span<const std::byte> memory_at(std::uint64_t address) = 0;
};

struct GeneratedCode;
struct Procedure;

/// The sources of the tables. All spans and images must outlive the UnwindTables.
struct TableSources {
  const elf::Image* image = nullptr;   ///< of the file, or of the process's memory
  bool image_is_memory = false;        ///< only segments can be read, through `memory`, no sections
  ByteSource* memory = nullptr;        ///< with image_is_memory
  std::uint64_t bias = 0;              ///< with image_is_memory
  std::span<const std::byte> section;  ///< with image_is_memory: .sframe, if memory does not have it
  const elf::Image* sidecar = nullptr; ///< its .sframe takes precedence over the image's own
  const elf::Image* debug = nullptr;   ///< for .debug_frame
  const GeneratedCode* code = nullptr; ///< registered by the process: its rows, if any
  bool generate = false;               ///< if there is no SFrame, convert the image's CFI
  Budget* budget = nullptr; ///< for rows and CFI instructions that lookups decode; nullptr: no limit
};

/// An SFrame section converted from CFI.
struct ConvertedSframe {
  std::span<const std::byte> bytes; ///< valid for the life of the UnwindTables
  std::uint64_t address = 0;        ///< the link address that it was made for
};

/// A damaged table.
struct TableProblem {
  std::string text;                  ///< one line, without the file's name
  const elf::Image* image = nullptr; ///< the one of TableSources that has the table
};

class UnwindTables {
public:
  /// Finds and opens the tables; reads headers only.
  UnwindTables(const TableSources& sources, const AbiTraits& abi);
  UnwindTables(UnwindTables&&) = delete; // parts refer to others

  /// Adds .debug_frame of a separate debug file, which must outlive the tables. False if it has none.
  bool add_debug(const elf::Image& image);

  /// Whom lookups charge from now on, instead of TableSources::budget.
  void set_budget(Budget* budget) { budget_ = budget; }

  /// True if there is an SFrame section: in the sidecar or the image, or converted.
  bool has_sframe() const { return !sframe_.empty(); }
  /// True if there is CFI, or a registered procedure.
  bool has_cfi() const { return !cfi_.empty() || procedure_; }

  /// The SFrame rule for an address; nothing if no function covers it or its rows are damaged.
  std::optional<unwind::SframeMatch> find_sframe(LinkAddress address);

  /// Stores the CFI row for an address in `answer` (6 KiB, so that callers reuse it); false if there is
  /// none. In a file that `sframe-gen --shrink-cfi` made, a row that contradicts SFrame is none.
  bool find_cfi(LinkAddress address, unwind::CfiMatch& answer);

  /// The FDE for an address, with its section; both are valid for the life of the tables.
  struct FoundFde {
    const cfi::CfiSection* section = nullptr;
    cfi::Fde fde;
  };
  std::optional<FoundFde> find_fde(LinkAddress address);

  /// The function that contains the address, from the first table that has it. Logarithmic.
  std::optional<AddressRange> function_at(LinkAddress address);

  /// The result of TableSources::generate, if any.
  const std::optional<ConvertedSframe>& converted() const { return converted_; }

  std::span<const TableProblem> problems() const { return problems_; }

private:
  void add_sframe(const elf::Image& image);
  void add_sframe_problem(std::string text) { problems_.push_back({std::move(text), sframe_image_}); }
  void add_sframe_bytes(std::span<const std::byte> bytes, std::uint64_t address);
  void add_cfi(const elf::Image& image, cfi::ImageCfi opened);
  void add_generated(const GeneratedCode& code);
  void generate_sframe(const elf::Image& image);
  void finish_sframe();
  bool may_index() const;
  std::optional<sframe::Error> index_sframe();
  std::optional<AddressRange> indexed_function(std::uint64_t address) const;
  bool find_row(const cfi::CfiSection& section, const cfi::Fde& fde, std::uint64_t address,
                cfi::FullRow& row);
  bool may_decode(std::uint64_t rows);
  bool is_left_to_sframe(LinkAddress address, const unwind::CfiMatch& answer);

  const AbiTraits& abi_;
  std::deque<elf::Contents> contents_; ///< owners of decompressed bytes; stable addresses
  std::vector<sframe::Section> sframe_;
  std::optional<sframe::Index> sframe_index_; ///< if the sections are not sorted
  std::vector<AddressRange> functions_;       ///< all functions, by start, if there is an index
  std::vector<cfi::FdeFinder> cfi_;
  const Procedure* procedure_ = nullptr; ///< of generated code
  std::optional<ConvertedSframe> converted_;
  std::vector<TableProblem> problems_;
  Budget* budget_;
  const elf::Image* sframe_image_;   ///< that has the SFrame sections
  Budget* file_budget_ = nullptr;    ///< of its file, by its own size
  std::uint64_t costly_lookups_ = 0; ///< of SFrame functions with very many rows
  bool is_shrunk_ = false;           ///< CFI may not be right where SFrame says something else
};

} // namespace sframe::modules

#pragma GCC visibility pop
