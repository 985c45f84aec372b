// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/files/source_file.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::files {

namespace {

constexpr std::size_t longest_path = 4096, most_components = 64;

/// The components of a path, without "." and "..": a path that is followed from another place than the
/// compiler's has no use for them.
std::vector<std::string_view> components_of(std::string_view path) {
  std::vector<std::string_view> components;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view one = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (one.empty() || one == ".") continue;
    if (one != "..")
      components.push_back(one);
    else if (!components.empty())
      components.pop_back();
  }
  return components;
}

std::optional<elf::File> if_small(Result<elf::File> file) {
  return file && file->bytes().size() <= largest_source ? std::optional(std::move(*file)) : std::nullopt;
}

} // namespace

std::optional<elf::File> find_source(const FileAccess& access, std::span<const std::string> folders,
                                     std::span<const std::byte> build_id, const std::string& path) {
  if (path.size() > longest_path) return std::nullopt;
  const auto components = components_of(path);
  if (components.size() > most_components) return std::nullopt;
  for (const std::string& folder : folders)
    for (std::size_t dropped = 0; dropped < components.size(); ++dropped) {
      std::string name;
      for (std::size_t i = dropped; i < components.size(); ++i) name.append("/").append(components[i]);
      if (auto file = if_small(access.open_below(folder, name))) return file;
    }
  if (!path.starts_with('/')) return std::nullopt;
  if (access.options().trust == FileTrust::all)
    if (auto file = if_small(access.open(path, NamedBy::core))) return file;
  return if_small(access.fetch(ServedFile::source, build_id, path));
}

} // namespace sframe::files
