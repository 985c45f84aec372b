// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of ABIs that can be unwound.

#include "abi/abis.h"

namespace sframe::walk {

namespace {

constexpr const UnwindAbi* registry[] = {&abi::aarch64_big, &abi::aarch64_little, &abi::amd64, &abi::s390x};

} // namespace

const UnwindAbi* find_unwind_abi(Abi id) {
  for (const UnwindAbi* abi : registry)
    if (abi->id == id) return abi;
  return nullptr;
}

} // namespace sframe::walk
