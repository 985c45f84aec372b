// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "workspace.h"

#include "mapped_memory.h"
#include "sframe/base/reader_counters.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

namespace sframe::here {

struct alignas(64) Workspace::Slot {
  std::atomic<bool> used = false;
  // Not a Scratch: there must be no destructor to run at exit, when threads may still walk.
  alignas(Scratch) std::array<std::byte, sizeof(Scratch)> memory = {};

  static constexpr std::size_t count = 16;
  static std::array<Slot, count> all;
};

constinit std::array<Workspace::Slot, Workspace::Slot::count> Workspace::Slot::all;

/// nullptr if all are in use.
Workspace::Slot* Workspace::claim() {
  const std::size_t first = thread_number();
  for (std::size_t i = 0; i < Slot::count; ++i)
    if (Slot& slot = Slot::all[(first + i) % Slot::count];
        !slot.used.load(std::memory_order_relaxed) && !slot.used.exchange(true, std::memory_order_acquire))
      return &slot;
  return nullptr;
}

Workspace::Workspace() : slot_(claim()) {
  scratch_ =
      slot_ ? std::construct_at(reinterpret_cast<Scratch*>(slot_->memory.data())) : make_mapped<Scratch>();
}

Workspace::~Workspace() {
  if (slot_) {
    std::destroy_at(scratch_);
    slot_->used.store(false, std::memory_order_release);
  } else {
    destroy_mapped(scratch_);
  }
}

} // namespace sframe::here
