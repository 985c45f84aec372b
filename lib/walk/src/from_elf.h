// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: registers as cores and ptrace give them, made those of a walk's innermost frame.

#pragma once

#include "sframe/elf/registers.h"
#include "sframe/walk/abi.h"
#include "sframe/walk/registers.h"

namespace sframe::walk {

Registers registers_of(const elf::Registers& from, const AbiTraits& abi, const UnwindAbi& unwind);

} // namespace sframe::walk
