// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last words of a process that the C library has aborted.

#pragma once

#include "sframe/process/process_state.h"

#include <string>

#pragma GCC visibility push(default)

namespace sframe::crash {

/// What glibc said when it aborted: a failed assertion, a damaged heap; empty if it is not known. Opens the
/// files of the program and of the C library, for one symbol. At most 4 KiB; text of the process.
std::string abort_message(process::CoreProcess& process);

} // namespace sframe::crash

#pragma GCC visibility pop
