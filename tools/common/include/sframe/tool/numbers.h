// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>
#include <string>

namespace sframe::tool {

/// "1,234,567": a number for people.
std::string with_commas(std::uint64_t value);

} // namespace sframe::tool
