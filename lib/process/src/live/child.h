// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: starts a program that this one follows. Its addresses are not randomised, if the system permits,
// and the kernel kills it if this program ends.

#pragma once

#include "sframe/base/problem.h"

#include <string>
#include <sys/types.h>
#include <vector>

namespace sframe::process::live {

/// The started program, which waits until it may go. The caller closes the descriptors and waits for it.
struct StartedChild {
  pid_t pid = -1;
  int go = -1;    ///< to write a byte to; if it is closed without one, the child ends
  int error = -1; ///< the errno of a failure; at its end if there is none
};

/// `command` is not empty; its first is looked up in PATH.
Result<StartedChild> start_child(const std::vector<std::string>& command);

} // namespace sframe::process::live
