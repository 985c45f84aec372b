// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether file systems that wait for another machine or a program still answer (sframe/elf/file_systems.h).

#pragma once

#include <cstdint>

namespace sframe::tool {

/// If a file system that this process or `pid` sees may have to wait, files are from now on looked up by
/// another process first, which is left alone if it does not come back. The sandbox makes no processes: call
/// before it, and before any thread. Waits for at most seven seconds for each file system. Does nothing if it
/// is done already, or if there is no process to be had: then look-ups wait.
void probe_network_files(std::uint32_t pid = 0);

} // namespace sframe::tool
