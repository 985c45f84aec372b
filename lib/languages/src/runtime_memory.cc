// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime_memory.h"

#include <algorithm>

namespace sframe::languages {

std::string_view function_at(modules::ModuleSpace& space, std::uint64_t address) {
  modules::Module* const module = space.module_at(address);
  const auto match = module ? module->symbols().find(module->link(address)) : std::nullopt;
  if (!match) return {};
  const std::string_view name = match->symbol->name;
  return name.substr(0, name.find('@'));
}

std::optional<std::string> RuntimeMemory::text(std::uint64_t address, std::uint64_t size, std::size_t most) {
  std::string text(std::min<std::uint64_t>(size, most), '\0');
  if (!bytes(address, std::as_writable_bytes(std::span(text)))) return std::nullopt;
  if (size > most) text += "...";
  return text;
}

std::optional<std::string> RuntimeMemory::c_string(std::uint64_t address, std::size_t most) {
  std::string text;
  while (text.size() < most) {
    const auto next = number(address + text.size(), 1);
    if (!next) return std::nullopt;
    if (*next == 0) return text;
    text += static_cast<char>(*next);
  }
  return text + "...";
}

} // namespace sframe::languages
