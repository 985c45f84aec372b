// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what a program gives up once it knows its inputs, so that a fault in reading a hostile file can do
// little. Two ways of the kernel, each where it is there: Landlock (Documentation/userspace-api/landlock.rst), by
// paths, and seccomp (libseccomp), by system calls.

#pragma once

#include "sframe/tool/app.h"

namespace sframe::tool {

/// For this process and all that it starts, for good. To be called before a thread is started: those that exist keep
/// what they can. What the kernel does not offer is left out without a word.
void enter_sandbox(const SandboxNeeds& needs);

} // namespace sframe::tool
