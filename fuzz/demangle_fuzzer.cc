// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines of text as symbol names, which have no zero bytes. What must hold: a name gives text, of bounded length, and the mangled name where it cannot be demangled.

#include "cost.h"

#include "sframe/elf/symbols.h"

#include <string_view>

using namespace sframe;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t max_text = std::size_t(1) << 20;
  const fuzz::Cost cost(size, {.memory = std::uint64_t(32) << 20});
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(std::string_view("\n\0", 2)), rest.size());
    const std::string_view name = rest.substr(0, end);
    const std::string text = elf::demangle(name);
    fuzz::require(text.size() <= std::max(name.size(), max_text), "a name that is too long");
    fuzz::require(name.empty() || !text.empty(), "no text");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return 0;
}
