// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --stats: how a section uses its bytes, and how much code it describes. Collected here, printed by stats.cc
// and stats_json.cc.

#pragma once

#include "formats.h"

#include <sframe/base/address_ranges.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sframe::dump {

/// Functions, rows and bytes (of rows and attributes) of one encoding.
struct EncodingStats {
  std::uint64_t functions = 0;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
};

/// How a section's bytes are used. The members add up to the section's size, unless rows overlap without
/// being shared.
struct ByteStats {
  std::uint64_t header = 0;
  std::uint64_t aux_header = 0;
  std::uint64_t index = 0;
  std::uint64_t attributes = 0; ///< version 3: per function, before its rows
  std::uint64_t row_starts = 0; ///< of rows: start offset and info byte
  std::uint64_t data_words = 0;
  std::uint64_t padding = 0; ///< unreferenced bytes
  std::uint64_t total = 0;
};

struct PartStats {
  std::uint64_t functions = 0;
  std::uint64_t rows = 0;
  std::uint64_t words = 0;
  std::uint64_t masked = 0;       ///< functions of type PCMASK
  std::uint64_t signal = 0;       ///< functions that are signal frames
  std::uint64_t key_b = 0;        ///< functions with pointer authentication key B
  std::uint64_t without_rows = 0; ///< functions
  std::uint64_t outermost = 0;    ///< rows
  std::uint64_t max_rows = 0;     ///< of one function
  std::uint64_t max_bytes = 0;
  std::uint64_t row_bytes = 0;    ///< as used by functions: shared bytes count each time
  std::uint64_t shared_bytes = 0; ///< bytes saved by sharing
  std::uint64_t stored_rows = 0;  ///< shared rows count once
  ByteStats bytes;
  std::array<EncodingStats, 3> by_fre_type;  ///< addr1, addr2, addr4
  std::array<EncodingStats, 2> by_fde_type;  ///< default, flex
  std::array<EncodingStats, 3> by_word_size; ///< 1, 2, 4 bytes; rows and bytes of data words
};

/// The totals of an object.
struct ObjectStats {
  std::uint64_t executable_bytes = 0; ///< of executable sections, or of segments if there are no sections
  std::uint64_t covered_bytes = 0;    ///< of those, in some function's range
  std::uint64_t cfi_bytes = 0;        ///< of the executable bytes, in some FDE's range
  std::uint64_t covered_cfi_bytes = 0;
  std::uint64_t sframe = 0; ///< bytes of all SFrame sections
  std::uint64_t eh_frame = 0;
  std::uint64_t eh_frame_hdr = 0;
};

/// The rows of one function.
struct FunctionStats {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0; ///< with its attributes
};

/// Which bytes of a range of code are described, piece by piece along the range.
struct CodeMap {
  std::string section;                      ///< name; empty without section headers
  std::uint32_t space = 0;                  ///< in a relocatable object, the section's index; else 0
  AddressRange range;                       ///< in a relocatable object, its start is an offset
  std::uint64_t piece = 0;                  ///< bytes per piece; the last one may have fewer
  std::vector<std::uint64_t> covered;       ///< bytes in some function's range, per piece
  std::vector<std::uint64_t> with_cfi_only; ///< bytes in some FDE's range and in no function's
};
struct CodeMaps {
  std::vector<CodeMap> maps;  ///< the largest ranges, by address
  std::uint64_t left_out = 0; ///< other ranges
};

/// "12.3 %"; "-" of nothing.
std::string percent(std::uint64_t part, std::uint64_t whole);

/// Collects counts from what a Dumper is given.
class StatsCollector {
public:
  void begin_object(const Object& object);
  void begin_part(const Part& part);
  std::optional<Error> function(const EncodedFde& fde, const FunctionLocation& location, RowCursor& rows);
  /// The function that was added last.
  const FunctionStats& last() const { return last_; }
  /// The part's numbers; call at its end.
  PartStats part() const;
  /// The object's numbers, and maps of its code if they are requested; call at its end. N log N in the number
  /// of functions.
  ObjectStats object(CodeMaps* maps = nullptr);

private:
  /// In a relocatable object, offsets by section; else all are addresses, in section 0.
  using RangesBySection = std::map<std::uint32_t, std::vector<AddressRange>>;
  RangesBySection code_ranges() const;
  RangesBySection cfi_ranges() const;

  const Object* object_ = nullptr;
  const Section* section_ = nullptr;
  PartStats stats_;                               ///< without what part() computes from rows_by_info_
  std::array<std::uint64_t, 256> rows_by_info_{}; ///< by their FRE info byte
  FunctionStats last_;
  std::vector<bool> seen_; ///< offsets in the FRE sub-section at which a function's rows start
  RangesBySection functions_;
  // Rows as they are decoded. Not local, where they would be initialised for each function.
  std::array<FrameRow, 64> decoded_;
  std::array<std::uint8_t, 64> infos_{};
};

} // namespace sframe::dump
