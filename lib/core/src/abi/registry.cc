// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds register layouts by the machine's number in the ELF header.

#include "register_layout.h"

namespace sframe::core {

const RegisterLayout* find_layout(std::uint16_t machine) {
  static const RegisterLayout* const all[] = {
#define SFRAME_DEFINE_ABI(name, identifier) &abi::name,
#include "sframe/abis.def"
  };
  for (const RegisterLayout* layout : all)
    if (layout->machine == machine) return layout;
  return nullptr;
}

} // namespace sframe::core
