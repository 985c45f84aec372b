// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where tables for BPF are, and are kept for later recordings.

#pragma once

#include <cstdint>
#include <string>

namespace sframe::profile_tool {

struct TableFolder {
  std::string path;            ///< empty: there is none
  bool keeps = false;          ///< tables that are made are written there
  std::uint64_t max_bytes = 0; ///< of all tables there; 0: no limit
};

/// The one for --keep-generated without --sframe-dir, of at most 1 GiB. Its path is empty if the environment
/// names none.
TableFolder default_table_folder();

/// Makes it, if it is the default one: only its user may look into it, since there is a table of each program
/// that was recorded. If that is not possible, no table can be kept there.
void make_default(const TableFolder& folder);

} // namespace sframe::profile_tool
