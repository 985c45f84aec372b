// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: callbacks common to _UPT_* and _UCD_*, over their common accessors. `target` and output pointers
// may be nullptr: the result is then -UNW_EINVAL.

#pragma once

#include "libunwind.h"

#include "sframe/remote/targets.h"

namespace sframe::libunwind {

int find_proc_info(remote::ModuleAccessors* target, unw_word_t ip, unw_proc_info_t* info,
                   int need_unwind_info);
int access_mem(remote::ModuleAccessors* target, unw_word_t address, unw_word_t* value, int write);
int access_reg(remote::ModuleAccessors* target, unw_regnum_t reg, unw_word_t* value, int write);
/// Accesses the 8 bytes of a tracked register; -UNW_EBADREG for others.
int access_fpreg(remote::ModuleAccessors* target, unw_regnum_t reg, unw_fpreg_t* value, int write);
int get_proc_name(remote::ModuleAccessors* target, unw_word_t ip, char* buffer, size_t size,
                  unw_word_t* offset);

} // namespace sframe::libunwind
