// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables in a folder, by build ID: DIR/.build-id/xx/yyyy.sframe-bpf, as `sframe-gen -o DIR/ --emit=bpf-table`
// writes them, and yyyy.USER.sframe-bpf (Identity).
//
// Whoever can write there decides how stacks are walked. So a table that another user than root may have
// written is not read, and none is written where another user may change names.

#pragma once

#include "sframe/bpf/tables.h"

#include <compare>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace sframe::bpf {

/// Of the files that a table is for: a build ID is what a file says of itself, so one that a user may have
/// written could have that of the C library. Its table is for files of this user only.
struct Identity {
  std::string build_id;
  std::optional<uid_t> owner; ///< owner_of_changes(): nothing for most files

  auto operator<=>(const Identity&) const = default;
};

class TableFolder {
public:
  /// `keeps`: keep() writes.
  TableFolder(std::string path, bool keeps, sframe_bpf_counts& counts)
      : path_(std::move(path)), keeps_(keeps), counts_(counts) {}

  /// The table, which is not checked yet; empty if there is none.
  std::vector<std::byte> read(const Identity& identity) const;
  /// Writes it, for later programs: another one sees the whole table, or none. What fails is counted.
  void keep(const Identity& identity, std::span<const std::byte> table) const;

private:
  std::string path_; ///< empty: there is no folder
  bool keeps_;
  sframe_bpf_counts& counts_;
};

} // namespace sframe::bpf
