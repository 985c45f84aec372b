// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/crash/origin.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <sys/xattr.h>
#include <system_error>

namespace sframe::crash {

namespace {

std::string attribute(const std::string& path, const char* name) {
  std::array<char, 256> text{};
  const ssize_t size = ::getxattr(path.c_str(), name, text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 20 && text.find_first_not_of("0123456789") == text.npos;
}

/// Nothing for other text, and for numbers beyond 64 bits.
std::optional<std::uint64_t> parse(std::string_view text) {
  std::uint64_t number = 0;
  if (!is_number(text) || std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc())
    return std::nullopt;
  return number;
}

/// Seconds in old versions of systemd, else microseconds.
std::optional<std::uint64_t> microseconds(std::string_view text) {
  const auto number = parse(text);
  constexpr std::uint64_t million = 1'000'000, latest = 253'402'300'799; // the end of the year 9999
  if (!number || *number == 0 || *number / million > latest) return std::nullopt;
  return *number < 100'000 * million ? *number * million : *number;
}

} // namespace

std::optional<std::uint64_t> time_in_name(std::string_view path) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  for (const std::string_view extension : {".zst", ".xz", ".lz4", ".gz"})
    if (name.ends_with(extension)) {
      name.remove_suffix(extension.size());
      break;
    }
  if (!name.starts_with("core.")) return std::nullopt;
  std::array<std::string_view, 4> parts; // from the end: time, process, boot, user
  for (std::string_view& part : parts) {
    const std::size_t dot = name.rfind('.');
    if (dot == name.npos) return std::nullopt;
    part = name.substr(dot + 1);
    name = name.substr(0, dot);
  }
  const std::string_view boot = parts[2];
  const bool is_boot = boot.size() == 32 && boot.find_first_not_of("0123456789abcdef") == boot.npos;
  if (!is_boot || !is_number(parts[1]) || !is_number(parts[3])) return std::nullopt;
  return microseconds(parts[0]);
}

CoreOrigin origin_of(const std::string& path) {
  CoreOrigin origin;
  if (path == "-") return origin;
  origin.time = microseconds(attribute(path, "user.coredump.timestamp"));
  if (!origin.time) origin.time = time_in_name(path);
  origin.host = attribute(path, "user.coredump.hostname");
  return origin;
}

std::string time_text(std::uint64_t microseconds) {
  using namespace std::chrono;
  const sys_seconds time{seconds(microseconds / 1'000'000)};
  const sys_days day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u %02ld:%02ld:%02ld UTC", int(date.year()),
                unsigned(date.month()), unsigned(date.day()), long(clock.hours().count()),
                long(clock.minutes().count()), long(clock.seconds().count()));
  return text.data();
}

} // namespace sframe::crash
