// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds register layouts by the machine's number in the ELF header.

#include "register_layout.h"

namespace sframe::core {

namespace {

template <class Is> const RegisterLayout* find_if(Is is) {
  static const RegisterLayout* const all[] = {
#define SFRAME_DEFINE_ABI(name, identifier) &abi::name,
#include "sframe/abis.def"
  };
  for (const RegisterLayout* layout : all)
    if (is(*layout)) return layout;
  return nullptr;
}

} // namespace

const RegisterLayout* find_layout(std::uint16_t machine) {
  return find_if([&](const RegisterLayout& layout) { return layout.machine == machine; });
}

const RegisterLayout* find_layout_of_mode(std::uint16_t id) {
  return find_if(
      [&](const RegisterLayout& layout) { return layout.other_mode && layout.other_mode->machine == id; });
}

} // namespace sframe::core
