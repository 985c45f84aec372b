// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "generated_names.h"

#include "name_index.h"

#include "sframe/base/proc_text.h"
#include "sframe/languages/perf_map.h"

#include <algorithm>
#include <cstdint>
#include <fcntl.h>
#include <map>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace sframe::profile_tool {

namespace {

constexpr std::size_t max_open = 64; ///< maps of processes
/// Of all maps that are read. Any user can write large ones, and reading them takes time.
constexpr std::uint64_t max_bytes = languages::PerfMap::max_size;

/// The owner is that of the process, or root: else another user could name its functions.
int open_map(const std::string& path, uid_t owner) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  struct stat now {};
  if (file < 0) return -1;
  if (::fstat(file, &now) == 0 && S_ISREG(now.st_mode) && (now.st_uid == owner || now.st_uid == 0))
    return file;
  ::close(file);
  return -1;
}

} // namespace

GeneratedNames::~GeneratedNames() {
  for (const auto& [pid, file] : files_) ::close(file);
}

void GeneratedNames::open(std::uint32_t pid) {
  if (files_.contains(pid) || files_.size() == max_open) return;
  const std::string process = "/proc/" + std::to_string(pid);
  struct stat owner {};
  if (::stat(process.c_str(), &owner) != 0) return;
  const std::string numbers = status_value(read_proc_file(process + "/status"), "NSpid");
  const std::string own = numbers.substr(numbers.find_last_of(" \t") + 1); // in its name space
  int file = open_map(process + "/root/tmp/perf-" + own + ".map", owner.st_uid);
  if (file < 0) file = open_map("/tmp/perf-" + std::to_string(pid) + ".map", owner.st_uid);
  if (file >= 0) files_.emplace(pid, file);
}

/// Small ones first: a large one takes no names from other processes.
std::vector<std::pair<std::uint64_t, std::uint32_t>> GeneratedNames::by_size() const {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sizes;
  for (const auto& [pid, file] : files_) {
    struct stat now {};
    if (::fstat(file, &now) == 0) sizes.emplace_back(static_cast<std::uint64_t>(now.st_size), pid);
  }
  std::ranges::sort(sizes);
  return sizes;
}

void GeneratedNames::name(profile::Recording& recording) {
  std::map<std::uint32_t, std::vector<profile::Location*>> named; // by process
  for (profile::Location& location : recording.locations) {
    if (location.file == profile::none) continue;
    const profile::File& file = recording.files[location.file];
    if (file.kind == profile::FileKind::generated && file.process != profile::none)
      named[recording.processes[file.process].pid].push_back(&location);
  }
  NameIndex names(recording.names);
  std::uint64_t left = max_bytes;
  for (const auto& [size, pid] : by_size()) {
    const auto locations = named.find(pid);
    if (locations == named.end()) continue;
    if (size > left) break;
    left -= size;
    std::vector<std::uint64_t> addresses;
    for (const profile::Location* const location : locations->second) addresses.push_back(location->address);
    std::ranges::sort(addresses);
    const auto map = languages::PerfMap::read("/proc/self/fd/" + std::to_string(files_.at(pid)), addresses);
    if (!map) continue;
    for (profile::Location* const location : locations->second)
      if (const auto function = map->find(location->address, location->address))
        location->name = names.add(function->name);
  }
}

} // namespace sframe::profile_tool
