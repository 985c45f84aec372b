// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps ABIs to machines.

#include "machines.h"

#include <utility>

namespace sframe::code {
namespace {

const MachineEntry& entry_of(const AbiTraits& abi) {
  switch (abi.id) {
// clang-format off
#define SFRAME_DEFINE_ABI(name, identifier) case Abi::name: return machines::name;
#include "sframe/abis.def"
    // clang-format on
  }
  std::unreachable(); // traits exist for the ABIs of abis.def only
}

} // namespace

std::unique_ptr<Decoder> make_decoder(const AbiTraits& abi) {
  return entry_of(abi).make_decoder(abi);
}

const Machine& machine(const AbiTraits& abi) {
  return entry_of(abi).machine;
}

} // namespace sframe::code
