// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// s390x instructions as text.

#include "capstone_text.h"
#include "machines.h"

namespace sframe::code {

const Disassemble disassemblers::s390x = capstone_text<CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN>;

} // namespace sframe::code
