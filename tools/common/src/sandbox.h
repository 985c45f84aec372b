// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: drops rights after a program has determined its inputs, to limit the effect of a bug in reading a
// hostile file. Uses two kernel mechanisms if available: Landlock (Documentation/userspace-api/landlock.rst),
// by paths, and seccomp (libseccomp), by system calls.

#pragma once

#include "sframe/tool/app.h"

namespace sframe::tool {

/// Applies permanently to this process and everything that it starts. Call before a thread is started:
/// existing threads are not restricted. What the kernel does not support is skipped silently.
void enter_sandbox(const SandboxNeeds& needs);

} // namespace sframe::tool
