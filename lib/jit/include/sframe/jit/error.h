// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why rows were not made, or code was not added.

#pragma once

#include "sframe/builder.h"
#include "sframe/expected.h"

#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe::jit {

enum class ErrorKind : std::uint8_t {
  bad_range,      ///< the code is empty, or does not end in the address space
  rows,           ///< Error::refusal says what is wrong with the rows
  saved_register, ///< a saved register is SP, FP or RA, or its range is outside of the code
  wrong_size,     ///< rows for code of another size
  wrong_abi,      ///< rows of another ABI than this process's
  overlap,        ///< there is code at some of the addresses, which has not been removed
  no_region,      ///< no such region: it has been removed, moved, or is another registry's
  out_of_memory,  ///< nothing has been changed
  /// The call frame information cannot be read: Error::detail says what is wrong, Error::offset where.
  malformed_cfi,
  /// The function of the FDE at Error::offset has rules that are no rows: Error::detail says which.
  unrepresentable,
};

/// Static text: "there is other code at some of the addresses".
const char* message(ErrorKind kind);

struct Error {
  ErrorKind kind{};
  Refusal refusal;          ///< of ErrorKind::rows: the reason and the row's number
  std::uint64_t offset = 0; ///< in the section of malformed_cfi and unrepresentable
  std::string_view detail;  ///< of the same: static text, which ends with 0

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T> using Result = expected<T, Error>;

} // namespace sframe::jit

#pragma GCC visibility pop
