// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sframe::tool {

/// "1,234,567": a number for people.
std::string with_commas(std::uint64_t value);

/// "1,234 functions", "1 function": the same with a noun whose plural has an s.
std::string counted_with_commas(std::uint64_t value, std::string_view noun);

} // namespace sframe::tool
