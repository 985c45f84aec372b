// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the two contexts of sframe-api.h, and how its functions return errors.
//
// Ownership: a context is made by sframe_decode() or sframe_encode() and freed by its owner, the program. It
// owns all memory that the interface returns pointers to.

#pragma once

#include "sframe-api.h"

#include "sframe/bytes.h"
#include "sframe/expected.h"
#include "sframe/section.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

struct sframe_decoder_ctx {
  /// A row that was read, and what follows it.
  struct Place {
    std::uint32_t function = 0;
    std::optional<sframe::RowCursor> rows;
    std::optional<sframe::EncodedRow> row; ///< nothing before the first one
  };

  /// The section in the host's byte order; sframe_decoder_get_fres_buf() returns pointers into it.
  std::vector<std::byte> bytes;
  sframe::Section section; ///< a view of `bytes`
  /// Where sframe_decoder_get_fre() was last: rows have no fixed size, and programs ask for them in turn.
  /// Only the thread that set `place_taken` uses it.
  mutable Place place = {};
  mutable std::atomic_flag place_taken = {};
};

struct sframe_encoder_ctx {
  /// A function; its rows are encoded when they are added.
  struct Function {
    std::int64_t start = 0; ///< as added: relative to the field
    std::uint32_t size = 0;
    std::uint8_t info = 0, info2 = 0, rep_size = 0;
    std::uint32_t num_fres = 0;
    std::vector<std::byte> rows; ///< in the section's byte order
  };

  std::uint8_t flags;
  const sframe::AbiTraits* abi;
  std::int8_t fixed_fp_offset, fixed_ra_offset;
  std::vector<Function> functions;
  std::vector<std::byte> written; ///< what sframe_encoder_write() returned last
};

namespace sframe::gnu {

/// An error code of sframe-api.h or a value.
template <class Value> using Result = expected<Value, int>;

/// The most data words of a row. GNU's interface has no room for more.
inline constexpr std::uint32_t max_words = MAX_NUM_DATAWORDS;

/// A row of the interface as the codec's.
inline EncodedRow view(const sframe_frame_row_entry& fre) {
  return {.offset = fre.fre_start_addr,
          .info = fre.fre_info,
          .words = reinterpret_cast<const std::byte*>(fre.fre_datawords),
          .byte_order = host_order};
}

inline bool is_valid(const EncodedRow& row) {
  return row.word_size() <= 4 && row.word_count() <= max_words;
}

inline void report(int error, int* errp) {
  if (errp) *errp = error;
}

/// Returns the result of `body`, an int, or SFRAME_ERR for its exception: no exception leaves the interface.
template <class Body> int guarded(Body&& body) {
  try {
    return body();
  } catch (const std::exception&) { // out of memory; the library throws nothing else
    return SFRAME_ERR;
  }
}

/// Returns the pointer that `body` returns, or nullptr and the error code.
template <class Body> auto guarded_pointer(int* errp, Body&& body) -> typename decltype(body())::value_type {
  try {
    auto result = body();
    if (result) return *result;
    report(result.error(), errp);
  } catch (const std::exception&) {
    report(SFRAME_ERR_NOMEM, errp);
  }
  return nullptr;
}

} // namespace sframe::gnu
