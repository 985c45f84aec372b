// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/languages/perf_map.h"

#include "sframe/base/text.h"
#include "sframe/elf/file.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace sframe::languages {

Result<PerfMap> PerfMap::read(const std::string& path) {
  const auto file = elf::File::open_regular(path);
  if (!file) return unexpected(file.error());
  const auto bytes = file->bytes();
  if (bytes.size() > max_size) return fail("map of generated code is larger than 256 MiB");
  return parse(as_text(bytes));
}

PerfMap PerfMap::parse(std::string_view text) {
  PerfMap map;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    map.add(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return map;
}

void PerfMap::add(std::string_view line) {
  const char* const end = line.data() + line.size();
  std::uint64_t numbers[2] = {}; // start, size
  const char* at = line.data();
  for (std::uint64_t& number : numbers) {
    if (std::string_view(at, end).starts_with("0x")) at += 2; // some runtimes write it
    const auto read = std::from_chars(at, end, number, 16);
    if (read.ec != std::errc() || read.ptr == end || *read.ptr != ' ') return;
    at = read.ptr + 1;
  }
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
