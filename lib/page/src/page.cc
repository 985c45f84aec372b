// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/page/page.h"

#include "assets.h"
#include "sframe/base/printable.h"

#include <charconv>
#include <utility>

namespace sframe::page {

namespace {

/// The parts of the template before and after the data.
std::pair<std::string_view, std::string_view> halves() {
  constexpr std::string_view data = "{{data}}";
  const std::size_t at = assets::page_html.find(data);
  return {assets::page_html.substr(0, at), assets::page_html.substr(at + data.size())};
}

/// Values are not searched for further names.
std::string filled(std::string_view text,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string result;
  for (;;) {
    const std::size_t begin = text.find("{{");
    if (begin == std::string_view::npos) return result += text;
    const std::size_t end = text.find("}}", begin);
    const std::string_view name = text.substr(begin + 2, end - begin - 2);
    result += text.substr(0, begin);
    for (const auto& [key, value] : values)
      if (key == name) result += value;
    text.remove_prefix(end + 2);
  }
}

void append_escaped(std::string& to, char c) {
  switch (c) {
  case '&': to += "&amp;"; break;
  case '<': to += "&lt;"; break;
  case '>': to += "&gt;"; break;
  case '"': to += "&quot;"; break;
  default: to += c;
  }
}

std::string_view script_of(Kind kind) {
  switch (kind) {
  case Kind::dump: return assets::dump_js;
  case Kind::verify: return assets::verify_js;
  case Kind::unwind: return assets::unwind_js;
  case Kind::profile: return assets::profile_js;
  }
  return {};
}

} // namespace

std::string page_start(std::string_view program, std::string_view title) {
  return filled(halves().first, {{"program", markup_text(program)},
                                 {"title", markup_text(title)},
                                 {"version", SFRAME_VERSION},
                                 {"style", assets::page_css}});
}

std::string page_end(Kind kind) {
  std::string script(assets::page_js);
  if (kind == Kind::profile) script += assets::flame_graph_js;
  return filled(halves().second, {{"script", script.append(script_of(kind))}});
}

std::string script_json(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  for (const char c : json) {
    switch (c) {
    case '<': result += "\\u003c"; break;
    case '>': result += "\\u003e"; break;
    case '&': result += "\\u0026"; break;
    default: result += c;
    }
  }
  return result;
}

std::string markup_text(std::string_view text) {
  std::string result;
  const std::string safe = printable(text);
  for (std::string_view rest = safe; !rest.empty();) {
    const TextPiece piece = first_piece(rest);
    const char c = rest.front();
    if (static_cast<unsigned char>(c) >= 0x80) {
      char digits[8];
      // XML has no U+FFFE and U+FFFF.
      const bool is_character = piece.code != 0xfffe && piece.code != 0xffff;
      const std::uint32_t code = is_character ? piece.code : 0xfffd;
      const auto end = std::to_chars(digits, digits + sizeof digits, code).ptr;
      result.append("&#").append(digits, end).append(";");
    } else {
      append_escaped(result, c);
    }
    rest.remove_prefix(piece.size);
  }
  return result;
}

/// Not as text from a file: line feeds stay.
std::string flame_graph_script() {
  std::string result;
  for (const char c : assets::flame_graph_js) append_escaped(result, c);
  return result += "drawFlameGraph(document.documentElement);\n";
}

} // namespace sframe::page
