// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A crash in one line, for titles and lists.

#pragma once

#include "sframe/crash/crash.h"

#include <cstdint>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace sframe::crash {

/// "redis-server: SIGSEGV, write to read-only memory in debugCommand". Of a fault that was handled, if there
/// is one, else of `signal`. `said`: what the program died of by its own account (an exception, a panic),
/// which goes before the C library's message, and that before the fault. `function`: where. All but `signal`
/// may be empty. Without addresses, which differ from crash to crash; of long texts the start.
std::string headline(std::string_view program, std::int32_t signal, const Crash& crash, std::string_view said,
                     std::string_view function);

} // namespace sframe::crash

#pragma GCC visibility pop
