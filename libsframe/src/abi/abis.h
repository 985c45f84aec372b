// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants defined by the files of this folder; registry.cc lists them.

#pragma once

#include "sframe/abi.h"

namespace sframe::abi {

extern const AbiTraits amd64, aarch64_little, aarch64_big, s390x;

} // namespace sframe::abi
