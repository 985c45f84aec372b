// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: all ABIs for which there is an emulator.

#pragma once

#include "emulated/guest.h"

namespace sframe::process::emulated::abi {

extern const Guest amd64, aarch64_little, aarch64_big, s390x;

} // namespace sframe::process::emulated::abi
