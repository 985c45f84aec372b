// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of an option of an OptionList, for its help text and its parser.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace sframe::tool {

struct OptionEntry {
  std::string spelling; ///< for CLI11: "-o,--output", "--share,!--no-share", "--repair{apply}", "FILE"
  std::vector<std::string> names; ///< the same, without marks
  std::string text;
  std::string group = "Options";
  std::string type_name;
  std::vector<std::string> values;                       ///< that it may have; others are errors
  std::function<std::vector<std::string>()> more_values; ///< for completions
  std::function<std::string()> default_text;             ///< the value of the variable
  bool is_common = false;
  bool has_value = false;
  bool may_lack_value = false; ///< --repair[=list]
  bool is_list = false;        ///< the variable is one
  bool one_value_each = false;
  char delimiter = 0;
  std::function<CLI::Option*(CLI::App&)> declare;
  std::vector<std::function<void(CLI::Option&)>> checks; ///< to be added to the declared option
  bool show_default = false;
  std::size_t count = 0; ///< on the command line

  bool is_positional() const { return !names.front().starts_with('-'); }
  /// What stands for its value: "FILE", "text|json"; empty for a flag.
  std::string argument() const;
  /// The text, with the default value.
  std::string full_text() const;
};

using OptionEntries = std::span<const std::unique_ptr<OptionEntry>>;

} // namespace sframe::tool
