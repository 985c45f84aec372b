// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The members of an `ar` archive (GNU, BSD and System V flavours), and putting other contents in their place.
// A thin archive holds only names of files, so it is refused with a Problem that says so.

#pragma once

#include "sframe/base/problem.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sframe::elf {

struct Member {
  static constexpr std::size_t max_name_size = 4096;

  std::string name;                 ///< as the archive has it, without final slash; a longer one is cut and ends in "..."
  std::span<const std::byte> bytes; ///< a view into the archive, at any alignment
};

/// True where the bytes start with the magic number of an archive, thin or not.
bool is_archive(std::span<const std::byte> bytes);

/// True for a thin archive: its members are files of their own.
bool is_thin_archive(std::span<const std::byte> bytes);

/// The members that are files (not the symbol index or the table of long names), in order. On damage, a
/// Problem with the offset. `bytes` must outlive the members. Linear in the number of members.
Result<std::vector<Member>> archive_members(std::span<const std::byte> bytes);

/// The archive with other contents for some members: one entry per member that archive_members() gives,
/// nothing for those that stay as they are. Names, order, dates, owners and modes stay, and so does the
/// symbol index but for the places of members: new contents must define the same symbols. Fails for flavours
/// whose index is none of GNU's, BSD's or Darwin's, for an index that names no member, and beyond the 4 GiB
/// that an index of 32-bit places reaches. Linear in the archive's size.
Result<std::vector<std::byte>>
replace_members(std::span<const std::byte> archive,
                std::span<const std::optional<std::vector<std::byte>>> contents);

} // namespace sframe::elf
