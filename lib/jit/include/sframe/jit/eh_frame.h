// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows as DWARF call frame information (Linux Standard Base 5.0, section 10.6; DWARF 5, section 6.4), for
// readers that do not know SFrame.

#pragma once

#include "sframe/jit/rows.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::jit {

/// An .eh_frame section for code at `start`: a CIE, an FDE and four zero bytes. All that the rows and the
/// saved registers say, and nothing for addresses before the first row. Addresses are absolute; relative to
/// their own places, if it is given where the section will be. Throws std::bad_alloc. Linear in the number of
/// rows, and saved registers sorted by offset; code of repeated blocks: times their number.
std::vector<std::byte> make_eh_frame(std::uint64_t start, const Rows& rows,
                                     std::optional<std::uint64_t> section_address = {});

} // namespace sframe::jit

#pragma GCC visibility pop
