// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "source_text.h"

#include "sframe/base/text.h"
#include "sframe/elf/image.h"

#include <algorithm>

namespace sframe::unwind_tool {

namespace {

constexpr std::size_t longest_path = 4096, most_components = 64, most_files = 256;

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

bool take(const modules::Module& module, Resource resource, std::uint64_t amount) {
  Budget* const budget = module.file_options().budget.get();
  return !budget || budget->take(resource, amount);
}

} // namespace

/// The file with the most of the path's last components.
std::optional<elf::File> SourceText::look_for(modules::Module& module, const std::string& path) const {
  if (path.size() > longest_path) return std::nullopt;
  const modules::FileOptions& options = module.file_options();
  const auto open = [&](const std::string& name,
                        const elf::File::AllowedFiles& allowed) -> std::optional<elf::File> {
    if (!take(module, Resource::files, 1)) return std::nullopt;
    auto file = elf::File::open_named(name, allowed);
    if (!file || file->bytes().size() > largest_file) return std::nullopt;
    return std::move(*file);
  };
  const auto components = components_of(path);
  if (components.size() > most_components) return std::nullopt;
  for (const std::string& folder : folders_)
    for (std::size_t dropped = 0; dropped < components.size(); ++dropped) {
      std::string name;
      for (std::size_t i = dropped; i < components.size(); ++i) name.append("/").append(components[i]);
      if (auto file = open(name, {.root = folder, .network = true})) return file;
    }
  if (options.trust == modules::FileTrust::all && path.starts_with('/'))
    if (auto file = open(path, {.root = options.sysroot, .network = true})) return file;
  const auto id = module.build_id();
  if (!options.server || id.empty() || !path.starts_with('/')) return std::nullopt;
  const auto fetched = options.server->fetch(modules::ServedFile::source, id, path);
  if (!fetched) return std::nullopt;
  auto file = elf::File::open_regular(*fetched);
  if (!file || file->bytes().size() > largest_file) return std::nullopt;
  return std::move(*file);
}

const SourceText::Text* SourceText::open(modules::Module& module, const std::string& path) {
  if (files_.size() == most_files) files_.clear();
  const auto [at, added] = files_.try_emplace({elf::to_hex(module.build_id()), path});
  if (!added) return at->second ? &*at->second : nullptr;
  auto file = look_for(module, path);
  if (!file) return nullptr;
  const std::string_view all = as_text(file->bytes());
  if (!take(module, Resource::section_bytes, all.size())) {
    files_.erase(at); // the next core has a budget of its own
    return nullptr;
  }
  std::vector<std::uint32_t> starts;
  for (std::size_t start = 0; start < all.size();) {
    starts.push_back(static_cast<std::uint32_t>(start));
    start = std::min(all.find('\n', start), all.size() - 1) + 1;
  }
  return &at->second.emplace(std::move(*file), std::move(starts));
}

/// From 1 on; without its end.
std::string_view SourceText::Text::line(std::uint32_t number) const {
  const std::string_view all = as_text(file.bytes());
  const std::size_t start = starts[number - 1], end = number < starts.size() ? starts[number] : all.size();
  std::string_view line = all.substr(start, end - start);
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<SourceLines> SourceText::find(modules::Module& module, const modules::SourceLine& at) {
  if (at.file.empty() || at.line == 0) return std::nullopt;
  const Text* const text = open(module, at.file);
  if (!text || at.line > text->starts.size()) return std::nullopt;
  SourceLines lines;
  lines.first = at.line > around ? at.line - around : 1;
  const std::uint64_t last = std::min<std::uint64_t>(at.line + std::uint64_t{around}, text->starts.size());
  for (std::uint64_t number = lines.first; number <= last; ++number) {
    const std::string_view line = text->line(static_cast<std::uint32_t>(number));
    lines.text.emplace_back(line.substr(0, longest_line)).append(line.size() > longest_line ? "..." : "");
  }
  return lines;
}

} // namespace sframe::unwind_tool
