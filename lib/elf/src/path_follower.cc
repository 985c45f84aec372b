// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "path_follower.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace sframe::elf {

namespace fs = std::filesystem;

MountTable::MountTable(const std::string& process) {
  text_ = read_proc_file("/proc/" + process + "/mountinfo");
  mounts_ = parse_mounts(text_);
  for (const Mount& mount : mounts_) by_point_.emplace(mount.point, &mount);
  const auto is_listed = [&](std::uint64_t id) {
    return std::ranges::find(mounts_, id, &Mount::id) != mounts_.end();
  };
  for (const Mount& mount : mounts_)
    if (!root_ && mount.point == "/" && (mount.parent == mount.id || !is_listed(mount.parent)))
      root_ = at(&mount, "/");
}

const Mount* MountTable::at(const Mount* on, const std::string& path) const {
  const auto [first, last] = by_point_.equal_range(path);
  for (auto mount = first; mount != last;)
    if (mount->second->parent == on->id && mount->second != on)
      on = std::exchange(mount, first)->second;
    else
      ++mount;
  return on;
}

std::shared_ptr<const MountTable> own_mounts() {
  static const auto table = std::make_shared<const MountTable>("self");
  return table;
}

std::shared_ptr<const MountTable> mounts_of(const std::string& process) {
  using Clock = std::chrono::steady_clock;
  struct Read {
    std::shared_ptr<const MountTable> table;
    Clock::time_point good_until{}; // the process may mount more, or end, and its number be used again
  };
  static std::mutex mutex;
  static std::map<std::string, Read> all;
  const std::lock_guard lock(mutex);
  Read& read = all[process];
  if (const auto now = Clock::now(); now >= read.good_until)
    read = {std::make_shared<const MountTable>(process), now + std::chrono::seconds(1)};
  return read.table;
}

PathFollower::PathFollower(MayLookUp may_look_up) : may_look_up_(std::move(may_look_up)) {
  const auto mounts = own_mounts();
  way_.push_back({{}, mounts, mounts->root(), 0});
}

namespace {

/// "/proc/PID/root"
std::optional<std::string> process_with_root(std::string_view path) {
  constexpr std::string_view before = "/proc/", after = "/root";
  if (!path.starts_with(before) || !path.ends_with(after) || path.size() <= before.size() + after.size())
    return std::nullopt;
  const auto pid = path.substr(before.size(), path.size() - before.size() - after.size());
  if (pid.find_first_not_of("0123456789") != pid.npos) return std::nullopt;
  return std::string(pid);
}

void put_before(const fs::path& more, std::deque<fs::path>& left) {
  const fs::path relative = more.relative_path();
  left.insert(left.begin(), relative.begin(), relative.end());
}

} // namespace

bool PathFollower::enter(const fs::path& name, std::deque<fs::path>& left) {
  constexpr int most_links = 40; // as in the kernel
  const Place& here = way_.back();
  Place next = here;
  next.path += '/' + name.string();
  if (const auto process = process_with_root(next.path)) {
    next.root = next.path.size();
    next.mounts = mounts_of(*process);
    next.mount = next.mounts->root();
    way_.push_back(std::move(next));
    return true;
  }
  if (next.mount) next.mount = next.mounts->at(next.mount, next.path.substr(next.root));
  const bool is_mount_point = next.mount != here.mount;
  const bool allowed = is_mount_point || may_look_up(here, next.path);
  std::error_code error;
  const fs::path target = is_mount_point || !allowed ? fs::path() : fs::read_symlink(next.path, error);
  way_.push_back(std::move(next));
  if (target.empty()) return allowed;
  if (++links_ > most_links) return false;
  way_.pop_back();
  if (target.is_absolute()) way_.resize(base_);
  put_before(target, left);
  return true;
}

bool PathFollower::follow(const fs::path& path) {
  std::deque<fs::path> left;
  put_before(path, left);
  bool allowed = true;
  while (!left.empty()) {
    const fs::path name = std::move(left.front());
    left.pop_front();
    if (name.empty() || name == ".") continue;
    if (!allowed && name != "..")
      way_.back().path += '/' + name.string();
    else if (name != "..")
      allowed = enter(name, left);
    else if (allowed && way_.size() > base_)
      way_.pop_back();
  }
  return allowed && may_look_up(way_.back(), way_.back().path);
}

} // namespace sframe::elf
