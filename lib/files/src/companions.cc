// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where each kind of companion is looked for, in this order: next to what names it, in the debug directories,
// at a server. Each candidate is opened by FileAccess, which decides whether it may be, and counts as a file
// of the budget; one that has another build ID than the image is not used.

#include "sframe/files/companions.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace sframe::files {

namespace {

using Role = OpenFiles::Role;

/// ".build-id/xx/yyyy.debug" in a folder; empty without a folder or a build ID.
std::string by_build_id(const std::string& folder, std::span<const std::byte> id,
                        std::string_view extension) {
  const std::string path = elf::build_id_path(id, extension);
  return path.empty() || folder.empty() ? std::string() : folder + '/' + path;
}

/// `path`: where the image is, or would be in the folders.
std::optional<OpenedFile> search(const FileAccess& access, const elf::Image& image, const std::string& path,
                                 const Origin& origin, std::vector<Rejected>* rejected) {
  return find_debug_file(
      image, path, access.debug_folders(origin), access.options().limits(), rejected,
      [&](const std::string& candidate) { return access.open_companion(candidate, origin); });
}

/// Looks for a debug file.
class DebugSearch {
public:
  DebugSearch(const FileAccess& access, const Subject& subject) : access_(access), subject_(subject) {}

  FoundDebug run() {
    FoundDebug found = subject_.image ? of_file() : of_build_id();
    if (found.image || !subject_.origin.is_served) return found;
    FoundDebug fetched = from_server();
    if (fetched.image || found.problem.empty()) return fetched;
    return found;
  }

private:
  FoundDebug of_file() {
    std::vector<Rejected> rejected;
    auto found = find_debug_file(access_, *subject_.image, subject_.origin, &rejected);
    if (!found && !subject_.origin.root.empty()) // .gnu_debuglink below the debug folder of its root
      found = search(access_, *subject_.image, subject_.origin.name, subject_.origin, nullptr);
    if (found) return use(std::move(*found).take_file());
    if (rejected.empty()) return {};
    return {nullptr, rejected.front().path + ": debug file not used: " + rejected.front().why};
  }

  FoundDebug of_build_id() {
    for (const std::string& folder : access_.debug_folders(subject_.origin)) {
      const std::string path = by_build_id(folder, subject_.build_id, ".debug");
      auto file = path.empty() ? fail("") : access_.open_companion(path, subject_.origin);
      if (!file) continue; // most images have none: no problem
      if (auto found = with_build_id(std::move(*file))) return {std::move(found), {}};
    }
    return {};
  }

  FoundDebug from_server() {
    std::vector<Rejected> rejected;
    auto found = fetch_debug_file(access_, subject_.build_id, subject_.abi, &rejected);
    if (found) return use(std::move(*found).take_file());
    if (rejected.empty()) return {}; // servers do not have all files
    return {nullptr, subject_.origin.name + ": debug file not used: " + rejected.front().why};
  }

  std::shared_ptr<SharedImage> with_build_id(elf::File file) {
    auto shared = access_.share(std::move(file), Role::debug_file);
    const elf::Image* const image = shared->image();
    if (!image || image->abi() != subject_.abi || !std::ranges::equal(image->build_id(), subject_.build_id))
      return nullptr;
    shared->file()->file().accept();
    return shared;
  }

  /// A file whose build ID or checksum was compared.
  FoundDebug use(elf::File file) {
    auto shared = access_.share(std::move(file), Role::debug_file);
    shared->file()->file().accept();
    return {std::move(shared), {}};
  }

  const FileAccess& access_;
  const Subject& subject_;
};

/// Where the alternate file may be.
std::vector<std::string> alternate_paths(const FileAccess& access, const AlternateLink& link,
                                         const std::string& debug_path, const Origin& origin) {
  std::vector<std::string> paths;
  const std::string& sysroot = access.options().sysroot;
  if (!link.name.starts_with('/'))
    paths.push_back(debug_path.substr(0, debug_path.rfind('/') + 1) + link.name); // npos + 1 is 0
  else
    paths.push_back(sysroot.empty() ? link.name : elf::path_in_root(sysroot, link.name));
  // Debian has them in .dwz below the debug folder.
  const std::size_t shared = link.name.rfind("/.dwz/");
  for (const std::string& folder : access.debug_folders(origin)) {
    if (shared != link.name.npos) paths.push_back(folder + link.name.substr(shared));
    paths.push_back(by_build_id(folder, link.build_id, ".debug"));
  }
  std::erase(paths, std::string());
  return paths;
}

} // namespace

std::optional<OpenedFile> find_debug_file(const FileAccess& access, const elf::Image& image,
                                          const Origin& origin, std::vector<Rejected>* rejected) {
  return search(access, image, origin.path, origin, rejected);
}

std::optional<OpenedFile> fetch_debug_file(const FileAccess& access, std::span<const std::byte> build_id,
                                           const AbiTraits* abi, std::vector<Rejected>* rejected) {
  auto file = access.fetch(ServedFile::debug_file, build_id);
  if (!file) return std::nullopt;
  OpenedFile opened(std::move(*file), access.options().limits());
  if (const auto& image = opened.image();
      image && image->abi() == abi && std::ranges::equal(image->build_id(), build_id))
    return opened;
  rejected->push_back({opened.path(), "the file from the server has another build ID"});
  return std::nullopt;
}

FoundDebug find_debug_image(const FileAccess& access, const Subject& subject) {
  return DebugSearch(access, subject).run();
}

std::shared_ptr<SharedImage> find_alternate(const FileAccess& access, const SharedImage& debug,
                                            const Origin& origin) {
  const auto link = debug.image() ? alternate_link(*debug.image()) : std::nullopt;
  if (!link || !debug.file() || !access.options().open_files) return nullptr;
  const auto use = [&](Result<elf::File> file) -> std::shared_ptr<SharedImage> {
    if (!file) return nullptr;
    auto shared = access.share(std::move(*file), Role::debug_file);
    if (!shared->image() || shared.get() == &debug || !is_linked(*link, *shared->image())) return nullptr;
    shared->file()->file().accept();
    return shared;
  };
  for (const std::string& path : alternate_paths(access, *link, debug.file()->path(), origin))
    if (auto found = use(access.open_companion(path, origin))) return found;
  return origin.is_served ? use(access.fetch(ServedFile::debug_file, link->build_id)) : nullptr;
}

namespace {

/// The image that is at `path` as a sidecar: with a problem if it is none of this image.
FoundSidecar opened_sidecar(elf::File file, const std::string& path, std::span<const std::byte> build_id,
                            const AbiTraits& abi, Limits limits) {
  FoundSidecar found{OpenedFile(std::move(file), limits), {}};
  const auto& image = found.file->image();
  if (!image)
    found.problem = path + ": " + image.error().text();
  else if (image->abi() != &abi)
    found.problem = path + ": wrong machine";
  else if (!std::ranges::equal(image->build_id(), build_id))
    found.problem = path + ": build ID mismatch";
  else
    found.file->file().accept();
  return found;
}

} // namespace

FoundSidecar find_sidecar(const FileAccess& access, std::span<const std::byte> build_id,
                          const AbiTraits& abi) {
  const FileOptions& options = access.options();
  const std::string path =
      options.open_files ? by_build_id(options.sframe_dir, build_id, ".sframe") : std::string();
  auto file = path.empty() ? fail("") : access.open(path, NamedBy::user);
  if (!file) return {}; // not every image has one
  return opened_sidecar(std::move(*file), path, build_id, abi, options.limits());
}

FoundSidecar find_installed_sidecar(const FileAccess& access, std::span<const std::byte> build_id,
                                    const AbiTraits& abi, const Origin& origin) {
  if (!access.options().open_files) return {};
  for (const std::string& folder : access.debug_folders(origin)) {
    const std::string path = by_build_id(folder, build_id, ".sframe");
    auto file = path.empty() ? fail("") : access.open_companion(path, origin);
    if (file) return opened_sidecar(std::move(*file), path, build_id, abi, access.options().limits());
  }
  return {};
}

std::vector<elf::File> files_beside(const FileAccess& access, const Origin& origin,
                                    std::span<const std::string> files, std::string_view name) {
  namespace fs = std::filesystem;
  std::vector<elf::File> found;
  const fs::path relative{name};
  const bool leaves = std::ranges::any_of(relative, [](const fs::path& part) { return part == ".."; });
  if (relative.empty() || relative.is_absolute() || leaves || !access.options().open_files) return found;
  std::vector<std::string> folders;
  for (const std::string& file : files)
    if (!file.empty()) folders.push_back(fs::path(file).parent_path().string());
  const std::vector<std::string>& more = access.options().more_debug_dirs;
  folders.insert(folders.end(), more.begin(), more.end());
  for (const std::string& folder : folders)
    if (auto file = access.open_companion((fs::path(folder) / relative).string(), origin))
      found.push_back(std::move(*file));
  return found;
}

std::optional<elf::File> file_of_build(const FileAccess& access, const std::string& path) {
  if (access.options().trust != FileTrust::all || !access.options().open_files) return std::nullopt;
  auto file = access.open(path, NamedBy::core);
  return file ? std::optional(std::move(*file)) : std::nullopt;
}

} // namespace sframe::files
