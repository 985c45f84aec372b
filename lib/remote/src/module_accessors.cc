// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/remote/targets.h"

namespace sframe::remote {

CfiLocation location_of(const cfi::CfiSection& section, const cfi::Fde& fde, std::uint64_t bias) {
  return {.kind = section.kind(),
          .host = section.bytes().data(),
          .size = section.bytes().size(),
          .section = section.address(),
          .fde = section.address() + fde.offset,
          .bias = bias};
}

RemoteStatus ModuleAccessors::find_procedure(std::uint64_t ip, bool need_rules, void* arg,
                                             ProcedureInfo& info) {
  modules::Module* module = module_at(ip, arg);
  if (!module) return RemoteStatus::no_info;
  const std::uint64_t bias = module->bias();
  if (const auto found = module->find_fde(ip))
    return describe_procedure(space(), location_of(*found->section, found->fde, bias), ip, info);
  const auto row = module->find_sframe(ip);
  const auto extent = row ? module->find_function(ip) : std::nullopt;
  if (!extent) return RemoteStatus::no_info;
  info.start = extent->start;
  info.end = extent->end();
  if (need_rules) {
    info.rules = ProcedureInfo::Rules::sframe;
    info.sframe = *row;
  }
  return RemoteStatus::ok;
}

RemoteStatus ModuleAccessors::find_name(std::uint64_t address, std::span<char> buffer, std::uint64_t& offset,
                                        void* arg) {
  modules::Module* module = module_at(address, arg);
  const auto match = module ? module->symbols().find(module->link(address)) : std::nullopt;
  if (!match) return RemoteStatus::no_info;
  offset = match->offset;
  return copy_name(match->symbol->name, buffer);
}

} // namespace sframe::remote
