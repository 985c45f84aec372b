// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times, and what the recording itself costs.

#pragma once

#include <cstdint>
#include <ctime>

namespace sframe::profile_tool {

/// Nanoseconds.
std::uint64_t now(clockid_t clock);

/// Nanoseconds of processor time of this process.
std::uint64_t used_time();

/// Bytes that are this process's alone.
std::uint64_t used_memory();

} // namespace sframe::profile_tool
