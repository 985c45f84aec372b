// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors in the bytes of a section, with their location. Reading never throws and never aborts on input: each
// operation that can meet bad bytes returns expected<T, sframe::Error>.

#pragma once

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)

namespace sframe {

enum class ErrorKind : std::uint8_t {
  truncated_header,            ///< fewer bytes than the header and auxiliary header need
  bad_magic,                   ///< not 0xdee2 in either byte order
  unknown_version,             ///< none of sframe/versions.def
  unknown_abi,                 ///< sfh_abi_arch names no known ABI
  index_out_of_bounds,         ///< the FDE sub-section does not fit the section
  rows_out_of_bounds,          ///< the FRE sub-section does not fit the section
  overlap,                     ///< the FDE and FRE sub-sections overlap
  no_such_function,            ///< a function number at or past the number of FDEs (the caller's mistake)
  function_rows_out_of_bounds, ///< a function's rows or attributes start past the FRE sub-section
  bad_fre_type,                ///< not ADDR1, ADDR2 or ADDR4
  bad_fde_type,                ///< neither default nor flexible
  bad_rep_size,                ///< a PCMASK function whose block size is 0
  truncated_row,               ///< a row runs past the FRE sub-section
  bad_dataword_size,           ///< size code 3 in a row's info byte
  bad_dataword_count, ///< a number of data words that is not defined for the ABI, version and FDE type
  bad_register,       ///< a register number that no row can hold
  bad_rule,           ///< an undefined rule: CFA based on the CFA, an offset beyond 32 bits
  row_order,          ///< row offsets that do not increase
  row_past_end,       ///< a row that starts past the function's end or, with PCMASK, past its block
  rows_shared_partly, ///< functions whose rows overlap without being identical (byte order flip only)
  too_large,          ///< a result that exceeds the format's 32-bit sizes
};

/// An error: what and where in the section; function and row if known.
struct Error {
  static constexpr std::uint32_t none = 0xffffffff;

  ErrorKind kind{};
  std::uint64_t offset = 0;      ///< bytes from the start of the section that was passed to the reader
  std::uint32_t function = none; ///< number of the FDE in the index
  std::uint32_t row = none;      ///< number of the row in the function

  friend bool operator==(const Error&, const Error&) = default;
};

/// Static text without the location: "row runs past the FRE sub-section".
const char* message(ErrorKind kind);

/// One line with kind, function and row. The caller adds the offset, because only it has the layout of the
/// file.
std::string describe(const Error& error);

} // namespace sframe

#pragma GCC visibility pop
