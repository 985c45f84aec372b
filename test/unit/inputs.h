// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of test/inputs for the unit tests.

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace sframe::test {

/// The folder test/inputs.
std::filesystem::path inputs();

/// A whole file; fails the test where it cannot be read.
std::vector<std::byte> read_file(const std::filesystem::path& path);

/// Every file below test/inputs that ends in `suffix`, sorted.
std::vector<std::filesystem::path> inputs_ending(const std::string& suffix);

/// Bytes from hexadecimal digits; white space is ignored, and all that follows a '#' on a line.
std::vector<std::byte> hex(const std::string& text);

} // namespace sframe::test
