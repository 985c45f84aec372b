// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The members of an `ar` archive (GNU, BSD and System V flavours). A thin archive holds only names of files,
// so it is refused with a Problem that says so.

#pragma once

#include "sframe/elf/problem.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace sframe::elf {

struct Member {
  std::string name;                 ///< as the archive has it, without a path or final slash
  std::span<const std::byte> bytes; ///< a view into the archive, at any alignment
};

/// True where the bytes start with the magic number of an archive, thin or not.
bool is_archive(std::span<const std::byte> bytes);

/// The members that are files (not the symbol index or the table of long names), in order. On damage, a
/// Problem with the offset. `bytes` must outlive the members. Linear in the number of members.
Result<std::vector<Member>> archive_members(std::span<const std::byte> bytes);

} // namespace sframe::elf
