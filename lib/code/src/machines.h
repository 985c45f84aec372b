// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machines whose code can be analysed: one entry per instruction set, defined in src/<abi>/ and listed in
// registry.cc. The rest of this library does not depend on the instruction set.

#pragma once

#include "sframe/code/instruction.h"

#include <memory>

namespace sframe::code {

/// An instruction set: its properties, and the factory of its decoder.
struct MachineEntry {
  Machine machine;
  std::unique_ptr<Decoder> (*make_decoder)(const AbiTraits& abi);
};

extern const MachineEntry amd64_machine;
extern const MachineEntry aarch64_machine;
extern const MachineEntry s390x_machine;

} // namespace sframe::code
