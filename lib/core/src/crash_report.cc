// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/core/crash_report.h"

#include "sframe/base/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace sframe::core {

namespace {

constexpr std::string_view first_key = "ProblemType: ";

/// Takes the next line, without its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// The rest of the text after the line of a field, and that line's value.
struct Field {
  std::string_view value, rest;
};

std::optional<Field> find_field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ':') continue;
    const std::size_t start = line.find_first_not_of(' ', key.size() + 1);
    return Field{start == line.npos ? std::string_view{} : line.substr(start), text};
  }
  return std::nullopt;
}

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 64;

constexpr std::array<std::uint8_t, 256> digit_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_digit);
  for (std::size_t i = 0; i < digits.size(); ++i)
    values[static_cast<unsigned char>(digits[i])] = static_cast<std::uint8_t>(i);
  return values;
}();

/// Appends what a line encodes (RFC 4648); false if it is not base64, or cut. Each line is padded on its own.
bool decode_line(std::string_view line, std::vector<std::byte>& out) {
  while (line.ends_with('=')) line.remove_suffix(1);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char c : line) {
    const std::uint8_t value = digit_values[static_cast<unsigned char>(c)];
    if (value == no_digit) return false;
    bits = bits << 6 | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out.push_back(static_cast<std::byte>(bits >> count));
  }
  return count < 6;
}

} // namespace

bool is_crash_report(std::span<const std::byte> bytes) {
  return as_text(bytes).starts_with(first_key);
}

std::string_view report_field(std::span<const std::byte> report, std::string_view key) {
  const auto field = find_field(as_text(report), key);
  return field ? field->value : std::string_view{};
}

Result<std::vector<std::byte>> core_in_report(std::span<const std::byte> report) {
  const auto field = find_field(as_text(report), "CoreDump");
  if (!field) return fail("crash report without a core (field CoreDump)");
  if (field->value != "base64") return fail("the field CoreDump of the crash report is not base64");
  std::vector<std::byte> core;
  std::string_view rest = field->rest;
  core.reserve(rest.size() / 4 * 3);
  while (rest.starts_with(' ')) {
    std::string_view line = take_line(rest);
    line.remove_prefix(1);
    if (!decode_line(line, core)) break;
  }
  return core;
}

} // namespace sframe::core
