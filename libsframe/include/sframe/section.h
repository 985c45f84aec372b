// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading a section: versions 1, 2 and 3, every ABI, either byte order, on any host.
//
// A Section is a view: it keeps a pointer to the caller's bytes, copies nothing and allocates nothing. Sizes
// and offsets in the bytes are untrusted: each read is checked. The header is checked when the view is made;
// functions and rows are checked when they are decoded, or all index entries at once by check_index().
//
//   auto section = sframe::Section::parse(bytes, address);
//   for (std::uint32_t i = 0; i < section->num_fdes(); ++i)
//     if (auto fde = section->fde(i)) {
//       auto rows = section->rows(*fde);
//       for (sframe::FrameRow row; rows.next(row);) ...
//       if (rows.error()) ...
//     }

#pragma once

#include "sframe/abi.h"
#include "sframe/address.h"
#include "sframe/error.h"
#include "sframe/expected.h"
#include "sframe/fde.h"
#include "sframe/row.h"
#include "sframe/version.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sframe::format { // private
struct Version;
}

#pragma GCC visibility push(default)

namespace sframe {

inline constexpr std::uint16_t magic = 0xdee2;

/// True if the bytes start with the magic number, in either byte order.
bool has_magic(std::span<const std::byte> bytes);

/// The header in host byte order (SFrame 3 specification, section 2.2).
struct Header {
  std::uint8_t version = 0;
  std::uint8_t flags = 0;
  ByteOrder byte_order = ByteOrder::little;
  std::uint8_t abi = 0;
  std::int8_t fixed_fp_offset = 0;
  std::int8_t fixed_ra_offset = 0;
  std::uint8_t aux_header_size = 0;
  std::uint32_t num_fdes = 0;
  std::uint32_t num_fres = 0;
  std::uint32_t fre_size = 0;   ///< sfh_fre_len: bytes of the FRE sub-section
  std::uint32_t fde_offset = 0; ///< sfh_fdeoff, from the end of the (auxiliary) header
  std::uint32_t fre_offset = 0; ///< sfh_freoff, from the end of the (auxiliary) header
};

/// A row as encoded in the section, with its data words not yet interpreted.
struct EncodedRow {
  std::uint32_t offset = 0; ///< as in FrameRow
  std::uint8_t info = 0;    ///< the FRE info byte
  std::uint32_t number = 0; ///< of the row in its function
  std::uint64_t section_offset = 0;
  std::uint32_t size = 0; ///< bytes in total
  const std::byte* words = nullptr;
  ByteOrder byte_order = ByteOrder::little;

  bool sp_based() const { return info & 1; } ///< fre_cfa_base_reg_id: 1 = SP, 0 = FP
  std::uint32_t word_count() const { return info >> 1 & 15; }
  std::uint32_t word_size() const { return 1u << (info >> 5 & 3); } ///< bytes: 1, 2 or 4
  bool ra_signed() const { return info >> 7; }
  /// Data word `i` < word_count() as a signed number.
  std::int32_t word(std::uint32_t i) const;
  /// Data word `i` < word_count() as an unsigned number (control words of flexible FDEs).
  std::uint32_t control(std::uint32_t i) const;
};

/// How data words map to rules: determined once per function.
struct WordMeaning {
  const AbiTraits* abi = nullptr;
  bool flex = false;
  bool fixed_ra = false;
  bool fixed_fp = false;
  bool zero_is_outermost = false; ///< no data words = RA undefined
  bool register_words = false;    ///< s390x, version 2
};

/// Iterates over the rows of one function, in the section's order. Made by Section::rows(); cheap to copy;
/// valid as long as the bytes.
class RowCursor {
public:
  /// The next row, decoded. False at the end and at the first error; see error(). Constant cost, no
  /// allocation.
  bool next(FrameRow& row);

  /// Decodes as many of the next rows as there is room for, and returns their number: fewer, or none, at the
  /// end and at the first error. Faster than one at a time. What follows them may have been written to.
  std::size_t next(std::span<FrameRow> rows);

  /// Same, and the FRE info byte of each row, which tells how it is encoded (see EncodedRow). `infos` has
  /// room for as many as `rows`.
  std::size_t next(std::span<FrameRow> rows, std::span<std::uint8_t> infos);

  /// The next row without its rules. Checks extent, order and bounds as the other overload does.
  bool next(EncodedRow& row);

  /// The last remaining row that starts at or before `offset`. Skipped rows are checked only as far as needed
  /// to stay inside the section. False if there is none, or on an error.
  bool seek(std::uint32_t offset, EncodedRow& row);

  /// The rules of a row that next(EncodedRow&) returned.
  expected<FrameRow, Error> decode(const EncodedRow& row) const;

  /// Set after an error.
  const std::optional<Error>& error() const { return error_; }

  /// True if the last row returned starts at the function's end, where assemblers put a row for call frame
  /// information after the last instruction. It holds for no address and is not an error.
  bool at_function_end() const { return function_end_ != 0 && previous_ == function_end_; }

  /// Bytes from the section's start to the next row.
  std::uint64_t section_offset() const { return static_cast<std::uint64_t>(at_ - section_begin_); }

private:
  friend class Section;
  RowCursor() = default;
  bool fail(ErrorKind kind, const std::byte* where);
  bool step(EncodedRow& row);
  template <class Infos> bool next_any(FrameRow& row, Infos infos);
  template <class Infos> std::size_t next_plain(std::span<FrameRow> rows, Infos infos);
  template <class Infos> std::size_t next_rows(std::span<FrameRow> rows, Infos infos);
  std::optional<Error> decode(const EncodedRow& row, FrameRow& out) const;

  const std::byte* at_ = nullptr;
  const std::byte* end_ = nullptr;
  const std::byte* section_begin_ = nullptr;
  std::uint32_t left_ = 0;
  std::uint32_t number_ = 0;
  std::uint32_t function_ = 0;
  std::uint32_t last_offset_ = 0;  ///< upper bound of row offsets
  std::uint32_t function_end_ = 0; ///< the function's size; 0 for PCMASK
  std::int64_t previous_ = -1;
  FreType fre_type_ = FreType::addr1;
  ByteOrder order_ = ByteOrder::little;
  bool plain_ = false; ///< next_plain() may be tried
  WordMeaning meaning_;
  std::optional<Error> error_;
};

/// The result of find(): the function and the row for an address.
struct Match {
  EncodedFde fde;
  FrameRow row;
};

class Section {
public:
  /// A view of the section at the start of `bytes`, which may be followed by more (another section, padding).
  /// `address` is the address of the first byte in the target's address space: function addresses are
  /// relative to it. Checks magic, version, ABI and that both sub-sections fit. `bytes` must outlive the
  /// view. Constant cost.
  static expected<Section, Error> parse(std::span<const std::byte> bytes, std::uint64_t address = 0);

  /// Same, for programs that show damaged sections. If a sub-section does not fit or both overlap, `fault` is
  /// set and the view has what the bytes hold: header() is as stored, num_fdes() counts the index entries
  /// that are present, and rows end where the bytes end.
  static expected<Section, Error> parse_damaged(std::span<const std::byte> bytes, std::uint64_t address,
                                                std::optional<Error>& fault);

  /// Checks every index entry (and V3 attribute). Returns the first error, if any. Linear in the number of
  /// functions.
  std::optional<Error> check_index() const;

  const Header& header() const { return header_; }
  const VersionTraits& version() const;
  const AbiTraits& abi() const { return *abi_; }
  std::uint64_t address() const { return address_; }
  std::uint32_t num_fdes() const { return num_fdes_; }
  bool sorted() const { return header_.flags & flag_sorted; }

  /// A bound on the total number of rows that no real section approaches. Functions may share their rows, so
  /// a small section can name many more rows than it has bytes; code that stores or prints something per row
  /// needs a limit. A function costs at least 16 bytes of index, and sharing saves most on short functions,
  /// so a real section stays near one row per byte.
  std::uint64_t plausible_rows() const { return 65536 + 16 * std::uint64_t{bytes_.size()}; }

  /// The bytes that belong to this section: up to the end of the later sub-section.
  std::span<const std::byte> bytes() const { return bytes_; }

  /// The auxiliary header's bytes, possibly empty.
  std::span<const std::byte> aux_header() const;

  /// Bytes from the section's start to the FDE sub-section, and to the FRE sub-section.
  std::uint64_t index_offset() const { return index_offset_; }
  std::uint64_t rows_offset() const { return rows_offset_; }

  /// Function `number` of the index. Constant cost.
  expected<EncodedFde, Error> fde(std::uint32_t number) const;

  /// The start address of function `number` < num_fdes(); sufficient for a search.
  std::uint64_t fde_start(std::uint32_t number) const;

  /// The addresses of function `number` < num_fdes(). Only the index is read: an FDE whose other fields are
  /// damaged has them, too.
  AddressRange fde_range(std::uint32_t number) const;

  /// The rows of a function of this section.
  RowCursor rows(const EncodedFde& fde) const;

  /// True if a function without rows means "outermost throughout" (version 3, default FDE type).
  bool outermost_throughout(const EncodedFde& fde) const;

  /// The function that contains `pc`. Logarithmic if the section is marked sorted, else linear.
  expected<std::optional<EncodedFde>, Error> find_fde(std::uint64_t pc) const;

  /// The function and row for `pc`; nothing if no function contains it or its first row starts later. Decodes
  /// the function's rows up to the address; index.h avoids that.
  expected<std::optional<Match>, Error> find(std::uint64_t pc) const;

private:
  Section() = default;
  bool starts_are_pcrel() const;
  std::uint64_t entry_offset(std::uint32_t number) const;
  std::optional<Error> read_fde(std::uint32_t number, EncodedFde& fde) const;
  expected<bool, Error> find_fde(std::uint64_t pc, EncodedFde& fde) const;
  template <class Start> std::uint32_t first_after(std::uint64_t pc, bool pcrel) const;

  std::span<const std::byte> bytes_;
  std::uint64_t address_ = 0;
  Header header_;
  const AbiTraits* abi_ = nullptr;
  const format::Version* version_ = nullptr;
  std::uint64_t index_offset_ = 0;
  std::uint64_t rows_offset_ = 0;
  std::uint32_t num_fdes_ = 0;  ///< present in the bytes
  std::uint32_t rows_size_ = 0; ///< bytes of the FRE sub-section that are present
};

/// Splits bytes that hold several consecutive sections, each padded to eight bytes, as written by a linker
/// that only concatenates. next() returns them in order, and nothing at the end. An Error's offset is
/// relative to the start of all bytes.
class Concatenated {
public:
  Concatenated(std::span<const std::byte> bytes, std::uint64_t address) : bytes_(bytes), address_(address) {}

  /// The next section; nothing if only zero bytes are left. An Error ends the iteration.
  expected<std::optional<Section>, Error> next();

  /// Bytes from the start to the section that next() returned last.
  std::uint64_t offset() const { return current_; }

private:
  std::span<const std::byte> bytes_;
  std::uint64_t address_;
  std::uint64_t at_ = 0;
  std::uint64_t current_ = 0;
};

} // namespace sframe

#pragma GCC visibility pop
