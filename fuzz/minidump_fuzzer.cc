// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes as a minidump: streams, threads, memory and modules, with the properties of every core.
// Further: memory is in address order without overlaps, and names are not longer than the file.

#include "core_checks.h"

#include "sframe/elf/minidump.h"

namespace {

using namespace sframe;
using fuzz::require;

void check_lists(const elf::Core& core, std::size_t size) {
  std::uint64_t end = 0;
  for (const elf::MemoryRange& range : core.memory()) {
    require(range.start >= end && !range.empty());
    require(range.present == 0 || range.present == range.size);
    end = range.end();
  }
  std::size_t names = 0;
  for (const elf::CoreThread& thread : core.threads()) names += thread.name.size();
  require(names <= 2 * size); // a unit of UTF-16 has at most three bytes in UTF-8
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (!elf::is_minidump(bytes)) return 0;
  if (const auto core = elf::Core::parse(bytes)) check_lists(*core, size);
  return fuzz::check_core(data, size);
}
