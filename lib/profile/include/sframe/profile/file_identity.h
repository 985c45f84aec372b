// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which file was mapped, where no build ID says it: another one may be at its path later.

#pragma once

#include <cstdint>

struct stat;

namespace sframe::profile {

struct FileIdentity {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified = 0; ///< nanoseconds since 1970

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// That of the file of which stat(2) or fstat(2) says this.
FileIdentity identity_of(const struct stat& info);

/// Whether both are of one file, unchanged. A file of an overlay has another device and inode by its path
/// than by its mapping: there, size and time decide.
bool is_same_file(const FileIdentity& a, const FileIdentity& b);

} // namespace sframe::profile
