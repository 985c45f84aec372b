// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of a command line. CLI11 parses them; help texts, suggestions and the description for man pages
// and completions are made here. Only option_list.cc includes CLI11, whose headers take longer to compile
// than all others of a file.
//
//    list.add_choice("--format", format, formats, "Output format").common();
//    list.add_option("--section", name, "Show sections of this name").type_name("NAME");
//
//    --help, of a terminal with 50 columns:    --format text|json
//                                                        Output format

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sframe::tool {

struct OptionEntry;

/// An option of an OptionList, to describe it further. Lasts as long as the list; copies are the same option.
/// Each function returns it.
class Option {
public:
  explicit Option(OptionEntry& entry) : entry_(&entry) {}

  /// The heading in help texts. Default: "Options".
  Option group(const std::string& name) const;
  /// --help lists it. Without this only --help-all does.
  Option common() const;
  /// What stands for the value in help texts: "FILE". Default: the values that it may have, with | between
  /// them.
  Option type_name(const std::string& name) const;
  /// Values are separated by this character, too.
  Option delimiter(char delimiter) const;
  /// Each value needs the option's name before it.
  Option one_value_each() const;
  /// The help text has the value that the variable has now.
  Option show_default() const;
  /// Other values are errors, which suggest the most similar of these.
  Option one_of(const std::vector<std::string>& values) const;
  /// What completions offer. The program checks the value itself. The function is called only to describe
  /// the options.
  Option completed_by(std::function<std::vector<std::string>()> values) const;
  Option range(std::uint32_t least, std::uint32_t most) const;
  Option range(double least, double most) const;

private:
  OptionEntry* entry_;
};

/// A word and what it means: a variable of the environment, an exit code.
struct Term {
  std::string name, text;
};

/// What help texts and man pages have besides the options.
struct ProgramText {
  std::string name;    ///< "sframe-dump"
  std::string version; ///< "1.2.3"
  std::string summary; ///< a sentence
  /// Lines "  COMMAND    what it is for": two blanks or more between them. Lines indented further belong to
  /// the line before.
  std::string examples;
  std::vector<Term> environment;
  std::vector<Term> exit_codes;
};

/// Names of values, in the order of help texts.
template <class Value> using Choices = std::vector<std::pair<std::string, Value>>;

class OptionList {
public:
  explicit OptionList(ProgramText text);
  ~OptionList();

  /// An option with a value, or a positional argument. `names` are separated by commas: "-o,--output" or
  /// "FILE". The variable must last until parse() has returned; it changes only if the command line has the
  /// option.
  Option add_option(const std::string& names, std::string& value, const std::string& text = {});
  Option add_option(const std::string& names, std::vector<std::string>& value, const std::string& text = {});
  Option add_option(const std::string& names, std::uint32_t& value, const std::string& text = {});
  Option add_option(const std::string& names, std::optional<std::uint32_t>& value,
                    const std::string& text = {});
  Option add_option(const std::string& names, double& value, const std::string& text = {});

  /// An option whose value is one of several names: Choices, or a map.
  template <class Variable, class Pairs>
  Option add_choice(const std::string& names, Variable& variable, const Pairs& choices,
                    const std::string& text) {
    std::vector<std::string> values;
    for (const auto& [name, value] : choices) values.push_back(name);
    return add_choice(names, values, text, [&variable, choices](const std::string& name) {
      for (const auto& [choice, value] : choices)
        if (choice == name) variable = value;
    });
  }

  /// The same, of a table whose rows have a `name`, and in `help` their part of the option's text. The
  /// variable is the row.
  template <class Row, std::size_t count>
  Option add_choice(const std::string& names, const Row*& variable, const Row (&table)[count],
                    std::string text) {
    Choices<const Row*> choices;
    for (const Row& row : table) {
      choices.emplace_back(row.name, &row);
      text += row.help;
    }
    return add_choice(names, variable, choices, text);
  }

  /// An option without a value; "--share,!--no-share" is false by its second name.
  Option add_flag(const std::string& names, bool& value, const std::string& text = {});
  /// "--repair{apply}": the value is "apply", unless the command line has another.
  Option add_flag(const std::string& names, std::string& value, const std::string& text = {});
  /// The same, repeatable: a value each time.
  Option add_flag(const std::string& names, std::vector<std::string>& values, const std::string& text = {});

  /// -h, --help, --help-all, --help-json and --version.
  void add_help_and_version(const std::string& group);

  /// Why a program should end: a text that was asked for, or what is wrong with the command line.
  struct Ended {
    bool is_error = false;
    std::string text;
  };
  /// To be called after the last option was added. Nothing if the program goes on.
  std::optional<Ended> parse(int argc, const char* const* argv);

  /// How many times the command line has this option.
  std::size_t count(std::string_view name) const;

private:
  Option add(const std::string& names, const std::string& text);
  Option add_choice(const std::string& names, const std::vector<std::string>& values, const std::string& text,
                    const std::function<void(const std::string&)>& set);
  template <class Value> Option add_value(const std::string& names, Value& value, const std::string& text);
  template <class Value> Option add_switch(const std::string& names, Value& value, const std::string& text);

  ProgramText text_;
  std::vector<std::unique_ptr<OptionEntry>> entries_;
  bool is_asked_ = false; ///< of the flags that ask for a text, which are counted
};

} // namespace sframe::tool
