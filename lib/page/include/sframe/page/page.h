// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A report as one HTML file: the template, style and scripts of assets/, and the report's data as JSON in a
// script element. The page needs no other file and no network. docs/reports.md describes the pages for users.
//
//    out << page_start("sframe-verify", path);
//    out << script_json(json);                         // once or in pieces
//    out << page_end(Kind::verify);
//
// Only the page's script makes text of the data visible, as text and never as markup. So the data needs one
// escape: it must not end the script element.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sframe::page {

/// Which script shows the data.
enum class Kind : std::uint8_t { dump, verify, unwind, profile };

/// The page up to its data. `program` and `title` are shown in the heading and in the browser's title; they
/// may be any bytes.
std::string page_start(std::string_view program, std::string_view title);

/// The page after its data.
std::string page_end(Kind kind);

/// JSON, or a piece of it that ends anywhere, as it may stand in a script element of HTML or XML. In JSON,
/// the characters that are escaped occur only inside strings. At most six times the size.
std::string script_json(std::string_view json);

/// Text for HTML and XML, for elements and for values of attributes in double quotes. Unsafe characters are
/// escaped as append_printable() does, first; the result is ASCII.
std::string markup_text(std::string_view text);

/// The script of the flame graph, for a script element of SVG.
std::string flame_graph_script();

} // namespace sframe::page
