// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The unwind tables of one module, by link address: SFrame sections (inside the image or from a sidecar),
// .eh_frame with or without .eh_frame_hdr, .debug_frame. Looking up costs a binary search and the decoding of
// one function's rows up to the address; callers cache what they ask again (the ready steppers do).

#pragma once

#include "sframe/cfi/index.h"
#include "sframe/elf/image.h"
#include "sframe/index.h"
#include "sframe/section.h"
#include "sframe/unwind/rule_source.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sframe::cfi {
struct ImageCfi;
}

namespace sframe {
class Budget;
}

namespace sframe::modules {

/// Bytes of a process's memory that the host holds, without copying.
class ByteSource {
public:
  virtual ~ByteSource() = default;
  /// The bytes from `address` on, as far as they go in a row; empty where there are none.
  virtual std::span<const std::byte> memory_at(std::uint64_t address) = 0;
};

struct GeneratedCode;
struct Procedure;

/// Where the tables come from. All spans and images must outlive the UnwindTables.
struct TableSources {
  const elf::Image* image = nullptr;   ///< of the file, or of the process's memory
  bool image_is_memory = false;        ///< sections are not to be had, only segments, through `memory`
  ByteSource* memory = nullptr;        ///< with image_is_memory
  std::uint64_t bias = 0;              ///< with image_is_memory
  const elf::Image* sidecar = nullptr; ///< its .sframe goes before the image's own
  const elf::Image* debug = nullptr;   ///< for .debug_frame
  const GeneratedCode* code = nullptr; ///< registered by the process: its rows, where it has any
  bool generate = false;               ///< without SFrame, convert the image's CFI
  Budget* budget = nullptr; ///< for rows and CFI instructions that lookups decode; nullptr: no limit
};

/// An SFrame section that was converted from CFI.
struct ConvertedSframe {
  std::span<const std::byte> bytes; ///< valid as long as the UnwindTables
  std::uint64_t address = 0;        ///< the link address that it was made for
};

class UnwindTables {
public:
  /// Finds and opens the tables; reads headers only.
  UnwindTables(const TableSources& sources, const AbiTraits& abi);
  ~UnwindTables();

  bool has_sframe() const { return !sframe_.empty(); }
  bool has_cfi() const { return !cfi_.empty() || procedure_; }

  /// The SFrame rule for an address; nothing where no function covers it, or its rows are damaged.
  std::optional<unwind::SframeAnswer> find_sframe(std::uint64_t address);

  /// The CFI row for an address, into `answer` (6 KiB, so the caller keeps one); false where there is none.
  bool find_cfi(std::uint64_t address, unwind::CfiAnswer& answer);

  /// The FDE for an address, with the section that it is in; both are valid as long as the tables.
  struct FoundFde {
    const cfi::Section* section = nullptr;
    cfi::Fde fde;
  };
  std::optional<FoundFde> find_fde(std::uint64_t address);

  /// The function that contains the address, by the first table that has it. Logarithmic.
  std::optional<unwind::FunctionExtent> function_at(std::uint64_t address);

  /// What TableSources::generate has led to, where it has.
  const std::optional<ConvertedSframe>& converted() const { return converted_; }

  /// What is damaged, one line each.
  std::span<const std::string> problems() const { return problems_; }

private:
  void add_sframe(const elf::Image& image);
  void add_sframe_bytes(std::span<const std::byte> bytes, std::uint64_t address);
  void add_cfi(cfi::ImageCfi opened);
  void add_generated(const GeneratedCode& code);
  void generate_sframe(const elf::Image& image);
  void finish_sframe();
  std::optional<sframe::Error> index_sframe();
  std::optional<unwind::FunctionExtent> indexed_function(std::uint64_t address) const;
  class CostlyFde;
  bool find_row(const cfi::Section& section, const cfi::Fde& fde, std::uint64_t address, cfi::FullRow& row);
  bool may_decode(std::uint64_t rows);

  const AbiTraits& abi_;
  std::deque<elf::Contents> contents_; ///< owners of decompressed bytes; stable addresses
  std::vector<sframe::Section> sframe_;
  std::optional<sframe::Index> sframe_index_;     ///< where the sections are not sorted
  std::vector<unwind::FunctionExtent> functions_; ///< with the index: all of them, by start
  std::vector<cfi::FdeFinder> cfi_;
  const Procedure* procedure_ = nullptr; ///< of generated code
  std::optional<ConvertedSframe> converted_;
  std::vector<std::string> problems_;
  Budget* budget_;
  std::unique_ptr<CostlyFde> costly_fde_; ///< the last one with very many instructions
  std::uint64_t costly_lookups_ = 0;      ///< of SFrame functions with very many rows
};

} // namespace sframe::modules
