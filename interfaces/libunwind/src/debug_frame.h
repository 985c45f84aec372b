// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: .debug_frame of files, for UNW_INFO_FORMAT_TABLE.

#pragma once

#include "sframe/remote/accessors.h"

#include <cstdint>
#include <string>

namespace sframe::front {

class DebugFrame;

/// The .debug_frame of a file or of its separate debug file; nullptr where there is none. Made once per name
/// and kept until the program ends. Thread-safe.
const DebugFrame* find_debug_frame(const std::string& path, const AbiTraits& abi);

/// The procedure around `ip`, where the file's addresses have `bias` added. `table` may be any pointer:
/// `invalid` for one that find_debug_frame() did not give. Thread-safe.
remote::RemoteStatus search_debug_frame(const void* table, unwind::AddressSpace& target, std::uint64_t bias,
                                      std::uint64_t ip, remote::ProcedureInfo& info);

} // namespace sframe::front
