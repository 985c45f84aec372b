// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CLI11 compares the names of a new option with those of all others. So Parser moves each option out of
// CLI11's list as soon as it is made, and back before the command line is parsed; an option that no argument
// may name is never made, and its properties go to one that cannot be named. With --help all are made.

#include "sframe/tool/option_list.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

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

Option Option::group(const std::string& name) const {
  option_->group(name);
  return *this;
}

Option Option::type_name(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

Option Option::option_text(const std::string& text) const {
  option_->option_text(text);
  return *this;
}

Option Option::delimiter(char delimiter) const {
  option_->delimiter(delimiter);
  return *this;
}

Option Option::required() const {
  option_->required();
  return *this;
}

Option Option::one_value_each() const {
  option_->allow_extra_args(false);
  return *this;
}

Option Option::show_default() const {
  option_->capture_default_str();
  return *this;
}

Option Option::one_of(const std::vector<std::string>& values) const {
  option_->check(CLI::IsMember(values));
  return *this;
}

Option Option::range(std::uint32_t least, std::uint32_t most) const {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option Option::range(double least, double most) const {
  option_->check(CLI::Range(least, most));
  return *this;
}

/// Keeps new options away from those with which CLI11 would compare the next one.
class OptionList::Parser : public CLI::App {
public:
  Parser(const std::string& description, const std::string& name, Arguments arguments)
      : CLI::App(description, name) {
    add_flag("--never-named");
    never_named_ = std::move(options_.back());
    options_.pop_back();
    if (arguments && std::ranges::none_of(*arguments, asks_for_help)) arguments_ = arguments;
  }

  bool may_be_named(std::string_view names) const {
    const bool is_positional = !names.starts_with('-') && !names.starts_with('!');
    return is_positional || !arguments_ || std::ranges::any_of(*arguments_, [names](const char* argument) {
             return may_name(argument, names);
           });
  }

  CLI::Option* never_named() const { return never_named_.get(); }

  CLI::Option* set_aside(CLI::Option* option) {
    aside_.push_back(std::move(options_.back()));
    options_.pop_back();
    return option;
  }

  void complete() {
    for (auto& option : aside_) options_.push_back(std::move(option));
    aside_.clear();
  }

  std::vector<std::string> made() const {
    std::vector<std::string> names;
    for (const auto* options : {&options_, &aside_})
      for (const CLI::Option_p& option : *options) names.push_back(option->get_name());
    return names;
  }

private:
  std::vector<CLI::Option_p> aside_;
  Arguments arguments_;
  CLI::Option_p never_named_; ///< gets the properties of all options that no argument names
};

OptionList::OptionList(const std::string& description, const std::string& name, Arguments arguments)
    : parser_(std::make_unique<Parser>(description, name, arguments)) {
  parser_->option_defaults()->group("Options");
  parser_->get_formatter()->column_width(34);
}

OptionList::~OptionList() = default;

bool OptionList::may_be_named(std::string_view names) const {
  return parser_->may_be_named(names);
}

Option OptionList::never_named() const {
  return Option(parser_->never_named());
}

template <class Value>
Option OptionList::add_value(const std::string& names, Value& value, const std::string& text) {
  if (!may_be_named(names)) return never_named();
  return Option(parser_->set_aside(parser_->add_option(names, value, text)));
}

template <class Value>
Option OptionList::add_switch(const std::string& names, Value& value, const std::string& text) {
  if (!may_be_named(names)) return never_named();
  return Option(parser_->set_aside(parser_->add_flag(names, value, text)));
}

Option OptionList::add_option(const std::string& names, std::string& value, const std::string& text) {
  return add_value(names, value, text);
}

Option OptionList::add_option(const std::string& names, std::vector<std::string>& value,
                              const std::string& text) {
  return add_value(names, value, text);
}

Option OptionList::add_option(const std::string& names, std::uint32_t& value, const std::string& text) {
  return add_value(names, value, text);
}

Option OptionList::add_option(const std::string& names, std::optional<std::uint32_t>& value,
                              const std::string& text) {
  return add_value(names, value, text);
}

Option OptionList::add_option(const std::string& names, double& value, const std::string& text) {
  return add_value(names, value, text);
}

Option OptionList::add_choice(const std::string& names, const std::vector<std::string>& values,
                              const std::string& text, std::function<void(const std::string&)> set) {
  const CLI::callback_t assign = [set = std::move(set)](const CLI::results_t& results) {
    set(results.back());
    return true;
  };
  CLI::Option* const option = parser_->set_aside(parser_->add_option(names, assign, text));
  option->check(CLI::IsMember(values).description(""));
  return Option(option);
}

Option OptionList::add_flag(const std::string& names, bool& value, const std::string& text) {
  return add_switch(names, value, text);
}

Option OptionList::add_flag(const std::string& names, std::string& value, const std::string& text) {
  return add_switch(names, value, text);
}

Option OptionList::add_flag(const std::string& names, std::vector<std::string>& values,
                            const std::string& text) {
  return add_switch(names, values, text);
}

void OptionList::add_help_and_version(const std::string& text, const std::string& group) {
  parser_->set_help_flag("-h,--help", "Print this text and exit")->group(group);
  parser_->set_version_flag("--version", text, "Print the version and exit")->group(group);
}

void OptionList::set_footer(const std::string& text) {
  parser_->footer(text);
}

std::optional<OptionList::Ended> OptionList::parse(int argc, const char* const* argv) {
  // CLI11 reports by exceptions, which are handled here.
  try {
    parser_->complete();
    parser_->parse(argc, argv);
  } catch (const CLI::CallForVersion& what) {
    return Ended{.text = std::string(what.what()) + "\n"};
  } catch (const CLI::Success&) { // --help
    return Ended{.text = parser_->help()};
  } catch (const CLI::Error& what) {
    std::string text = what.what();
    while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
    return Ended{.is_error = true, .text = text};
  }
  return std::nullopt;
}

std::size_t OptionList::count(const std::string& name) const {
  const CLI::Option* const option = parser_->get_option_no_throw(name);
  return option ? option->count() : 0;
}

std::vector<std::string> OptionList::made() const {
  return parser_->made();
}

} // namespace sframe::tool
