// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "address_space.h"

#include "sframe/profile/own_vdso.h"
#include "sframe/unwind/abi.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace sframe::perf {

modules::Module& ModuleCache::find(const MappedFile& file) {
  const auto known = modules_.find(file);
  if (known != modules_.end()) return known->second;
  modules::ModuleInfo info;
  info.set_path(file.path);
  info.start = file.start;
  info.end = file.end;
  info.build_id = file.build_id;
  info.mappings = {{file.start, file.end, file.offset}};
  SharedMemory* memory = &no_memory_;
  if (file.is_vdso()) {
    memory = &memories_.emplace_back(file.start, profile::own_vdso(file.build_id));
    info.vdso = true;
    info.bias = info.header_address = file.start;
  }
  return modules_
      .emplace(std::piecewise_construct, std::forward_as_tuple(file),
               std::forward_as_tuple(std::move(info), abi_, files_, *memory))
      .first->second;
}

Mapping* Mappings::find(std::uint64_t address) {
  const auto after = by_start.upper_bound(address);
  if (after == by_start.begin()) return nullptr;
  Mapping& mapping = std::prev(after)->second;
  return address < mapping.end ? &mapping : nullptr;
}

void Mappings::add(std::uint64_t start, Mapping mapping) {
  const std::uint64_t end = mapping.end;
  auto at = by_start.lower_bound(start);
  if (at != by_start.begin()) {
    Mapping& before = std::prev(at)->second;
    // The rest after the new mapping has the same module: it is known by where it was mapped.
    if (before.end > end) by_start.emplace_hint(at, end, before);
    before.end = std::min(before.end, start);
  }
  for (at = by_start.lower_bound(start); at != by_start.end() && at->first < end;) {
    Mapping rest = at->second;
    at = by_start.erase(at);
    if (rest.end <= end) continue;
    by_start.emplace(end, std::move(rest));
    break;
  }
  by_start.insert_or_assign(start, std::move(mapping));
}

std::span<const std::byte> SampleSpace::view(std::uint64_t address) {
  if (address >= stack_start_ && address - stack_start_ < stack_.size())
    return stack_.subspan(address - stack_start_);
  modules::Module* const module = module_at(address);
  if (!module) return {};
  if (module->info().vdso && module->image()) return module->image()->bytes_at(address - module->bias());
  return module->file_bytes_at(modules::Address(address));
}

bool SampleSpace::is_code(std::uint64_t address) {
  return mappings_.find(address) != nullptr;
}

/// Addresses of user space have 48 bits, or 52 where a program asks for them.
std::uint64_t SampleSpace::code_address_mask() {
  constexpr std::uint64_t usual_end = (std::uint64_t{1} << 48) - 1;
  return unwind::code_address_mask(abi_, 0, usual_end);
}

modules::Module* SampleSpace::module_at(std::uint64_t address) {
  Mapping* const mapping = mappings_.find(address);
  if (!mapping || (!mapping->has_file && !mapping->mapped.is_vdso())) return nullptr;
  if (!mapping->module) mapping->module = &modules_.find(mapping->mapped);
  return mapping->module;
}

} // namespace sframe::perf
