// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// s390x (Linux arch/s390/kernel/syscalls/syscall.tbl): arguments in r2, r3; the result in r2. The first two
// arguments of clone are exchanged.

#include "emulated/abi/guests.h"

namespace sframe::process::emulated::abi {

const Guest s390x = {.id = Abi::s390x,
                     .emulator = "qemu-s390x",
                     .pc = "pswa",
                     .rt_sigaction = 174,
                     .clone = 120,
                     .clone3 = 435,
                     .fork = 2,
                     .vfork = 190,
                     .execve = 11,
                     .execveat = 354,
                     .arguments = {2, 3},
                     .clone_flags = 3,
                     .result = 2};

} // namespace sframe::process::emulated::abi
