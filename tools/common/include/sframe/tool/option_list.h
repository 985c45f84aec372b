// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CLI11's App for fast starts. It does not search for names given twice: CLI11 compares the names of each new
// option with those of all others; a test finds such names. And it makes only those options that the command
// line may name: making one takes 8,000 instructions, and programs have up to 50.

#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::tool {

class OptionList : public CLI::App {
public:
  /// The arguments that parse() will get, and perhaps others; nullopt: any. They are not copied.
  using Arguments = std::optional<std::span<const char* const>>;

  OptionList(std::string description, std::string name, Arguments arguments);

  // As in CLI11. The option is not among get_options() before complete(), and never if no argument names it.
  template <class... Rest> CLI::Option* add_option(const std::string& names, Rest&&... rest) {
    if (!may_be_named(names)) return never_named_.get();
    return set_aside(CLI::App::add_option(names, std::forward<Rest>(rest)...));
  }
  template <class... Rest> CLI::Option* add_flag(const std::string& names, Rest&&... rest) {
    if (!may_be_named(names)) return never_named_.get();
    return set_aside(CLI::App::add_flag(names, std::forward<Rest>(rest)...));
  }

  /// To be called after the last option was added, before parse().
  void complete();

  /// How many times the command line has this option.
  std::size_t count(const std::string& name) const;

private:
  bool may_be_named(std::string_view names) const;
  CLI::Option* set_aside(CLI::Option* option);

  std::vector<CLI::Option_p> aside_;
  Arguments arguments_;
  CLI::Option_p never_named_; ///< gets the properties of all options that no argument names
};

} // namespace sframe::tool
