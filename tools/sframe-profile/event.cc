// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "event.h"

#include "sframe/base/text.h"

#include <charconv>

namespace sframe::profile_tool {

namespace {

bool parse_number(std::string_view text, std::uint64_t& number) {
  const bool is_hexadecimal = text.starts_with("0x");
  if (is_hexadecimal) text.remove_prefix(2);
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number, is_hexadecimal ? 16 : 10);
  return error == std::errc() && at == end;
}

/// "FUNCTION", "FUNCTION+OFFSET" or "+OFFSET".
bool parse_place(std::string_view text, Event& event) {
  const std::size_t plus = text.rfind('+');
  event.name = text.substr(0, plus);
  if (plus == std::string_view::npos) return !event.name.empty();
  return parse_number(text.substr(plus + 1), event.offset);
}

} // namespace

std::string Event::text() const {
  std::string place = name;
  if (offset != 0 || name.empty()) place += "+" + hex(offset);
  switch (kind) {
  case Kind::cpu: return "cpu";
  case Kind::off_cpu: return "off-cpu";
  case Kind::wall: return "wall";
  case Kind::tracepoint: return "tracepoint:" + group + ":" + name;
  case Kind::kprobe: return "kprobe:" + place;
  case Kind::uprobe: return "uprobe:" + file + ":" + place;
  }
  return {};
}

Result<Event> parse_event(std::string_view text) {
  using Kind = Event::Kind;
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  const std::size_t last = rest.rfind(':');
  Event event;
  if (text == "cpu" || text == "off-cpu" || text == "wall") {
    event.kind = text == "cpu" ? Kind::cpu : text == "wall" ? Kind::wall : Kind::off_cpu;
    return event;
  }
  if (kind == "tracepoint" && last != std::string_view::npos && last != 0 && last + 1 != rest.size()) {
    event.kind = Kind::tracepoint;
    event.group = rest.substr(0, last);
    event.name = rest.substr(last + 1);
    return event;
  }
  if (kind == "kprobe" && parse_place(rest, event) && !event.name.empty()) {
    event.kind = Kind::kprobe;
    return event;
  }
  if (kind == "uprobe" && last != std::string_view::npos && last != 0 &&
      parse_place(rest.substr(last + 1), event)) {
    event.kind = Kind::uprobe;
    event.file = rest.substr(0, last);
    return event;
  }
  return fail("--event: '" + std::string(text) +
              "' is not cpu, off-cpu, wall, tracepoint:GROUP:NAME, kprobe:FUNCTION or uprobe:FILE:FUNCTION");
}

} // namespace sframe::profile_tool
