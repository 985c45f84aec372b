// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares SFrame with ORC, the Linux kernel's own unwind table (sframe/tables/orc.h): findings O501 to O507.
// ORC is made from the code by objtool, so that it is a witness apart from CFI, which kernels do not have.
//
// Rules are compared by their meaning, as with CFI. Where ORC does not know the code (between functions, and
// what objtool was told to leave alone), nothing is compared.

#pragma once

#include "sframe/tables/orc.h"
#include "sframe/verify/findings.h"
#include "sframe/verify/input.h"
#include "sframe/verify/verdicts.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sframe::verify {

/// The entries of a file's ORC table, at addresses of the Input's address space, by address. Nothing if the
/// file has none. Fails as tables::OrcTable::load() does. N log N in the entries.
Result<std::optional<std::vector<tables::OrcEntry>>> load_orc(const Input& input);

/// Reports differences by address, then what only ORC describes. Adds a verdict for every function with
/// readable rows. Returns the number of addresses that were compared. Linear in the rows and the entries,
/// with a binary search for each row.
std::uint64_t check_against_orc(const Input& input, std::span<const tables::OrcEntry> orc, Verdicts& verdicts,
                                Sink& sink);

} // namespace sframe::verify
