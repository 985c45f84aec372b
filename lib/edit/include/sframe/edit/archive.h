// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces the contents of members of an `ar` archive (GNU, BSD and System V flavours). A thin archive holds
// only file names and is refused.

#pragma once

#include "sframe/base/problem.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::edit {

/// The archive with new contents for some members. `contents` has one entry per member of
/// elf::archive_members(), empty for those that stay. Names, order, dates, owners and modes stay, and so does
/// the symbol index except for the members' offsets: new contents must define the same symbols. Fails if
/// `contents` has fewer or more entries than the archive has members, if the index is not in the GNU, BSD or
/// Darwin format, if an entry refers to no member, or if a 32-bit index cannot hold an offset (4 GiB). Linear
/// in the archive's size.
Result<std::vector<std::byte>>
replace_members(std::span<const std::byte> archive,
                std::span<const std::optional<std::vector<std::byte>>> contents);

} // namespace sframe::edit

#pragma GCC visibility pop
