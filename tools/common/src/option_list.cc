// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An option is an OptionEntry first. parse() declares those to CLI11 that the command line may have, and
// words CLI11's errors anew: they name its types, and suggest nothing.

#include "sframe/tool/option_list.h"

#include "help.h"
#include "option_entry.h"

#include <CLI/CLI.hpp>
#include <llvm/ADT/StringRef.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <type_traits>
#include <utility>

namespace sframe::tool {

namespace {

/// "; did you mean --format?", if one of the words is similar: at most a third of its letters is wrong, or it
/// goes on from what was typed.
std::string suggestion(std::string_view typed, const std::vector<std::string>& words) {
  const llvm::StringRef text(typed.data(), typed.size());
  const std::string* best = nullptr;
  std::size_t least = text.size() / 3 + 1;
  for (const std::string& word : words)
    if (const std::size_t distance = text.edit_distance(word); distance < least) {
      least = distance;
      best = &word;
    }
  if (!best && text.size() > 2) {
    const auto longer =
        std::ranges::find_if(words, [&](const auto& word) { return word.starts_with(typed); });
    if (longer != words.end()) best = &*longer;
  }
  return best ? "; did you mean " + *best + "?" : std::string();
}

std::vector<std::string> names_in(std::string_view spelling) {
  std::vector<std::string> names;
  while (!spelling.empty()) {
    const std::size_t end = std::min(spelling.find(','), spelling.size());
    std::string_view name = spelling.substr(0, end);
    if (name.starts_with('!')) name.remove_prefix(1);
    names.emplace_back(name.substr(0, name.find('{')));
    spelling.remove_prefix(std::min(end + 1, spelling.size()));
  }
  return names;
}

/// False if no argument is this option for CLI11. To declare one takes 8,000 instructions, and programs have
/// up to 60, of which a command line has a few: a tenth of the time of a start.
bool may_be_named(const OptionEntry& entry, std::span<const char* const> arguments) {
  return entry.is_positional() || std::ranges::any_of(arguments, [&](std::string_view argument) {
           const bool is_long = argument.starts_with("--");
           return std::ranges::any_of(entry.names, [&](std::string_view name) {
             return is_long ? argument.substr(0, argument.find('=')) == name
                            : argument.starts_with('-') && name.size() == 2 && argument.contains(name[1]);
           });
         });
}

/// A check of CLI11's, for a number in a range.
template <class Number> std::function<void(CLI::Option&)> range_check(Number least, Number most) {
  return [least, most](CLI::Option& option) {
    option.check([least, most](const std::string& text) {
      Number number{};
      if (CLI::detail::lexical_cast(text, number) && number >= least && number <= most) return std::string();
      const auto digits = [](Number value) {
        std::array<char, 32> shortest{}; // 0.001, not 0.001000
        return std::string(shortest.data(), std::to_chars(shortest.begin(), shortest.end(), value).ptr);
      };
      return "must be a number from " + digits(least) + " to " + digits(most) + ", not '" + text + "'";
    });
  };
}

/// A check of CLI11's, for one of several words.
std::function<void(CLI::Option&)> member_check(const std::vector<std::string>& values) {
  return [values](CLI::Option& option) {
    option.check([values](const std::string& text) {
      if (std::ranges::count(values, text)) return std::string();
      std::string all;
      for (const std::string& value : values) all += (all.empty() ? "" : ", ") + value;
      return "'" + text + "' is none of " + all + suggestion(text, values);
    });
  };
}

/// CLI11: "--output: 1 required FILE missing", "--pid: At Most 1 required but received 2".
std::string mismatch(const std::string& message) {
  const std::string name = message.substr(0, message.find(':'));
  return name + (message.ends_with("missing") ? ": the value is missing" : ": given more than once");
}

/// CLI11: "Could not convert: --count = many".
std::string conversion(std::string_view message) {
  constexpr std::string_view start = "Could not convert: ", equals = " = ";
  if (message.starts_with(start)) message.remove_prefix(start.size());
  const std::size_t end = std::min(message.find(equals), message.size());
  const std::string_view value = message.substr(std::min(end + equals.size(), message.size()));
  return std::string(message.substr(0, end)) + ": '" + std::string(value) + "' is not a valid value";
}

std::string unknown(std::string_view argument, OptionEntries entries) {
  if (!argument.starts_with('-')) return "unexpected argument '" + std::string(argument) + "'";
  const std::string_view name = argument.substr(0, argument.find('='));
  std::vector<std::string> names;
  for (const auto& entry : entries)
    for (const std::string& known : entry->names)
      if (known.starts_with("--")) names.push_back(known);
  return "unknown option " + std::string(name) + suggestion(name, names);
}

} // namespace

Option Option::group(const std::string& name) const {
  entry_->group = name;
  return *this;
}

Option Option::common() const {
  entry_->is_common = true;
  return *this;
}

Option Option::type_name(const std::string& name) const {
  entry_->type_name = name;
  return *this;
}

Option Option::delimiter(char delimiter) const {
  entry_->delimiter = delimiter;
  return *this;
}

Option Option::one_value_each() const {
  entry_->one_value_each = true;
  return *this;
}

Option Option::show_default() const {
  entry_->show_default = true;
  return *this;
}

Option Option::one_of(const std::vector<std::string>& values) const {
  entry_->values = values;
  entry_->checks.push_back(member_check(values));
  return *this;
}

Option Option::completed_by(std::function<std::vector<std::string>()> values) const {
  entry_->more_values = std::move(values);
  return *this;
}

Option Option::range(std::uint32_t least, std::uint32_t most) const {
  entry_->checks.push_back(range_check(least, most));
  return *this;
}

Option Option::range(double least, double most) const {
  entry_->checks.push_back(range_check(least, most));
  return *this;
}

OptionList::OptionList(ProgramText text) : text_(std::move(text)) {}

OptionList::~OptionList() = default;

Option OptionList::add(const std::string& names, const std::string& text) {
  entries_.push_back(std::make_unique<OptionEntry>());
  OptionEntry& entry = *entries_.back();
  entry.spelling = names;
  entry.names = names_in(names);
  entry.text = text;
  return Option(entry);
}

template <class Value>
Option OptionList::add_value(const std::string& names, Value& value, const std::string& text) {
  const Option option = add(names, text);
  OptionEntry& entry = *entries_.back();
  entry.has_value = true;
  entry.is_list = std::is_same_v<Value, std::vector<std::string>>;
  entry.declare = [&entry, &value](CLI::App& app) { return app.add_option(entry.spelling, value); };
  if constexpr (std::is_same_v<Value, std::string>)
    entry.default_text = [&value] { return value; };
  else if constexpr (std::is_arithmetic_v<Value>)
    entry.default_text = [&value] { return std::to_string(value); };
  return option;
}

template <class Value>
Option OptionList::add_switch(const std::string& names, Value& value, const std::string& text) {
  const Option option = add(names, text);
  OptionEntry& entry = *entries_.back();
  entry.is_list = std::is_same_v<Value, std::vector<std::string>>;
  entry.has_value = entry.may_lack_value = entry.is_list || std::is_same_v<Value, std::string>;
  entry.declare = [&entry, &value](CLI::App& app) { return app.add_flag(entry.spelling, value); };
  return option;
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
                              const std::string& text, const std::function<void(const std::string&)>& set) {
  const Option option = add(names, text);
  OptionEntry& entry = *entries_.back();
  entry.has_value = true;
  entry.declare = [&entry, set](CLI::App& app) {
    const CLI::callback_t assign = [set](const CLI::results_t& results) {
      set(results.back());
      return true;
    };
    return app.add_option(entry.spelling, assign);
  };
  return option.one_of(values);
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

void OptionList::add_help_and_version(const std::string& group) {
  add_flag("-h,--help", is_asked_, "Print the most used options and exit").group(group).common();
  add_flag("--help-all", is_asked_, "Print all options, environment variables and exit codes")
      .group(group)
      .common();
  add_flag("--help-json", is_asked_, "Print the options as JSON and exit (for completions)").group(group);
  add_flag("--version", is_asked_, "Print the version and exit").group(group).common();
}

std::optional<OptionList::Ended> OptionList::parse(int argc, const char* const* argv) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  const std::span<const char* const> arguments(argv, static_cast<std::size_t>(argc));
  std::vector<std::pair<OptionEntry*, CLI::Option*>> declared;
  for (const auto& entry : entries_) {
    entry->count = 0;
    if (!may_be_named(*entry, arguments)) continue;
    CLI::Option* const option = entry->declare(app);
    if (entry->delimiter != 0) option->delimiter(entry->delimiter);
    if (entry->one_value_each) option->allow_extra_args(false);
    for (const auto& add_check : entry->checks) add_check(*option);
    declared.emplace_back(entry.get(), option);
  }
  std::string wrong;
  // CLI11 reports by exceptions, which are handled here.
  try {
    app.parse(argc, argv);
    // The "--" after which nothing is an option is among what remains.
    auto others = app.remaining();
    if (const auto mark = std::ranges::find(others, "--"); mark != others.end()) others.erase(mark);
    if (!others.empty()) wrong = unknown(others.front(), entries_);
  } catch (const CLI::ArgumentMismatch& what) {
    wrong = mismatch(what.what());
  } catch (const CLI::ConversionError& what) {
    wrong = conversion(what.what());
  } catch (const CLI::Error& what) {
    wrong = what.what();
  }
  for (const auto& [entry, option] : declared) entry->count = option->count();
  // Whatever else is wrong.
  if (count("--help-all") != 0) return Ended{.text = help_text(text_, entries_, true, help_width())};
  if (count("--help") != 0) return Ended{.text = help_text(text_, entries_, false, help_width())};
  if (count("--help-json") != 0) return Ended{.text = help_json(text_, entries_)};
  if (count("--version") != 0) return Ended{.text = text_.name + " (sframe-utils) " + text_.version + "\n"};
  if (wrong.empty()) return std::nullopt;
  return Ended{.is_error = true, .text = wrong};
}

std::size_t OptionList::count(std::string_view name) const {
  for (const auto& entry : entries_)
    if (std::ranges::count(entry->names, name)) return entry->count;
  return 0;
}

} // namespace sframe::tool
