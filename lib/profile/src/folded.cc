// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/profile/folded.h"

#include "sframe/base/printable.h"

#include <algorithm>

namespace sframe::profile {

std::string folded_name(std::string_view name) {
  std::string safe = printable(name);
  std::ranges::replace(safe, ';', ':');
  return safe;
}

void write_folded(const StackCounts& counts, const Sink& to) {
  for (const auto& [stack, count] : counts) to(stack + ' ' + std::to_string(count.all) + '\n');
}

} // namespace sframe::profile
