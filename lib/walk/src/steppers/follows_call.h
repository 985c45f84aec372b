// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what a return address looks like.

#pragma once

#include "sframe/walk/abi.h"
#include "sframe/walk/address_space.h"

namespace sframe::walk {

/// True where the address is in executable memory, right behind a call instruction. False where the bytes
/// cannot be read.
bool follows_call(const UnwindAbi& abi, Memory& memory, std::uint64_t address);

} // namespace sframe::walk
