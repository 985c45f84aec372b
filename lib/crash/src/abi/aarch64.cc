// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AArch64: the kernel has the address of each access (FAR_EL1), and divisions do not fault.

#include "fault_abi.h"

namespace sframe::crash::abi {

const FaultAbi aarch64_big{}, aarch64_little{};

} // namespace sframe::crash::abi
