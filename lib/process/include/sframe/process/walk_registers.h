// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts registers of cores, ptrace and samples to those of a walk's innermost frame.

#pragma once

#include "sframe/core/registers.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/registers.h"

#pragma GCC visibility push(default)

namespace sframe::process {

/// Constant cost.
unwind::Registers registers_of(const core::RegisterValues& from, const AbiTraits& abi,
                               const unwind::UnwindAbi& unwind);

/// True if the thread runs code of another mode.
bool is_other_mode(const core::RegisterValues& registers, const unwind::UnwindAbi& unwind);

} // namespace sframe::process

#pragma GCC visibility pop
