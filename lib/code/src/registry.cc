// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps ABIs to machines.

#include "machines.h"

#include <utility>

namespace sframe::code {

const MachineEntry& machine_entry(const AbiTraits& abi) {
  switch (abi.id) {
// clang-format off
#define SFRAME_DEFINE_ABI(name, identifier) case Abi::name: return machines::name;
#include "sframe/abis.def"
    // clang-format on
  }
  std::unreachable(); // traits exist for the ABIs of abis.def only
}

std::unique_ptr<Decoder> make_decoder(const AbiTraits& abi) {
  return machine_entry(abi).make_decoder(abi);
}

const Machine& machine(const AbiTraits& abi) {
  return machine_entry(abi).machine;
}

} // namespace sframe::code
