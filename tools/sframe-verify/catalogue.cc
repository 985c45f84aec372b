// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "catalogue.h"

#include <algorithm>
#include <string_view>

namespace sframe::verify {

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
  constexpr std::size_t width = 79;
  out << wrapped(check.text, width) << "\nExample:\n";
  for (std::string_view rest = check.example; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    out << "  " << rest.substr(0, end) << '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

} // namespace sframe::verify
