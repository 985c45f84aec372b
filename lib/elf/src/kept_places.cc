// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/elf/kept_places.h"

#include "file_place.h"
#include "path_follower.h"

#include <fcntl.h>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace sframe::elf {

namespace {

/// The paths, without a slash at the end, and open descriptors of what is there.
std::vector<std::pair<std::string, int>>& kept() {
  static std::vector<std::pair<std::string, int>> all;
  return all;
}

std::string without_last_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

/// True for a path in the folder of a process in /proc, other than `own`.
bool is_of_other_process(std::string_view path, std::string_view own) {
  constexpr std::string_view processes = "/proc/";
  if (!path.starts_with(processes)) return false;
  const std::string_view below = path.substr(processes.size()), name = below.substr(0, below.find('/'));
  return !name.empty() && name.find_first_not_of("0123456789") == name.npos && name != own;
}

} // namespace

bool leads_through_process(const std::string& path) {
  std::error_code error;
  const std::string own = std::filesystem::read_symlink("/proc/self", error);
  bool found = false;
  PathFollower follower([&](const Mount& mount, const std::string& at) {
    found |= is_of_other_process(at, own);
    return !found && does_answer(mount, at);
  });
  follower.follow(std::filesystem::absolute(path, error));
  return found;
}

void keep_reachable(const std::string& path) {
  if (path.empty() || path == "-" || !leads_through_process(path)) return;
  const int fd = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (fd >= 0) kept().emplace_back(without_last_slashes(path), fd);
}

std::string reachable(const std::string& path) {
  const std::pair<std::string, int>* found = nullptr; // the longest: links are in the folders of others
  for (const auto& candidate : kept()) {
    const std::string& place = candidate.first;
    if (path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/') &&
        (!found || place.size() > found->first.size()))
      found = &candidate;
  }
  return found ? "/proc/self/fd/" + std::to_string(found->second) + path.substr(found->first.size()) : path;
}

} // namespace sframe::elf
