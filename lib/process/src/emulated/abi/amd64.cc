// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMD64 (Linux arch/x86/entry/syscalls/syscall_64.tbl): arguments in rdi, rsi; the result in rax.

#include "emulated/abi/guests.h"

namespace sframe::process::emulated::abi {

const Guest amd64 = {.id = Abi::amd64,
                     .emulator = "qemu-x86_64",
                     .pc = "rip",
                     .rt_sigaction = 13,
                     .clone = 56,
                     .clone3 = 435,
                     .fork = 57,
                     .vfork = 58,
                     .execve = 59,
                     .execveat = 322,
                     .arguments = {5, 4},
                     .clone_flags = 5,
                     .result = 0};

} // namespace sframe::process::emulated::abi
