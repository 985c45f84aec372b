// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "libunwind-coredump.h"

#include "guard.h"
#include "module_callbacks.h"

struct UCD_info {
  std::unique_ptr<sframe::remote::CoreTarget> target;
  std::size_t thread = 0;
};

namespace {

using namespace sframe;

remote::CoreTarget* core_target(void* arg) {
  return arg ? static_cast<UCD_info*>(arg)->target.get() : nullptr;
}

const process::Thread* thread_of(const UCD_info* core) {
  if (!core) return nullptr;
  const auto threads = core->target->process().threads();
  return core->thread < threads.size() ? &threads[core->thread] : nullptr;
}

} // namespace

struct UCD_info* _UCD_create(const char* file) {
  if (!file) return nullptr;
  return libunwind::guarded_pointer([&]() -> UCD_info* {
    auto target = remote::CoreTarget::open(file);
    return target ? new UCD_info{std::move(*target)} : nullptr;
  });
}

void _UCD_destroy(struct UCD_info* core) {
  delete core;
}

int _UCD_get_num_threads(struct UCD_info* core) {
  return core ? static_cast<int>(core->target->process().threads().size()) : 0;
}

void _UCD_select_thread(struct UCD_info* core, int number) {
  if (number < 0 || number >= _UCD_get_num_threads(core)) return;
  core->thread = static_cast<std::size_t>(number);
  core->target->select_thread(core->thread);
}

pid_t _UCD_get_pid(struct UCD_info* core) {
  if (!core) return 0;
  const process::Thread* thread = thread_of(core);
  return static_cast<pid_t>(thread ? thread->tid : core->target->core().pid());
}

int _UCD_get_cursig(struct UCD_info* core) {
  if (!core) return 0;
  const process::Thread* thread = thread_of(core);
  return thread ? thread->signal : core->target->core().signal();
}

int _UCD_add_backing_file_at_segment(struct UCD_info* core, int header, const char* file) {
  if (!core) return -1;
  const elf::Image* const image = core->target->core().image();
  const auto segments = image ? image->segments() : std::span<const elf::Segment>();
  if (header < 0 || static_cast<std::size_t>(header) >= segments.size()) return -1;
  return _UCD_add_backing_file_at_vaddr(core, segments[static_cast<std::size_t>(header)].address, file);
}

int _UCD_add_backing_file_at_vaddr(struct UCD_info* core, unsigned long address, const char* file) {
  if (!core || !file) return -1;
  return libunwind::guarded([&] { return core->target->add_file(address, file) ? 0 : -1; }) == 0 ? 0 : -1;
}

int _UCD_find_proc_info(unw_addr_space_t, unw_word_t ip, unw_proc_info_t* info, int need_unwind_info,
                        void* arg) {
  return libunwind::find_proc_info(core_target(arg), ip, info, need_unwind_info);
}

void _UCD_put_unwind_info(unw_addr_space_t, unw_proc_info_t*, void*) {}

int _UCD_get_dyn_info_list_addr(unw_addr_space_t, unw_word_t* address, void*) {
  if (!address) return -UNW_EINVAL;
  *address = 0;
  return -UNW_ENOINFO;
}

int _UCD_access_mem(unw_addr_space_t, unw_word_t address, unw_word_t* value, int write, void* arg) {
  return libunwind::access_mem(core_target(arg), address, value, write);
}

int _UCD_access_reg(unw_addr_space_t, unw_regnum_t reg, unw_word_t* value, int write, void* arg) {
  return libunwind::access_reg(core_target(arg), reg, value, write);
}

int _UCD_access_fpreg(unw_addr_space_t, unw_regnum_t reg, unw_fpreg_t* value, int write, void* arg) {
  return libunwind::access_fpreg(core_target(arg), reg, value, write);
}

int _UCD_get_proc_name(unw_addr_space_t, unw_word_t ip, char* buffer, size_t size, unw_word_t* offset,
                       void* arg) {
  return libunwind::get_proc_name(core_target(arg), ip, buffer, size, offset);
}

int _UCD_resume(unw_addr_space_t, unw_cursor_t*, void*) {
  return -UNW_EINVAL; // a core cannot be resumed
}

unw_accessors_t _UCD_accessors = {_UCD_find_proc_info, _UCD_put_unwind_info, _UCD_get_dyn_info_list_addr,
                                  _UCD_access_mem,     _UCD_access_reg,      _UCD_access_fpreg,
                                  _UCD_resume,         _UCD_get_proc_name};
