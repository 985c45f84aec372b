// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Crash reports of apport, as Ubuntu keeps them in /var/crash: text with a line "KEY: VALUE" for each field,
// or "KEY:" and lines that start with a blank. The core is the field CoreDump: its value is "base64", and
// each line after it encodes a piece of the compressed core. ("The Apport crash report format", section 2)

#pragma once

#include "sframe/base/problem.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::core {

/// True if the bytes start as a report does.
bool is_crash_report(std::span<const std::byte> bytes);

/// The value of a field that has one line; empty if there is none. A view into the report. Linear.
std::string_view report_field(std::span<const std::byte> report, std::string_view key);

/// The core in a report, decoded, but still compressed: less than the report's size. It ends where the text
/// is cut or damaged. Fails if the report has no core. Linear.
Result<std::vector<std::byte>> core_in_report(std::span<const std::byte> report);

} // namespace sframe::core

#pragma GCC visibility pop
