// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of a command line, by CLI11, for fast starts and fast builds. It does not search for names
// given twice: CLI11 compares the names of each new option with those of all others; a test finds such names.
// It makes only those options that the command line may name: making one takes 8,000 instructions, and
// programs have up to 50. And only option_list.cc includes CLI11, whose headers take longer than all others
// of a file.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class Option;
}

namespace sframe::tool {

/// An option of an OptionList, to describe it further. Lasts as long as the list; copies are the same option.
/// Each function returns it; those without a comment are CLI11's, one_of() and range() its IsMember and
/// Range.
class Option {
public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option group(const std::string& name) const;
  Option type_name(const std::string& name) const;
  Option option_text(const std::string& text) const;
  Option delimiter(char delimiter) const;
  Option required() const;
  /// Each value needs the option's name before it.
  Option one_value_each() const;
  /// The help text has the value that the variable has now.
  Option show_default() const;
  Option one_of(const std::vector<std::string>& values) const;
  Option range(std::uint32_t least, std::uint32_t most) const;
  Option range(double least, double most) const;

private:
  CLI::Option* option_;
};

class OptionList {
public:
  /// The arguments that parse() will get, and perhaps others; nullopt: any. They are not copied.
  using Arguments = std::optional<std::span<const char* const>>;

  OptionList(const std::string& description, const std::string& name, Arguments arguments);
  ~OptionList();

  /// An option with a value, or a positional argument. `names` is as for CLI11: "-o,--output" or "FILE". The
  /// variable must last until parse() has returned; it changes only if the command line has the option.
  Option add_option(const std::string& names, std::string& value, const std::string& text = {});
  Option add_option(const std::string& names, std::vector<std::string>& value, const std::string& text = {});
  Option add_option(const std::string& names, std::uint32_t& value, const std::string& text = {});
  Option add_option(const std::string& names, std::optional<std::uint32_t>& value,
                    const std::string& text = {});
  Option add_option(const std::string& names, double& value, const std::string& text = {});

  /// An option whose value is one of several names.
  template <class Variable, class Value>
  Option add_choice(const std::string& names, Variable& variable, const std::map<std::string, Value>& choices,
                    const std::string& text) {
    if (!may_be_named(names)) return never_named();
    std::vector<std::string> values;
    for (const auto& [name, value] : choices) values.push_back(name);
    return add_choice(names, values, text,
                      [&variable, choices](const std::string& name) { variable = choices.at(name); });
  }

  /// An option without a value; "--share,!--no-share" is false by its second name.
  Option add_flag(const std::string& names, bool& value, const std::string& text = {});
  /// "--repair{apply}": the value is "apply", unless the command line has another.
  Option add_flag(const std::string& names, std::string& value, const std::string& text = {});
  /// The same, repeatable: a value each time.
  Option add_flag(const std::string& names, std::vector<std::string>& values, const std::string& text = {});

  /// --help and --version, which prints `text`.
  void add_help_and_version(const std::string& text, const std::string& group);
  /// The end of the help text.
  void set_footer(const std::string& text);

  /// Why a program should end: a text that was asked for, or what is wrong with the command line.
  struct Ended {
    bool is_error = false;
    std::string text;
  };
  /// To be called once, after the last option was added. Nothing if the program goes on.
  std::optional<Ended> parse(int argc, const char* const* argv);

  /// How many times the command line has this option.
  std::size_t count(const std::string& name) const;

  /// The first names of the options that were made.
  std::vector<std::string> made() const;

private:
  class Parser;

  bool may_be_named(std::string_view names) const;
  Option never_named() const;
  Option add_choice(const std::string& names, const std::vector<std::string>& values, const std::string& text,
                    std::function<void(const std::string&)> set);
  template <class Value> Option add_value(const std::string& names, Value& value, const std::string& text);
  template <class Value> Option add_switch(const std::string& names, Value& value, const std::string& text);

  std::unique_ptr<Parser> parser_;
};

} // namespace sframe::tool
