// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Access to files of test/inputs for the unit tests.

#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace sframe::test {

/// The folder test/inputs with the files that test/inputs/assemble makes.
std::filesystem::path inputs();

/// The folder of the small cores of other machines, among the lit tests' inputs.
std::filesystem::path small_cores();

/// Reads a whole file; fails the test if it cannot be read.
std::vector<std::byte> read_file(const std::filesystem::path& path);

/// The section of a case of the kit for readers, such as "one-row-v3-amd64-order-native-pcrel-no".
std::vector<std::byte> case_section(const std::string& name);

/// All files below test/inputs that end in `suffix`, sorted.
std::vector<std::filesystem::path> inputs_ending(const std::string& suffix);

/// Bytes from hexadecimal digits; white space and everything after '#' on a line are ignored.
std::vector<std::byte> hex(const std::string& text);

} // namespace sframe::test
