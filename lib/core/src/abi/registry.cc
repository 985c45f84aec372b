// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds register layouts by the machine's number in the ELF header.

#include "register_layout.h"

#include "sframe/base/find_entry.h"

namespace sframe::core {

namespace {

constexpr const RegisterLayout* all[] = {
#define SFRAME_DEFINE_ABI(name, identifier) &abi::name,
#include "sframe/abis.def"
};

std::optional<std::uint16_t> machine_of_mode(const RegisterLayout& layout) {
  return layout.other_mode ? std::optional(layout.other_mode->machine) : std::nullopt;
}

} // namespace

const RegisterLayout* find_layout(std::uint16_t machine) {
  return find_entry(all, machine, &RegisterLayout::machine);
}

const RegisterLayout* find_layout_of_mode(std::uint16_t id) {
  return find_entry(all, id, machine_of_mode);
}

} // namespace sframe::core
