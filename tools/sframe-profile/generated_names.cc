// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "generated_names.h"

#include "name_index.h"

#include "sframe/base/proc_text.h"
#include "sframe/languages/perf_map.h"

#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace sframe::profile_tool {

namespace {

constexpr std::size_t max_open = 64; ///< maps of processes

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

void GeneratedNames::name(profile::Recording& recording) {
  std::map<std::uint32_t, languages::PerfMap> maps; // by process
  for (const auto& [pid, file] : files_)
    if (auto map = languages::PerfMap::read("/proc/self/fd/" + std::to_string(file)))
      maps.emplace(pid, std::move(*map));
  if (maps.empty()) return;
  NameIndex names(recording.names);
  for (profile::Location& location : recording.locations) {
    if (location.file == profile::none) continue;
    const profile::File& file = recording.files[location.file];
    if (file.kind != profile::FileKind::generated || file.process == profile::none) continue;
    const auto map = maps.find(recording.processes[file.process].pid);
    if (map == maps.end()) continue;
    if (const auto function = map->second.find(location.address, location.address))
      location.name = names.add(function->name);
  }
}

} // namespace sframe::profile_tool
