// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what may have made an address that cannot be accessed: a null pointer, a stack that is used up,
// text that was written over a pointer.

#pragma once

#include "fault_frame.h"

#include "sframe/crash/fault.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sframe::crash {

/// "a null pointer + 0x8", "a stack overflow"; empty for an address that looks like none of these. `used`:
/// the operand with the address, if it is known.
std::string guess_cause(const FaultFrame& frame, std::int32_t signal, Fault::Access access,
                        std::uint64_t address, const std::optional<code::MemoryAccess>& used);

/// "a pointer overwritten by the text "abc"", if `what` is "a pointer". Empty if the value is no text, or may
/// be an address: text of less than eight bytes near what is mapped.
std::string guess_overwritten(const FaultFrame& frame, std::string_view what, std::uint64_t value);

} // namespace sframe::crash
