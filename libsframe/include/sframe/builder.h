// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing a section: the counterpart of section.h. Functions are added with their rows, in any order;
// finish() returns the section, sorted, with the smallest encoding of each row, in the requested version, ABI
// and byte order.
//
//   sframe::Builder builder({.version = sframe::VersionNumber::v3, .abi = sframe::Abi::amd64});
//   if (auto added = builder.add(fde, rows); !added) report(added.error());
//   auto bytes = builder.finish(address);
//
// A function that the version cannot represent is refused with a reason; nothing is dropped or altered
// silently.

#pragma once

#include "sframe/abi.h"
#include "sframe/address.h"
#include "sframe/expected.h"
#include "sframe/fde.h"
#include "sframe/large_vector.h"
#include "sframe/row.h"
#include "sframe/version.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sframe::format { // private
struct Version;
}

#pragma GCC visibility push(default)

namespace sframe {

struct OptimizeOptions; // optimize.h
struct WordMeaning;
struct RowBytes;

/// Why a function cannot be written.
enum class RefusalReason : std::uint8_t {
  cfa_rule,          ///< the CFA is not SP or FP plus an offset, and flexible FDEs are unavailable
  ra_rule,           ///< the version cannot represent the rule for RA
  fp_rule,           ///< the same for FP
  mixed_rules,       ///< each row is representable, but no single FDE type can represent all
  offset_range,      ///< an offset does not fit 32 bits (or register and flags do not fit a control word)
  cfa_alignment,     ///< s390x: the CFA offset is not a multiple of 8
  outermost,         ///< version 1 cannot mark an outermost frame
  signal_frame,      ///< versions 1 and 2 cannot mark a signal frame
  rep_size,          ///< a PCMASK block size that the version cannot represent
  no_rows,           ///< a function without rows, which only version 3 defines
  too_many_rows,     ///< more than 65,535 rows (version 3)
  row_order,         ///< two rows at the same offset
  row_past_end,      ///< a row at or past the function's end
  out_of_reach,      ///< the start is more than 2 GiB from the section (versions 1 and 2)
  section_too_large, ///< the section would exceed a 32-bit size
  aux_header_size,   ///< an auxiliary header of more than 255 bytes, which the size field cannot hold
  reader,            ///< the version defines the row, but UsableRows excludes it
};

/// Static text: "CFA is not SP or FP plus an offset".
const char* message(RefusalReason reason);

/// A short name for reports and JSON: "cfa-rule".
const char* reason_name(RefusalReason reason);

struct Refusal {
  static constexpr std::uint32_t none = 0xffffffff;

  RefusalReason reason{};
  std::uint32_t row = none;   ///< number of the row, in offset order, if one row is the cause
  std::uint64_t function = 0; ///< start address of the function

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

/// Rows that the versions define, but some readers cannot use. By default, all are used.
struct UsableRows {
  bool outermost = true;  ///< rows that mark the outermost frame
  bool loaded_cfa = true; ///< rows whose CFA is loaded from memory at an offset from SP or FP
  bool fp_at_cfa = true;  ///< rows with FP stored at the CFA itself
};

/// The possible addresses of a section's start fields. In versions 1 and 2 a field has 32 bits, and is
/// relative to itself or to the section's first byte.
struct StartFields {
  std::uint64_t first = 0, last = 0;

  /// The fields of a section somewhere in [lowest, highest] with at most `num_fdes` functions and any
  /// auxiliary header.
  static StartFields make(VersionNumber version, std::uint64_t lowest, std::uint64_t highest,
                          std::uint64_t num_fdes);

  /// True if a field of `version` can hold `start` at every address in the range. Distances wrap, as they do
  /// for readers.
  bool reach(VersionNumber version, std::uint64_t start) const;
};

struct BuildOptions {
  VersionNumber version = default_version;
  Abi abi = Abi::amd64;
  std::optional<ByteOrder> byte_order; ///< default: the ABI's own
  bool merge_rows = true;              ///< leave out a row that is equal to the previous one
  bool merge_functions = false;        ///< convert() calls Builder::merge_functions() at the end
  /// Functions with identical rows share their bytes, which saves a third for big libraries. A reader that
  /// swaps the byte order in place would swap shared bytes twice, so use this only for readers of the
  /// section's own byte order.
  bool share_rows = false;
  bool pcrel =
      true; ///< function starts relative to their own field (V2, V3; V1 has only section-relative starts)
  bool frame_pointer = false; ///< SFRAME_F_FRAME_POINTER (V1, V2)
  UsableRows usable;          ///< other rows are refused
  /// Functions out of reach of these fields are refused. If not given, finish() fails if one is out of reach.
  std::optional<StartFields> start_fields = {};
  std::vector<std::byte> aux_header; ///< copied unchanged; finish() refuses more than 255 bytes
};

class Builder {
public:
  explicit Builder(BuildOptions options);

  /// Adds a function. Rows may come in any order; an empty list means "outermost throughout" (version 3
  /// only). A refusal, or an exception because memory runs out, leaves the builder unchanged. Linear in the
  /// number of rows; memory grows by the encoded bytes.
  expected<void, Refusal> add(const Fde& fde, std::span<const FrameRow> rows);

  /// The rows and marks of an added function.
  class Added {
    friend Builder;
    // 12 bytes: users keep one per function.
    std::uint32_t run_ = 0;
    std::uint32_t last_offset_ = 0; ///< of the last row
    PcType pc_type_ = PcType::inc;
    std::uint8_t rep_size_ = 0;
    bool signal_frame_ = false;
    PauthKey pauth_key_ = PauthKey::a;
  };
  /// Those of the function that was added last; there must be one.
  Added last_added() const;

  /// Adds a function with the same rows and marks at another address. The size may differ: `row_past_end` if
  /// a row starts at the end or after it. Much cheaper than add(): with share_rows constant, else linear in
  /// the encoded bytes. `added` is from this builder, and no function was removed, merged or optimized since.
  expected<void, Refusal> add_again(const Added& added, std::uint64_t start, std::uint32_t size);

  /// Receives a range of addresses that was not added, and why.
  using LeftOut = std::function<void(AddressRange range, const Refusal& why)>;

  /// Adds what can be represented of a function: it is split around rows that no function can contain, and if
  /// one function cannot hold all its rows. PCMASK functions are added or left out as a whole. The rows are
  /// in order; their offsets are changed. Linear in the rows, N log N if they do not fit one function.
  void add_parts(const Fde& fde, std::span<FrameRow> rows, const LeftOut& left_out);

  /// Why no function can contain a row with these rules; nothing if one can. (Some rows are representable
  /// only separately: RefusalReason::mixed_rules.) Allocates nothing. Constant cost.
  std::optional<RefusalReason> refusal(const FrameRow& row) const;

  /// Adds the functions of `other`, which was made with the same options, as if by add(). For sections that
  /// are built in parts, on several threads. Linear in the functions and encoded bytes of `other`.
  void append(const Builder& other);

  /// Reserves memory for `functions` functions and `encoded_bytes` bytes of encoded rows in all, so that
  /// growth does not copy. Unused reserved memory costs address space only.
  void reserve(std::size_t functions, std::size_t encoded_bytes);

  /// Removes all functions; keeps the options and the memory.
  void clear();

  /// Merges adjacent functions that have the same single row (or no rows) and the same marks: fewer index
  /// entries, but a reader sees fewer functions than there are. PCMASK functions are not merged. N log N in
  /// the number of functions.
  void merge_functions();

  /// Forms smaller FDEs, or ones that are faster to search: optimize.h describes what changes.
  void optimize(const OptimizeOptions& options);

  /// Functions and rows (after merging) added so far.
  std::uint32_t num_fdes() const { return static_cast<std::uint32_t>(functions_.size()); }
  std::uint64_t num_fres() const { return num_fres_; }

  /// The section's size in bytes; independent of its address. Constant cost.
  std::uint64_t size() const;

  /// The lowest and highest address of the section at which every function is in reach.
  struct SectionAddresses {
    std::uint64_t lowest = 0, highest = 0;
  };
  /// Nothing if no address reaches all functions (versions 1 and 2). Linear in the number of functions.
  std::optional<SectionAddresses> section_addresses() const;

  /// The section for `address`: sorted by the distance from it, with the flags SORTED and, in V2 and V3,
  /// FUNC_START_PCREL. The bytes depend on what was added, not on the order of adding. N log N in the number
  /// of functions.
  expected<std::vector<std::byte>, Refusal> finish(std::uint64_t address) const;

private:
  // Big programs have hundreds of thousands of functions and runs: 24 and 16 bytes each.
  struct Function {
    Fde fde;
    std::uint32_t run;  ///< its encoded rows, in runs_
    bool joins = false; ///< optimize(): may be in one FDE with the function before
  };
  /// The encoded rows of a function, in V3 with the attributes before them: a range of encoded_.
  struct Run {
    static constexpr std::uint64_t max_at = (std::uint64_t{1} << 56) - 1; ///< more than any address space
    static constexpr std::uint8_t max_body = (1 << 6) - 1; ///< more than fifteen words of four bytes
    std::uint64_t at : 56;
    FreType fre_type : 2;       ///< V1 and V2 store it, and the number of rows, in the index
    std::uint8_t last_body : 6; ///< bytes of the last row without its offset
    std::uint32_t size;
    std::uint32_t num_fres;

    std::uint32_t offset_size() const { return 1u << static_cast<std::uint32_t>(FreType{fre_type}); }
  };
  /// A slot in the hash table of runs. The bytes are compared only if the tags are equal.
  struct Slot {
    std::uint32_t run;
    std::uint32_t tag; ///< the lower half of the hash, which also gives the slot's place
  };
  class [[gnu::visibility("hidden")]] Joins;
  class [[gnu::visibility("hidden")]] Optimizer;
  class [[gnu::visibility("hidden")]] TypeChoice;

  std::optional<Refusal> check(const Fde& fde, std::span<const FrameRow> rows) const;
  expected<std::span<const FrameRow>, Refusal> order_rows(const Fde& fde, std::span<const FrameRow> rows);
  expected<Run, Refusal> encode_rows(const Fde& fde, std::span<const FrameRow> rows, FdeType type);
  WordMeaning meaning(FdeType type) const;
  std::optional<RefusalReason> refusal(const FrameRow& row, FdeType type) const;
  struct [[gnu::visibility("hidden")]] Pieces;
  std::uint32_t add_run(const Run& run);
  Slot& slot_for(std::span<const std::byte> bytes, FreType fre_type, std::uint32_t tag);
  std::vector<std::uint32_t> tags_of_runs() const;
  Run copy_bytes(const Builder& from, const Run& run);
  std::uint32_t copy_run(const Builder& from, const Run& run);
  std::uint32_t share_run(const Builder& from, const Run& run, std::uint32_t tag);
  std::uint32_t push_run(const Run& run);
  void share_beginnings();
  void sort_functions();
  bool may_join(std::uint32_t number, const OptimizeOptions& options) const;
  bool is_overlapped(std::uint32_t number) const;
  std::vector<FdeType> types_of_runs() const;
  RowBytes row_at(const Run& run, std::uint32_t at) const;
  RowBytes last_row(const Run& run) const;
  template <class F> void each_row(const Run& run, F&& f) const;
  template <class F> void each_row(const Run& run, std::uint32_t at, std::uint32_t count, F&& f) const;
  std::optional<Builder> with_best_types() const;
  FrameRow decode_row(const RowBytes& bytes, const WordMeaning& meaning) const;
  void decode_run(const Run& run, FdeType type, std::vector<FrameRow>& rows) const;
  std::uint32_t add_run_of_needed_type(const Fde& fde, const Run& run, FdeType type);
  /// The run that has this run's bytes at its start: itself in most cases.
  std::uint32_t holder(std::uint32_t run) const { return run < holders_.size() ? holders_[run] : run; }
  bool continues(const Function& function, const Function& last) const;
  std::span<const std::byte> run_bytes(const Run& run) const { return {encoded_.data() + run.at, run.size}; }
  void make_room_in_table(std::size_t more = 1);
  void write_header(std::uint32_t fre_size, std::byte* out) const;
  std::vector<std::uint32_t> by_distance(std::uint64_t address) const;
  std::uint64_t field_offset(std::uint64_t position) const;

  BuildOptions options_;
  const AbiTraits* abi_;
  const format::Version* version_;
  ByteOrder order_;
  LargeVector<Function> functions_;
  LargeVector<Run> runs_;
  LargeVector<std::byte> encoded_;     ///< what runs_ point to
  LargeVector<Slot> table_;            ///< with share_rows: runs_ by their bytes
  std::vector<std::uint32_t> holders_; ///< holder() for the first runs_; empty before share_beginnings()
  std::vector<FrameRow> scratch_;      ///< rows being sorted or encoded again; kept for its capacity
  std::uint64_t num_fres_ = 0;
};

} // namespace sframe

#pragma GCC visibility pop
