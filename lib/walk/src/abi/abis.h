// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the constants that the files of this folder define; registry.cc lists them.

#pragma once

#include "sframe/walk/abi.h"

namespace sframe::walk::abi {

extern const UnwindAbi amd64;

} // namespace sframe::walk::abi
