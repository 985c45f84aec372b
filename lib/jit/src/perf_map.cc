// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/jit/publishers.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <string>

namespace sframe::jit {

bool PerfMap::add(const PublishedCode& code) {
  if (code.name.empty()) return file_.is_open();
  try {
    std::array<char, 40> range;
    const int size =
        std::snprintf(range.data(), range.size(), "%llx %x ", static_cast<unsigned long long>(code.start),
                      static_cast<unsigned>(code.rows.code_size()));
    std::string line(range.data(), static_cast<std::size_t>(size));
    line += code.name;
    std::ranges::replace(line, '\n', ' '); // ends a line
    line += '\n';
    return file_.write(line.data(), line.size());
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// A map has no way to say it: what is at an address later has a later line.
void PerfMap::drop(const PublishedCode&) {}

} // namespace sframe::jit
