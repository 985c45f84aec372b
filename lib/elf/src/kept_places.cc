// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/elf/kept_places.h"

#include <algorithm>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace sframe::elf {

namespace {

namespace fs = std::filesystem;

/// The paths, without a slash at the end, and open descriptors of what is there.
std::vector<std::pair<std::string, int>>& kept() {
  static std::vector<std::pair<std::string, int>> all;
  return all;
}

std::string without_last_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// Whether the kernel, on its way, enters the folder of another process in /proc.
bool leads_through_process(const std::string& path) {
  constexpr int most_links = 40; // as in the kernel
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self", error);
  const fs::path whole = fs::absolute(path, error).lexically_normal().relative_path();
  std::deque<fs::path> left(whole.begin(), whole.end());
  fs::path at = "/";
  for (int links = 0; !left.empty();) {
    const fs::path name = std::move(left.front());
    left.pop_front();
    if (at == "/proc" && is_number(name.string()) && name != own) return true;
    if (const auto target = fs::read_symlink(at / name, error); !error && ++links <= most_links) {
      const fs::path more = target.relative_path();
      left.insert(left.begin(), more.begin(), more.end());
      if (target.is_absolute()) at = "/";
    } else {
      at = name == ".." ? at.parent_path() : at / name;
    }
  }
  return false;
}

} // namespace

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
