// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes after a minidump's magic number and version: streams, threads, memory and modules, with the
// properties of every core. Further: memory is in address order without overlaps, and names are not longer
// than the file.

#include "core_checks.h"

#include <algorithm>
#include <vector>

namespace minidump_fuzzer {

namespace {

using namespace sframe;
using fuzz::require;

void check_lists(const core::Core& core, std::size_t size) {
  std::uint64_t end = 0;
  for (const core::MemoryRange& range : core.memory()) {
    require(range.start >= end && !range.empty());
    require(range.present == 0 || range.present == range.size);
    end = range.end();
  }
  std::size_t names = 0;
  for (const core::CoreThread& thread : core.threads()) names += thread.name.size();
  require(names <= 2 * size); // a unit of UTF-16 has at most three bytes in UTF-8
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array<std::uint8_t, 6> start = {'M', 'D', 'M', 'P', 0x93, 0xa7};
  if (size < start.size()) return 0;
  std::vector<std::uint8_t> file(data, data + size);
  std::ranges::copy(start, file.begin());
  if (const auto core = core::Core::parse(std::as_bytes(std::span(file)))) check_lists(*core, size);
  return fuzz::check_core(file.data(), size);
}

} // namespace minidump_fuzzer
