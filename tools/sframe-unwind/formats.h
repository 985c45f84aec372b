// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of --format.

#pragma once

namespace sframe::unwind_tool {

struct OutputFormat {
  const char* name;
  const char* help;         ///< its part of the option's text
  bool counts = false;      ///< equal stacks
  bool for_browser = false; ///< not for a terminal
};
inline constexpr OutputFormat output_formats[] = {
    {"text", "text, "},
    {"json", "json, "},
    {.name = "html", .help = "html (a page, with --registers and --source), ", .for_browser = true},
    {"folded", "folded (stacks and counts) or ", true},
    {"svg", "svg (flame graph) (default: text)", true, true}};
inline constexpr const OutputFormat &text_format = output_formats[0], &json_format = output_formats[1],
                                    &html_format = output_formats[2], &svg_format = output_formats[4];

} // namespace sframe::unwind_tool
