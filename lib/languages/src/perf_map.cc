// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/languages/perf_map.h"

#include "sframe/base/text.h"
#include "sframe/elf/file.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace sframe::languages {

Result<PerfMap> PerfMap::read(const std::string& path) {
  return read_for(path, {});
}

Result<PerfMap> PerfMap::read(const std::string& path, std::span<const std::uint64_t> wanted) {
  return read_for(path, wanted);
}

PerfMap PerfMap::parse(std::string_view text) {
  return parse_for(text, {});
}

PerfMap PerfMap::parse(std::string_view text, std::span<const std::uint64_t> wanted) {
  return parse_for(text, wanted);
}

Result<PerfMap> PerfMap::read_for(const std::string& path, Wanted wanted) {
  const auto file = elf::File::open_regular(path);
  if (!file) return unexpected(file.error());
  const auto bytes = file->bytes();
  if (bytes.size() > max_size) return fail("map of generated code is larger than 256 MiB");
  return parse_for(as_text(bytes), wanted);
}

PerfMap PerfMap::parse_for(std::string_view text, Wanted wanted) {
  PerfMap map;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    map.add(text.substr(0, end), wanted);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return map;
}

/// Whether a function that starts there may be the one of a wanted address. Of those that start between two
/// wanted addresses only the last is: find() takes the nearest start.
bool PerfMap::make_room(std::uint64_t start, std::span<const std::uint64_t> wanted) {
  const auto next = std::ranges::lower_bound(wanted, start);
  if (next == wanted.end()) return false;
  const auto after = functions_.upper_bound(*next);
  if (after == functions_.begin()) return true;
  const auto kept = std::prev(after);
  if (kept->first > start) return false;
  if (next == wanted.begin() || kept->first > *std::prev(next)) functions_.erase(kept);
  return true;
}

void PerfMap::add(std::string_view line, Wanted wanted) {
  const char* const end = line.data() + line.size();
  std::uint64_t numbers[2] = {}; // start, size
  const char* at = line.data();
  for (std::uint64_t& number : numbers) {
    if (std::string_view(at, end).starts_with("0x")) at += 2; // some runtimes write it
    const auto read = std::from_chars(at, end, number, 16);
    if (read.ec != std::errc() || read.ptr == end || *read.ptr != ' ') return;
    at = read.ptr + 1;
  }
  if (wanted && !make_room(numbers[0], *wanted)) return;
  functions_[numbers[0]] = {numbers[1], std::string(at, end)};
}

std::optional<modules::FunctionName> PerfMap::find(std::uint64_t lookup_pc, std::uint64_t pc) const {
  const auto after = functions_.upper_bound(lookup_pc);
  if (after == functions_.begin()) return std::nullopt;
  const auto& [start, function] = *std::prev(after);
  if (lookup_pc - start >= function.size) return std::nullopt;
  return modules::FunctionName{function.name, pc - start, {}};
}

} // namespace sframe::languages
