// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RISC-V with 64 bits: the kernel has the address of each access, and divisions do not fault.

#include "fault_abi.h"

namespace sframe::crash::abi {

const FaultAbi riscv64{};

} // namespace sframe::crash::abi
