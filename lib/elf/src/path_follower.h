// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: where a path leads, found as the kernel would, with links and "..", by the table of mounts: so
// that it can be decided at each step whether the next is to be taken. A path may lead through
// /proc/PID/root, where the mounts are those of that process. Links are limited as in the kernel, so that the
// work is linear in the path.

#pragma once

#include "sframe/base/proc_text.h"

#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sframe::elf {

/// The mounts that a process sees. Empty without procfs.
class MountTable {
public:
  /// `process`: the number, or "self".
  explicit MountTable(const std::string& process);
  MountTable(const MountTable&) = delete;

  const Mount* root() const { return root_; }

  /// What a look-up of `path` in the mount `on` leads to: the topmost of what is mounted there, or `on`.
  const Mount* at(const Mount* on, const std::string& path) const;

  const std::vector<Mount>& mounts() const { return mounts_; }

private:
  std::string text_;
  std::vector<Mount> mounts_;
  std::multimap<std::string, const Mount*> by_point_;
  const Mount* root_ = nullptr;
};

/// Those of this process, read at the first call. Thread-safe.
std::shared_ptr<const MountTable> own_mounts();

/// Those of another process, read if that was not done in the last second. Thread-safe.
std::shared_ptr<const MountTable> mounts_of(const std::string& process);

/// Follows a path as the kernel does, but looks nothing up in a file system that may wait unless it is
/// allowed.
class PathFollower {
public:
  /// `may_look_up(mount, path)`: for each mount in which something is looked up.
  using MayLookUp = std::function<bool(const Mount&, const std::string&)>;
  explicit PathFollower(MayLookUp may_look_up);

  /// False if a look-up was not allowed, or there are too many links; inside() then has the rest without
  /// "..".
  bool follow(const std::filesystem::path& path);

  /// From now on, neither ".." nor an absolute link leads out of this folder.
  void stay() {
    base_ = way_.size();
    links_ = 0;
  }

  /// The way from where stay() was called.
  std::string inside() const { return way_.back().path.substr(way_[base_ - 1].path.size()); }

private:
  /// A folder, or at the end a file. The mount is nullptr if it is unknown.
  struct Place {
    std::string path; ///< empty: "/"
    std::shared_ptr<const MountTable> mounts;
    const Mount* mount;
    std::size_t root; ///< how much of the path leads to the root of `mounts`
  };
  bool may_look_up(const Place& in, const std::string& path) const {
    return !in.mount || may_look_up_(*in.mount, path);
  }
  bool enter(const std::filesystem::path& name, std::deque<std::filesystem::path>& left);

  MayLookUp may_look_up_;
  std::vector<Place> way_;
  std::size_t base_ = 1;
  int links_ = 0;
};

} // namespace sframe::elf
