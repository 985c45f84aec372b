// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machines that code is analysed for: one entry per instruction set, defined in src/<abi>/, listed in
// registry.cc. Nothing else in this library knows them apart.

#pragma once

#include "sframe/code/instruction.h"

#include <memory>

namespace sframe::code {

/// An instruction set: what it fixes, and how to make its decoder.
struct MachineEntry {
  Machine machine;
  std::unique_ptr<Decoder> (*make_decoder)(const AbiTraits& abi);
};

extern const MachineEntry amd64_machine;
extern const MachineEntry aarch64_machine;
extern const MachineEntry s390x_machine;

} // namespace sframe::code
