// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: a process that changes files for one that entered the sandbox. It makes the files without a name,
// hands out descriptors for their contents, and gives them their names when they are complete. It changes
// only what the command line said would be written.

#pragma once

#include "sframe/tool/app.h"

#include <functional>

namespace sframe::tool {

/// Starts the process, and lets file_changes() use it; `confine` is called in it. Call before a thread is
/// started. False if it cannot be started: then this process changes files itself.
bool start_writing_process(const SandboxNeeds& needs, const std::function<void()>& confine);

/// Ends it, if there is one, after it has removed its temporary files, or has completed what it is
/// overwriting. This process can change no file from then on. Async-signal-safe.
void end_writing_process() noexcept;

} // namespace sframe::tool
