// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "emulated/abi/guests.h"

namespace sframe::process::emulated {

const Guest* find_guest(Abi id) {
  for (const Guest* guest : {&abi::amd64, &abi::aarch64_little, &abi::aarch64_big, &abi::s390x})
    if (guest->id == id) return guest;
  return nullptr;
}

} // namespace sframe::process::emulated
