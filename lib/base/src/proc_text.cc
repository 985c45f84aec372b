// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/base/proc_text.h"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <optional>
#include <sys/sysmacros.h>
#include <system_error>
#include <unistd.h>
#include <utility>

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

/// Removes the first word and the space after it.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

/// The kernel writes spaces, line feeds and backslashes as "\040".
std::string without_escapes(std::string_view text) {
  constexpr std::size_t digits = 3;
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned code = 0;
    const char* const first = text.data() + at + 1;
    if (text[at] == '\\' && text.size() - at > digits &&
        std::from_chars(first, first + digits, code, 8).ptr == first + digits) {
      result += static_cast<char>(code);
      at += digits;
    } else {
      result += text[at];
    }
  }
  return result;
}

/// "36 35 98:0 ROOT POINT OPTIONS [MORE...] - TYPE SOURCE OPTIONS"
std::optional<Mount> parse_mount(std::string_view line) {
  const auto id = take(line, ' ', 10), parent = take(line, ' ', 10), major = take(line, ':', 10),
             minor = take(line, ' ', 10);
  const std::size_t end = line.find(" - ");
  if (!id || !parent || !major || !minor || end == line.npos) return std::nullopt;
  Mount mount{.id = *id, .parent = *parent};
  mount.device = makedev(static_cast<unsigned>(*major), static_cast<unsigned>(*minor));
  take_word(line);
  mount.point = without_escapes(take_word(line));
  line.remove_prefix(line.find(" - ") + 3);
  mount.type = take_word(line);
  return mount;
}

/// What `parse` makes of the lines; it returns nothing for those that are skipped.
template <class Parse> auto parse_lines(std::string_view text, Parse parse) {
  std::vector<typename decltype(parse(text))::value_type> parsed;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (auto one = parse(line)) parsed.push_back(std::move(*one));
  }
  return parsed;
}

} // namespace

std::string read_proc_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string text;
  for (;;) {
    const std::size_t used = text.size();
    text.resize(used + std::max<std::size_t>(used, 4096));
    const ssize_t got = ::read(fd, text.data() + used, text.size() - used);
    text.resize(used + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0) break;
  }
  ::close(fd);
  return text;
}

std::vector<MapsLine> parse_maps(std::string_view text) {
  return parse_lines(text, parse_maps_line);
}

std::vector<Mount> parse_mounts(std::string_view text) {
  return parse_lines(text, parse_mount);
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
