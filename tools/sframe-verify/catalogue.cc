// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "catalogue.h"

#include <algorithm>
#include <string_view>

namespace sframe::verify {

namespace {

void wrapped(tool::Output& out, std::string_view text) {
  constexpr std::size_t width = 79;
  while (!text.empty()) {
    std::size_t cut = text.size() <= width ? text.size() : text.rfind(' ', width);
    if (cut == std::string_view::npos) cut = text.size();
    out << text.substr(0, cut) << '\n';
    text.remove_prefix(cut == text.size() ? cut : cut + 1);
  }
}

} // namespace

void list_checks(tool::Output& out, bool markdown) {
  if (markdown) {
    out << checks_markdown();
    return;
  }
  for (const Check& c : checks()) {
    out << c.name << "  ";
    out.padded(severity_name(c.severity), 9) << c.title << '\n';
  }
}

void explain(tool::Output& out, const Check& check) {
  out << check.name << ' ' << check.title << " (" << severity_name(check.severity) << ")\n\n";
  wrapped(out, check.text);
  out << "\nExample:\n";
  for (std::string_view rest = check.example; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    out << "  " << rest.substr(0, end) << '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

} // namespace sframe::verify
