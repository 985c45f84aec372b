// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that a user's find_proc_info() calls: find the procedure by a table.

#include "debug_frame.h"
#include "space.h"

using namespace sframe;
using libunwind::negated;
using libunwind::UNW_TARGET::space_of;
using libunwind::UNW_TARGET::target_registers;
using remote::RemoteStatus;

namespace {

int search_table(unw_addr_space_t space, unw_word_t ip, const unw_dyn_info_t& table, unw_proc_info_t& info,
                 int need_unwind_info, void* arg) {
  remote::CallbackView target(space_of(space).space, arg);
  remote::ProcedureInfo found;
  RemoteStatus status = RemoteStatus::invalid;
  if (table.format == UNW_INFO_FORMAT_TABLE) {
    status = libunwind::search_debug_frame(table.u.ti.table_data, target, table.u.ti.segbase, ip, found);
  } else if (table.format == UNW_INFO_FORMAT_REMOTE_TABLE || table.format == UNW_INFO_FORMAT_IP_OFFSET) {
    const unw_dyn_remote_table_info_t& remote = table.u.rti;
    const bool by_start = table.format == UNW_INFO_FORMAT_IP_OFFSET;
    status = remote::search(target,
                            {.address = remote.table_data,
                             .size = remote.table_len * sizeof(unw_word_t),
                             .ip_base = by_start ? table.start_ip : remote.segbase,
                             .fde_base = remote.segbase},
                            ip, found);
  }
  if (status == RemoteStatus::ok) libunwind::to_c(found, need_unwind_info, info);
  return negated(status);
}

} // namespace

int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t* table,
                                       unw_proc_info_t* info, int need_unwind_info, void* arg) {
  if (!space || !table || !info) return -UNW_EINVAL;
  return libunwind::guarded([&] { return search_table(space, ip, *table, *info, need_unwind_info, arg); });
}

int UNW_OBJ(dwarf_find_debug_frame)(int found, unw_dyn_info_t* info, unw_word_t ip, unw_word_t segbase,
                                    const char* file, unw_word_t start, unw_word_t end) {
  if (!file || !info || ip < start || ip >= end) return found;
  const libunwind::TargetRegisters& target = target_registers();
  const libunwind::DebugFrame* frames = nullptr;
  for (const AbiTraits* abi : {target.little, target.big})
    if (abi && !frames)
      frames = libunwind::guarded_pointer([&] { return libunwind::find_debug_frame(file, *abi); });
  if (!frames) return found;
  info->format = UNW_INFO_FORMAT_TABLE;
  info->start_ip = start;
  info->end_ip = end;
  info->u.ti.name_ptr = reinterpret_cast<unw_word_t>(file);
  info->u.ti.segbase = segbase;
  info->u.ti.table_len = 1;
  info->u.ti.table_data = reinterpret_cast<unw_word_t*>(const_cast<libunwind::DebugFrame*>(frames));
  return 1;
}
