// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of --format.

#pragma once

#include "run.h"

#include <sframe/base/text.h>

namespace sframe::verify {

inline Invocation invocation(const RunOptions& options) {
  return {SFRAME_VERSION, options.command_line};
}

inline std::string title(const RunOptions& options) {
  return options.files.size() == 1 ? options.files.front().path : counted(options.files.size(), "file");
}

inline constexpr OutputFormat formats[] = {
    {"text", "text, ", [](const RunOptions&, const ReportOptions& r) { return make_text_format(r); },
     Severity::note},
    {"json", "json, ", [](const RunOptions&, const ReportOptions& r) { return make_json_format(r); },
     Severity::note},
    {"sarif", "sarif, ",
     [](const RunOptions& o, const ReportOptions& r) { return make_sarif_format(r, invocation(o)); }},
    {"junit", "junit (XML), ",
     [](const RunOptions& o, const ReportOptions& r) { return make_junit_format(r, o.checks); }},
    {"gitlab", "gitlab (code quality report), ",
     [](const RunOptions&, const ReportOptions& r) { return make_gitlab_format(r); }},
    {"github", "github (annotations) or ",
     [](const RunOptions&, const ReportOptions& r) { return make_github_format(r); }},
    {"html", "html, a page with the evidence ",
     [](const RunOptions& o, const ReportOptions& r) { return make_html_format(r, title(o), invocation(o)); },
     Severity::note},
    {"markdown", "(with --list-checks also markdown)", nullptr}};
inline constexpr const OutputFormat &text_format = formats[0], &json_format = formats[1],
                                    &markdown_format = formats[7];

} // namespace sframe::verify
