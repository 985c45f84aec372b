// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/verify/baseline.h"

#include <algorithm>
#include <charconv>

namespace sframe::verify {

namespace {

constexpr std::string_view head = "# sframe-verify baseline\n"
                                  "# file, finding, count, function; see docs/sframe-verify.md\n";

/// The text up to the next tab, which is skipped.
std::string_view field(std::string_view& rest) {
  const std::size_t tab = std::min(rest.find('\t'), rest.size());
  const std::string_view out = rest.substr(0, tab);
  rest.remove_prefix(std::min(tab + 1, rest.size()));
  return out;
}

/// Names come from files: they must not contain field or line separators.
std::string clean(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

} // namespace

Result<Baseline> Baseline::parse(std::string_view text) {
  Baseline out;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    const std::string_view file = field(line), id = field(line), count_text = field(line);
    std::uint64_t count = 0;
    const auto read = std::from_chars(count_text.data(), count_text.data() + count_text.size(), count);
    if (id.empty() || count_text.empty() || read.ec != std::errc() ||
        read.ptr != count_text.data() + count_text.size())
      return fail("line " + std::to_string(number) + " is not a baseline entry");
    std::uint64_t& sum =
        out.counts_[{clean(std::string(file)), clean(std::string(id)), clean(std::string(line))}];
    if (__builtin_add_overflow(sum, count, &sum)) sum = ~std::uint64_t{0};
  }
  return out;
}

std::string Baseline::text() const {
  std::string out(head);
  for (const auto& [key, count] : counts_)
    out.append(key.file)
        .append(1, '\t')
        .append(key.id)
        .append(1, '\t')
        .append(std::to_string(count))
        .append(1, '\t')
        .append(key.function)
        .append(1, '\n');
  return out;
}

Baseline::Key Baseline::key(std::string_view path, std::string_view id, std::string function) {
  // Removes the folder, but not that of a member's name: "dir/lib.a(x/y.o)".
  const std::size_t slash = path.substr(0, path.find('(')).rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  std::string file = clean(std::string(path));
  if (file.starts_with('#')) file[0] = ' '; // otherwise the line would be a comment
  return {std::move(file), std::string(id), clean(std::move(function))};
}

bool Baseline::take(const Key& key) {
  const auto found = counts_.find(key);
  if (found == counts_.end() || found->second == 0) return false;
  --found->second;
  return true;
}

void Baseline::merge(Baseline other) {
  counts_.merge(other.counts_);
  for (const auto& [key, count] : other.counts_) { // those that are in both
    std::uint64_t& mine = counts_[key];
    mine = std::max(mine, count);
  }
}

} // namespace sframe::verify
