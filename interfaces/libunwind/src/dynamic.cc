// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The linked list in which this process registers generated code. Debuggers of this process find it by its
// name.

#include "libunwind.h"

#include <mutex>

namespace {

std::mutex registering;

void changed() {
  ++_U_dyn_info_list.generation;
}

} // namespace

// Version 0: libunwind's own list has no other value (it has no initializer), so readers expect it.
unw_dyn_info_list_t _U_dyn_info_list = {0, 0, nullptr};

void _U_dyn_register(unw_dyn_info_t* info) {
  if (!info) return;
  const std::scoped_lock lock(registering);
  changed();
  info->prev = nullptr;
  info->next = _U_dyn_info_list.first;
  if (info->next) info->next->prev = info;
  _U_dyn_info_list.first = info;
}

void _U_dyn_cancel(unw_dyn_info_t* info) {
  if (!info) return;
  const std::scoped_lock lock(registering);
  changed();
  if (info->prev)
    info->prev->next = info->next;
  else if (_U_dyn_info_list.first == info)
    _U_dyn_info_list.first = info->next;
  if (info->next) info->next->prev = info->prev;
  info->next = info->prev = nullptr;
}
