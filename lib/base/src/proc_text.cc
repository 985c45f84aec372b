// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/base/proc_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <sys/sysmacros.h>
#include <system_error>

namespace sframe {

namespace {

/// Removes a hexadecimal (or other) number and the character after it from the start of `text`.
std::optional<std::uint64_t> take(std::string_view& text, char delimiter, int base = 16) {
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const auto size = static_cast<std::size_t>(rest - text.data());
  if (error != std::errc() || size == text.size() || text[size] != delimiter) return std::nullopt;
  text.remove_prefix(size + 1);
  return value;
}

std::optional<MapsLine> parse_maps_line(std::string_view line) {
  MapsLine result{.line = line};
  const auto start = take(line, '-'), end = start ? take(line, ' ') : start;
  if (!end || line.size() < 5) return std::nullopt;
  result.start = *start;
  result.end = *end;
  result.readable = line[0] == 'r';
  result.writable = line[1] == 'w';
  result.executable = line[2] == 'x';
  line.remove_prefix(5);
  const auto offset = take(line, ' '), major = take(line, ':'), minor = take(line, ' ');
  const auto inode = take(line, ' ', 10);
  if (!offset || !major || !minor || !inode || *start >= *end) return std::nullopt;
  result.offset = *offset;
  result.device = makedev(static_cast<unsigned>(*major), static_cast<unsigned>(*minor));
  result.inode = *inode;
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  result.path = line;
  return result;
}

} // namespace

std::vector<MapsLine> parse_maps(std::string_view text) {
  std::vector<MapsLine> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (const auto parsed = parse_maps_line(line)) lines.push_back(*parsed);
  }
  return lines;
}

std::string status_value(std::string_view status, std::string_view key) {
  const std::string start = std::string(key) + ":\t";
  std::size_t at = 0;
  if (!status.starts_with(start)) {
    at = status.find('\n' + start);
    if (at == std::string_view::npos) return {};
    ++at;
  }
  const std::string_view rest = status.substr(at + start.size());
  return std::string(rest.substr(0, rest.find('\n')));
}

} // namespace sframe
