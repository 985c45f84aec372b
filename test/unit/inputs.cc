// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "inputs.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace sframe::test {

std::filesystem::path inputs() {
  return SFRAME_TEST_INPUTS;
}

std::filesystem::path small_cores() {
  return SFRAME_TEST_CORES;
}

std::vector<std::byte> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::byte> bytes(chars.size());
  std::ranges::transform(chars, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

std::vector<std::byte> case_section(const std::string& name) {
  return read_file(inputs() / "cases" / (name + ".sframe"));
}

std::vector<std::filesystem::path> inputs_ending(const std::string& suffix) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(inputs()))
    if (entry.is_regular_file() && entry.path().string().ends_with(suffix)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

std::vector<std::byte> hex(const std::string& text) {
  std::string digits;
  bool comment = false;
  for (char c : text) {
    if (c == '#') comment = true;
    if (c == '\n') comment = false;
    if (!comment && std::isxdigit(static_cast<unsigned char>(c))) digits += c;
  }
  EXPECT_EQ(digits.size() % 2, 0u) << text;
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return bytes;
}

} // namespace sframe::test
