// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: .debug_frame of files, for UNW_INFO_FORMAT_TABLE.

#pragma once

#include "sframe/remote/accessors.h"

#include <cstdint>
#include <string>

namespace sframe::libunwind {

class DebugFrame;

/// The .debug_frame of a file or of its separate debug file; nullptr if there is none. Opened once per name
/// and kept until the program ends. Thread-safe.
const DebugFrame* find_debug_frame(const std::string& path, const AbiTraits& abi);

/// Finds the procedure that contains `ip`, in a file mapped with `bias`. `table` may be any pointer:
/// `invalid` for one not returned by find_debug_frame(). Thread-safe.
remote::RemoteStatus search_debug_frame(const void* table, unwind::AddressSpace& target, std::uint64_t bias,
                                        std::uint64_t ip, remote::ProcedureInfo& info);

} // namespace sframe::libunwind
