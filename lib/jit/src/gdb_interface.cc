// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names and types are those of the interface. Other libraries may have it, too (LLVM): the definitions
// are weak, and the process has one of them.

#include "elf_object.h"
#include "sframe/jit/publishers.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#pragma GCC visibility push(default)
extern "C" {

struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const void* symfile_addr;
  std::uint64_t symfile_size;
};

struct jit_descriptor {
  std::uint32_t version;
  std::uint32_t action_flag;
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};

[[gnu::weak]] jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};

/// Debuggers stop here.
[[gnu::weak, gnu::noinline]] void __jit_debug_register_code() {
  asm volatile("" ::: "memory");
}

} // extern "C"
#pragma GCC visibility pop

namespace sframe::jit {

namespace {

constexpr std::uint32_t no_action = 0, register_function = 1, unregister_function = 2; ///< jit_actions_t
constinit std::mutex jit_list_lock;

void tell_debugger(jit_code_entry& entry, std::uint32_t action) {
  __jit_debug_descriptor.relevant_entry = &entry;
  __jit_debug_descriptor.action_flag = action;
  __jit_debug_register_code();
  __jit_debug_descriptor.action_flag = no_action;
  __jit_debug_descriptor.relevant_entry = nullptr;
}

} // namespace

struct GdbInterface::File {
  std::vector<std::byte> bytes;
  jit_code_entry entry;

  explicit File(const PublishedCode& code)
      : bytes(make_elf_object(code, 0)), entry{nullptr, nullptr, bytes.data(), bytes.size()} {
    std::ranges::copy(make_elf_object(code, reinterpret_cast<std::uint64_t>(bytes.data())), bytes.begin());
  }
};

void GdbInterface::Deleter::operator()(File* file) const {
  delete file;
}

bool GdbInterface::add(const PublishedCode& code) {
  try {
    std::unique_ptr<File, Deleter> file(new File(code));
    jit_code_entry& entry = file->entry;
    if (!files_.try_emplace(code.start, std::move(file)).second) return false;
    const std::lock_guard guard(jit_list_lock);
    entry.next_entry = __jit_debug_descriptor.first_entry;
    if (entry.next_entry) entry.next_entry->prev_entry = &entry;
    __jit_debug_descriptor.first_entry = &entry;
    tell_debugger(entry, register_function);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void GdbInterface::drop(const PublishedCode& code) {
  const auto at = files_.find(code.start);
  jit_code_entry& entry = at->second->entry;
  {
    const std::lock_guard guard(jit_list_lock);
    if (entry.prev_entry)
      entry.prev_entry->next_entry = entry.next_entry;
    else
      __jit_debug_descriptor.first_entry = entry.next_entry;
    if (entry.next_entry) entry.next_entry->prev_entry = entry.prev_entry;
    tell_debugger(entry, unregister_function);
  }
  files_.erase(at);
}

} // namespace sframe::jit
