// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Paths through other processes: /proc/PID/exe, /proc/PID/root/..., /proc/PID/map_files/... The kernel
// follows them for who may trace the process, which a process in a sandbox may not.

#pragma once

#include <string>

#pragma GCC visibility push(default)

namespace sframe::elf {

/// Whether the kernel, following `path`, enters the folder of another process in /proc. False for a path into
/// a file system that does not answer, which is not looked at. Costs a look at each component.
bool leads_through_process(const std::string& path);

/// Lets File and reachable() find what is at `path`, and if it is a folder all below it, after this process
/// has lost the right to follow the path. Nothing if the path does not lead through another process, or to
/// nothing. Costs a look at each component, and for such a path an open descriptor. Call before the first
/// thread starts.
void keep_reachable(const std::string& path);

/// A path that leads to the same file as `path`, and that this process can follow: `path`, unless it is one
/// of keep_reachable() or below it.
std::string reachable(const std::string& path);

} // namespace sframe::elf

#pragma GCC visibility pop
