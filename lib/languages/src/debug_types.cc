// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "debug_types.h"

namespace sframe::languages {

using namespace llvm::dwarf;
using modules::DebugEntry;

DebugTypes::DebugTypes(modules::Module& module, modules::DebugInfoCache& cache, std::uint64_t address) {
  modules::DebugInfo* const debug = find_debug_info(module, cache, address);
  if (!debug) return;
  reader_.emplace(module, *debug);
  const auto chain = reader_->find_chain(reader_->location_of(address).Address);
  if (!chain.unit) return;
  for (const llvm::DWARFDie& entry : chain.unit->getUnitDIE(false).children()) {
    if (!reader_->take(Resource::debug_steps, 1)) return;
    if (entry.getTag() != DW_TAG_variable) continue;
    const char* const name = reader_->text_of({entry, debug}, DW_AT_name);
    if (name) variables_.try_emplace(name, entry);
  }
}

/// The type of an entry that has one.
std::optional<Field> DebugTypes::of_type(const DebugEntry& entry) {
  constexpr unsigned most_in_a_row = 32;
  auto type = reader_->referred(entry, DW_AT_type);
  for (unsigned i = 0; type && type->die && i < most_in_a_row; ++i) {
    if (!reader_->take(Resource::debug_steps, 1)) return std::nullopt;
    const auto tag = type->die.getTag();
    if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type) {
      const std::uint64_t unstated = tag == DW_TAG_pointer_type ? 8 : 0; // Go states none of pointers
      return Field{0, llvm::dwarf::toUnsigned(type->die.find(DW_AT_byte_size), unstated), *type};
    }
    type = reader_->referred(*type, DW_AT_type);
  }
  return std::nullopt;
}

std::optional<Field> DebugTypes::variable(std::string_view name) {
  const auto found = variables_.find(name);
  if (found == variables_.end()) return std::nullopt;
  return of_type({found->second, &reader_->debug()});
}

std::optional<Field> DebugTypes::target(const Field& pointer) {
  if (pointer.type.die.getTag() != DW_TAG_pointer_type) return std::nullopt;
  return of_type(pointer.type);
}

std::optional<Field> DebugTypes::member(const Field& structure, std::string_view name) {
  for (const llvm::DWARFDie& child : structure.type.die.children()) {
    if (!reader_->visit(child)) return std::nullopt;
    if (child.getTag() != DW_TAG_member) continue;
    const DebugEntry entry{child, structure.type.in};
    const char* const own = reader_->text_of(entry, DW_AT_name);
    if (!own || own != name) continue;
    const auto offset = llvm::dwarf::toUnsigned(child.find(DW_AT_data_member_location));
    auto found = of_type(entry);
    if (!offset || !found) return std::nullopt;
    found->offset = structure.offset + *offset;
    return found;
  }
  return std::nullopt;
}

std::optional<Field> DebugTypes::field(const Field& structure, std::initializer_list<std::string_view> path) {
  std::optional<Field> at = structure;
  for (const std::string_view name : path)
    if (!at || !(at = member(*at, name))) return std::nullopt;
  return at;
}

} // namespace sframe::languages
