// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CLI11's App without the search for names given twice: it compares the names of each new option with those
// of all others, which were a quarter of the instructions of `sframe-unwind --version`. A test finds such
// names.

#pragma once

#include <CLI/CLI.hpp>

#include <utility>
#include <vector>

namespace sframe::tool {

class OptionList : public CLI::App {
public:
  using CLI::App::App;

  // As in CLI11. The option is not among get_options() before complete().
  template <class... Arguments> CLI::Option* add_option(Arguments&&... arguments) {
    return set_aside(CLI::App::add_option(std::forward<Arguments>(arguments)...));
  }
  template <class... Arguments> CLI::Option* add_flag(Arguments&&... arguments) {
    return set_aside(CLI::App::add_flag(std::forward<Arguments>(arguments)...));
  }

  /// To be called after the last option was added, before parse().
  void complete() {
    for (auto& option : aside_) options_.push_back(std::move(option));
    aside_.clear();
  }

private:
  CLI::Option* set_aside(CLI::Option* option) {
    aside_.push_back(std::move(options_.back()));
    options_.pop_back();
    return option;
  }

  std::vector<CLI::Option_p> aside_;
};

} // namespace sframe::tool
