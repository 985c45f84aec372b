// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/profile/file_identity.h"

#include <sys/stat.h>

namespace sframe::profile {

FileIdentity identity_of(const struct stat& info) {
  return {.device = info.st_dev,
          .inode = info.st_ino,
          .size = static_cast<std::uint64_t>(info.st_size),
          .modified = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
}

bool is_same_file(const FileIdentity& a, const FileIdentity& b) {
  return a.size == b.size && a.modified == b.modified && (a.device != b.device || a.inode == b.inode);
}

} // namespace sframe::profile
