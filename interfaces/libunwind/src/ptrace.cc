// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "libunwind-ptrace.h"

#include "guard.h"
#include "module_callbacks.h"

#include <new>
#include <sys/ptrace.h>

namespace {

using namespace sframe;

/// Made before the thread is stopped, possibly before it runs its program: the thread is accessed only when
/// needed.
struct Upt {
  pid_t thread;
  std::unique_ptr<remote::PtraceTarget> target;
};

/// nullptr if there is no such thread, or memory runs out.
remote::PtraceTarget* ptrace_target(void* arg) {
  if (!arg) return nullptr;
  auto& upt = *static_cast<Upt*>(arg);
  return libunwind::guarded_pointer([&]() -> remote::PtraceTarget* {
    if (!upt.target)
      if (auto made = remote::PtraceTarget::create(static_cast<std::uint32_t>(upt.thread)))
        upt.target = std::move(*made);
    return upt.target.get();
  });
}

} // namespace

void* _UPT_create(pid_t thread) {
  return new (std::nothrow) Upt{thread, nullptr};
}

void _UPT_destroy(void* arg) {
  delete static_cast<Upt*>(arg);
}

int _UPT_find_proc_info(unw_addr_space_t, unw_word_t ip, unw_proc_info_t* info, int need_unwind_info,
                        void* arg) {
  return libunwind::find_proc_info(ptrace_target(arg), ip, info, need_unwind_info);
}

void _UPT_put_unwind_info(unw_addr_space_t, unw_proc_info_t*, void*) {}

int _UPT_get_dyn_info_list_addr(unw_addr_space_t, unw_word_t* address, void*) {
  if (!address) return -UNW_EINVAL;
  *address = 0;
  return -UNW_ENOINFO;
}

int _UPT_access_mem(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void* arg) {
  return libunwind::access_mem(ptrace_target(arg), address, value, write);
}

int _UPT_access_reg(unw_addr_space_t, unw_regnum_t reg, unw_word_t* value, int write, void* arg) {
  return libunwind::access_reg(ptrace_target(arg), reg, value, write);
}

int _UPT_access_fpreg(unw_addr_space_t, unw_regnum_t reg, unw_fpreg_t* value, int write, void* arg) {
  return libunwind::access_fpreg(ptrace_target(arg), reg, value, write);
}

int _UPT_get_proc_name(unw_addr_space_t, unw_word_t ip, char* buffer, size_t size, unw_word_t* offset,
                       void* arg) {
  return libunwind::get_proc_name(ptrace_target(arg), ip, buffer, size, offset);
}

int _UPT_resume(unw_addr_space_t, unw_cursor_t*, void* arg) {
  return arg && ::ptrace(PTRACE_CONT, static_cast<Upt*>(arg)->thread, nullptr, nullptr) == 0 ? 0
                                                                                             : -UNW_EINVAL;
}

unw_accessors_t _UPT_accessors = {_UPT_find_proc_info, _UPT_put_unwind_info, _UPT_get_dyn_info_list_addr,
                                  _UPT_access_mem,     _UPT_access_reg,      _UPT_access_fpreg,
                                  _UPT_resume,         _UPT_get_proc_name};
