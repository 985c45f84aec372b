// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the call-backs that _UPT_* and _UCD_* have in common, over the accessors that both stand on.
// `target` may be nullptr, and so may what is to be filled in: -UNW_EINVAL then.

#pragma once

#include "libunwind.h"

#include "sframe/remote/targets.h"

namespace sframe::front {

int find_proc_info(remote::ModuleAccessors* target, unw_word_t ip, unw_proc_info_t* info, int need_unwind_info);
int access_mem(remote::ModuleAccessors* target, unw_word_t address, unw_word_t* value, int write);
int access_reg(remote::ModuleAccessors* target, unw_regnum_t reg, unw_word_t* value, int write);
/// The 8 bytes of registers that are followed; -UNW_EBADREG for others.
int access_fpreg(remote::ModuleAccessors* target, unw_regnum_t reg, unw_fpreg_t* value, int write);
int get_proc_name(remote::ModuleAccessors* target, unw_word_t ip, char* buffer, size_t size,
                  unw_word_t* offset);

} // namespace sframe::front
