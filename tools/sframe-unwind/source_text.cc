// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "source_text.h"

#include "sframe/base/text.h"
#include "sframe/elf/image.h"
#include "sframe/files/source_file.h"

#include <algorithm>

namespace sframe::unwind_tool {

namespace {

constexpr std::size_t most_files = 256;

bool take(const modules::Module& module, Resource resource, std::uint64_t amount) {
  Budget* const budget = module.file_options().budget.get();
  return !budget || budget->take(resource, amount);
}

} // namespace

const SourceText::Text* SourceText::open(modules::Module& module, const std::string& path) {
  if (files_.size() == most_files) files_.clear();
  const auto [at, added] = files_.try_emplace({elf::to_hex(module.build_id()), path});
  if (!added) return at->second ? &*at->second : nullptr;
  auto file = files::find_source(module.file().access(), folders_, module.build_id(), path);
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
