// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/tool/option_list.h"

#include <algorithm>

namespace sframe::tool {

namespace {

bool is_long(std::string_view argument) {
  return argument.starts_with("--");
}

/// -h, also among other letters.
bool asks_for_help(std::string_view argument) {
  return argument == "--help" ||
         (argument.starts_with('-') && !is_long(argument) && argument.find('h') != argument.npos);
}

/// True for all arguments that CLI11 takes for one of these names, and some others.
bool may_name(std::string_view argument, std::string_view names) {
  if (is_long(argument)) return names.find(argument.substr(0, argument.find('='))) != names.npos;
  if (!argument.starts_with('-')) return false;
  return std::ranges::any_of(argument.substr(1), [names](char letter) {
    const char name[] = {'-', letter};
    return names.find(std::string_view(name, 2)) != names.npos;
  });
}

} // namespace

OptionList::OptionList(std::string description, std::string name, Arguments arguments)
    : CLI::App(std::move(description), std::move(name)) {
  CLI::App::add_flag("--never-named");
  never_named_ = std::move(options_.back());
  options_.pop_back();
  if (arguments && std::ranges::none_of(*arguments, asks_for_help)) arguments_ = arguments;
}

bool OptionList::may_be_named(std::string_view names) const {
  const bool is_positional = !names.starts_with('-') && !names.starts_with('!');
  return is_positional || !arguments_ || std::ranges::any_of(*arguments_, [names](const char* argument) {
           return may_name(argument, names);
         });
}

CLI::Option* OptionList::set_aside(CLI::Option* option) {
  aside_.push_back(std::move(options_.back()));
  options_.pop_back();
  return option;
}

void OptionList::complete() {
  for (auto& option : aside_) options_.push_back(std::move(option));
  aside_.clear();
}

std::size_t OptionList::count(const std::string& name) const {
  const CLI::Option* const option = get_option_no_throw(name);
  return option ? option->count() : 0;
}

} // namespace sframe::tool
