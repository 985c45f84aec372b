// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The supported machines: one line each.

#include "machine.h"

namespace sframe::elf {

const Machine* find_machine(std::uint16_t id) {
  static const Machine* const all[] = {&amd64, &aarch64, &s390x};
  for (const Machine* machine : all)
    if (machine->id == id) return machine;
  return nullptr;
}

} // namespace sframe::elf
