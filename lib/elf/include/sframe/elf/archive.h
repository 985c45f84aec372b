// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The members of an `ar` archive (GNU, BSD and System V flavours), and replacing their contents. A thin
// archive holds only file names, so it is refused with a Problem.

#pragma once

#include "sframe/base/problem.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::elf {

struct Member {
  std::string name; ///< as in the archive, without final slash; a long one is cut: shown_name()
  std::span<const std::byte> bytes; ///< a view into the archive, at any alignment
};

/// True if the bytes start with the magic number of an archive, thin or not.
bool is_archive(std::span<const std::byte> bytes);

/// True for a thin archive: its members are separate files.
bool is_thin_archive(std::span<const std::byte> bytes);

/// The members that are files (not the symbol index or the table of long names), in order. Fails on damage,
/// with the offset. `bytes` must outlive the members. Linear in the number of members.
Result<std::vector<Member>> archive_members(std::span<const std::byte> bytes);

/// The archive with new contents for some members. `contents` has one entry per member of archive_members(),
/// empty for those that stay. Names, order, dates, owners and modes stay, and so does the symbol index except
/// for the members' offsets: new contents must define the same symbols. Fails if `contents` has fewer or more
/// entries than the archive has members, if the index is not in the GNU, BSD or Darwin format, if an entry
/// refers to no member, or if a 32-bit index cannot hold an offset (4 GiB).
/// Linear in the archive's size.
Result<std::vector<std::byte>>
replace_members(std::span<const std::byte> archive,
                std::span<const std::optional<std::vector<std::byte>>> contents);

} // namespace sframe::elf

#pragma GCC visibility pop
