// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/files/access.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace sframe::files {

namespace {

constexpr const char* too_many = "not opened: too many files";

/// `path` below the folder, from its first slash on; empty if it is elsewhere.
std::string path_below(const std::string& path, const std::string& folder) {
  if (folder.empty() || !path.starts_with(folder) || path.size() <= folder.size()) return {};
  if (path[folder.size()] == '/') return path.substr(folder.size());
  return folder.ends_with('/') ? '/' + path.substr(folder.size()) : std::string();
}

} // namespace

Result<elf::File> FileAccess::open(const std::string& path, NamedBy by) const {
  if (!take_file()) return fail(too_many);
  if (by != NamedBy::core) return elf::File::open_found(path);
  // A folder named by the user may be on any file system.
  const bool network = options_.trust == FileTrust::all || !options_.sysroot.empty();
  return elf::File::open_named(path, {.root = options_.sysroot, .network = network});
}

Result<elf::File> FileAccess::open_below(const std::string& root, const std::string& path) const {
  if (!take_file()) return fail(too_many);
  return elf::File::open_named(path, {.root = root, .network = true});
}

Result<elf::File> FileAccess::fetch(ServedFile what, std::span<const std::byte> build_id,
                                    std::string_view name) const {
  if (!options_.server || !options_.open_files || build_id.empty()) return fail("not fetched");
  if (!take_file()) return fail("not fetched: too many files");
  const auto path = options_.server->fetch(what, build_id, name);
  return path ? elf::File::open_regular(*path) : unexpected(path.error());
}

std::vector<std::string> FileAccess::debug_folders(const Origin& origin) const {
  std::vector<std::string> folders = options_.more_debug_dirs;
  if (options_.debug_dir.empty()) return folders;
  if (!options_.sysroot.empty()) {
    folders.push_back(elf::path_in_root(options_.sysroot, options_.debug_dir));
  } else if (options_.trust != FileTrust::none) {
    if (!origin.root.empty()) folders.push_back(origin.root + options_.debug_dir);
    folders.push_back(options_.debug_dir);
  }
  return folders;
}

Result<elf::File> FileAccess::open_companion(const std::string& path, const Origin& origin) const {
  const std::string& sysroot = options_.sysroot;
  if (!sysroot.empty()) {
    std::error_code error; // the path may be absolute already
    const std::string absolute = std::filesystem::absolute(sysroot, error).string();
    for (const std::string& root : {sysroot, absolute})
      if (const std::string inside = path_below(path, root); !inside.empty())
        return open(inside, NamedBy::core);
  }
  const bool is_beside_named = !origin.path.empty() && origin.named_by == NamedBy::user;
  const auto is_above = [&](const std::string& folder) { return !path_below(path, folder).empty(); };
  if (std::ranges::any_of(options_.more_debug_dirs, is_above)) return open(path, NamedBy::user);
  if (!sysroot.empty()) return is_beside_named ? open(path, NamedBy::user) : fail("outside the sysroot");
  if (!origin.root.empty() && path.starts_with(origin.root))
    return open_below(origin.root, path.substr(origin.root.size()));
  return open(path, origin.path.empty() ? NamedBy::core : origin.named_by);
}

} // namespace sframe::files
