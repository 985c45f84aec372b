// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants defined by the files of this folder; abis.def lists them.

#pragma once

#include "sframe/abi.h"

namespace sframe::abi {

#define SFRAME_DEFINE_ABI(name, identifier) extern const AbiTraits name;
#include "sframe/abis.def"

} // namespace sframe::abi
