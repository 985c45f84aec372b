// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables in a folder, by build ID: DIR/.build-id/xx/yyyy.sframe-bpf, as `sframe-gen -o DIR/ --emit=bpf-table`
// writes them, and yyyy.USER.sframe-bpf (Identity).
//
// Whoever can write there decides how stacks are walked. So a table that another user than root may have
// written is not read, and none is written where another user may change names.
//
// A folder may have a limit: then the time of a table's file is that of its last use, and where a new one has
// no room, those that were not used for longest go. Several programs may do so at once: each counts what is
// there, and what another one has removed is not missed. Nothing else is ever removed.

#pragma once

#include "sframe/bpf/tables.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace sframe::bpf {

/// Of the files that a table is for: a build ID is what a file says of itself, so one that a user may have
/// written could have that of the C library. Its table is for files of this user only. So is that of a file
/// of a container: whoever is root there may have written it, and decides about tables of containers only.
struct Identity {
  std::string build_id;
  std::optional<uid_t> owner; ///< owner_of_changes(), or who owns a file of other mounts; nothing for most

  auto operator<=>(const Identity&) const = default;
};

class TableFolder {
public:
  /// `keeps`: keep() writes. `max_bytes`: of all tables there; 0: no limit.
  TableFolder(std::string path, bool keeps, std::uint64_t max_bytes, sframe_bpf_counts& counts)
      : path_(std::move(path)), keeps_(keeps), max_bytes_(max_bytes), counts_(counts) {}

  /// The table, which is not checked yet; empty if there is none.
  std::vector<std::byte> read(const Identity& identity) const;
  /// Whether keep() writes.
  bool keeps() const { return keeps_; }
  /// Writes it, for later programs: another one sees the whole table, or none. What fails is counted.
  void keep(const Identity& identity, std::span<const std::byte> table);

private:
  /// For a table that is not there yet. False with errno.
  bool make_room(std::uint64_t bytes);

  std::string path_; ///< empty: there is no folder
  bool keeps_;
  std::uint64_t max_bytes_;
  std::uint64_t room_ = 0; ///< for new tables until the folder is looked at again
  sframe_bpf_counts& counts_;
};

} // namespace sframe::bpf
