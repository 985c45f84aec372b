// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the files in assets/, by name.

#pragma once

#include <string_view>

namespace sframe::page::assets {

extern const std::string_view
    page_html; ///< the template: {{title}}, {{generator}}, {{style}}, {{data}}, {{script}}
extern const std::string_view page_css;
extern const std::string_view page_js; ///< what the scripts of all pages use
extern const std::string_view dump_js;
extern const std::string_view verify_js;
extern const std::string_view unwind_js;
extern const std::string_view profile_js;     ///< uses flame_graph_js
extern const std::string_view flame_graph_js; ///< of an SVG picture: uses none of the others

} // namespace sframe::page::assets
