// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "module_callbacks.h"

#include "guard.h"
#include "proc_info.h"
#include "registers.h"

namespace sframe::libunwind {

int find_proc_info(remote::ModuleAccessors* target, unw_word_t ip, unw_proc_info_t* info,
                   int need_unwind_info) {
  if (!target || !info) return -UNW_EINVAL;
  return guarded([&] {
    remote::ProcedureInfo found;
    const auto status = target->find_procedure(ip, need_unwind_info, nullptr, found);
    if (status == remote::RemoteStatus::ok) to_c(found, need_unwind_info, *info);
    return negated(status);
  });
}

int access_mem(remote::ModuleAccessors* target, unw_word_t address, unw_word_t* value, int write) {
  if (!target || !value) return -UNW_EINVAL;
  return guarded([&] { return negated(target->access_memory(address, *value, write, nullptr)); });
}

int access_reg(remote::ModuleAccessors* target, unw_regnum_t reg, unw_word_t* value, int write) {
  if (!target || !value) return -UNW_EINVAL;
  const TargetRegisters& registers = registers_of(target->abi());
  const auto number = registers.dwarf_of(reg, target->abi());
  if (!number || registers.is_fp(reg)) return -UNW_EBADREG;
  return guarded([&] { return negated(target->access_register(*number, *value, write, nullptr)); });
}

int access_fpreg(remote::ModuleAccessors* target, unw_regnum_t reg, unw_fpreg_t* value, int write) {
  if (!target || !value) return -UNW_EINVAL;
  const TargetRegisters& registers = registers_of(target->abi());
  const auto number = registers.dwarf_of(reg, target->abi());
  if (!number || !registers.is_fp(reg)) return -UNW_EBADREG;
  return guarded([&] {
    std::uint64_t bits = 0;
    std::memcpy(&bits, value, sizeof bits);
    const auto status = target->access_register(*number, bits, write, nullptr);
    if (!write) std::memcpy(value, &bits, sizeof bits);
    return negated(status);
  });
}

int get_proc_name(remote::ModuleAccessors* target, unw_word_t ip, char* buffer, size_t size,
                  unw_word_t* offset) {
  if (!target || (!buffer && size)) return -UNW_EINVAL;
  return guarded([&] {
    std::uint64_t into = 0;
    const auto status = target->find_name(ip, std::span(buffer, size), into, nullptr);
    if (offset) *offset = into;
    return negated(status);
  });
}

} // namespace sframe::libunwind
