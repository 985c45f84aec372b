// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "table_folder.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace sframe::profile_tool {

namespace {

constexpr std::uint64_t default_limit = std::uint64_t{1} << 30;

/// Of an absolute path, as the XDG Base Directory Specification has it; empty if it is none.
std::string absolute_path_in(const char* variable) {
  const char* const value = std::getenv(variable);
  return value && *value == '/' ? value : "";
}

/// For root not by its environment: after sudo, HOME may still be the folder of a user, who decided then by
/// which tables stacks are walked, and which files are removed.
std::string cache_folder() {
  if (::geteuid() == 0) return "/var/cache";
  if (std::string folder = absolute_path_in("XDG_CACHE_HOME"); !folder.empty()) return folder;
  const std::string home = absolute_path_in("HOME");
  return home.empty() ? home : home + "/.cache";
}

} // namespace

TableFolder default_table_folder() {
  const std::string cache = cache_folder();
  return {cache.empty() ? cache : cache + "/sframe", true, default_limit};
}

void make_default(const TableFolder& folder) {
  if (folder.max_bytes == 0) return;
  ::mkdir(std::filesystem::path(folder.path).parent_path().c_str(), ::geteuid() == 0 ? 0755 : 0700);
  ::mkdir(folder.path.c_str(), 0700);
}

} // namespace sframe::profile_tool
