// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/base/program_path.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace sframe {

namespace {

bool is_program(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

} // namespace

std::optional<std::string> find_program_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const list = std::getenv("PATH");
  std::string_view folders = list ? list : "/bin:/usr/bin";
  for (;;) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    std::string path(folders.substr(0, end));
    path += (path.empty() ? "./" : "/") + name;
    if (is_program(path)) return path;
    if (end == folders.size()) return std::nullopt;
    folders.remove_prefix(end + 1);
  }
}

std::optional<std::string> find_companion(const std::string& name) {
  std::array<char, PATH_MAX> path{};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  std::string own(path.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  own.resize(own.rfind('/') + 1);
  own += name;
  if (is_program(own)) return own;
  return find_program_path(name);
}

} // namespace sframe
