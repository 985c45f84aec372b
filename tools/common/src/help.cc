// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layout of a help text: names of options at column 2, texts at column 28, or below the names where these
// reach further. Examples are wrapped in the same way, in two columns.
//
//    Output:
//      -o, --output FILE         Write to FILE, atomically; - is standard
//                                output
//      --format text|gnu|llvm|json|html
//                                Output format (default: text)

#include "help.h"

#include "sframe/tool/output.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sframe::tool {

namespace {

constexpr std::size_t indent = 2, text_column = 28, least_width = 40, default_width = 80;

/// Appends words from `column` on, which is where the last line of `out` ends; further lines begin at
/// `start`.
void append_wrapped(std::string& out, std::string_view text, std::size_t column, std::size_t start,
                    std::size_t width) {
  bool at_start = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!at_start && column + 1 + word.size() > width) {
      out += '\n' + std::string(start, ' ');
      column = start;
      at_start = true;
    }
    if (!at_start) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    at_start = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  out += '\n';
}

/// A line of two columns. The first is split at | if it is longer than a line.
void append_two_columns(std::string& out, std::string_view left, std::string_view right, std::size_t second,
                        std::size_t width) {
  out.append(indent, ' ');
  while (indent + left.size() > width) {
    const std::size_t end = left.rfind('|', width - indent - 1);
    if (end == left.npos || end == 0) break;
    out.append(left.substr(0, end + 1)) += '\n' + std::string(2 * indent, ' ');
    left.remove_prefix(end + 1);
  }
  out += left;
  if (right.empty()) {
    out += '\n';
    return;
  }
  std::size_t column = indent + left.size();
  if (column + 2 > second) {
    out += '\n';
    column = 0;
  }
  out.append(second - column, ' ');
  append_wrapped(out, right, second, second, width);
}

/// "-o, --output FILE", "--repair[=apply|list]", "FILE...".
std::string usage_of(const OptionEntry& entry) {
  if (entry.is_positional()) return entry.names.front() + (entry.is_list ? "..." : "");
  std::string usage;
  for (const std::string& name : entry.names) usage += (usage.empty() ? "" : ", ") + name;
  if (entry.may_lack_value) return usage + "[=" + entry.argument() + "]";
  return entry.has_value ? usage + ' ' + entry.argument() : usage;
}

std::string usage_line(const ProgramText& program, OptionEntries entries) {
  std::string usage = program.name + " [OPTIONS]";
  for (const auto& entry : entries)
    if (entry->is_positional()) usage += ' ' + usage_of(*entry);
  return usage;
}

/// The command ends at two blanks that are not in quotes.
Term split_example(std::string_view line) {
  char quote = 0;
  std::size_t end = 0;
  for (; end < line.size(); ++end) {
    const char c = line[end];
    if (quote != 0)
      quote = c == quote ? 0 : quote;
    else if (c == '\'' || c == '"')
      quote = c;
    else if (line.substr(end).starts_with("  "))
      break;
  }
  const std::size_t text = std::min(line.find_first_not_of(' ', end), line.size());
  return {std::string(line.substr(0, end)), std::string(line.substr(text))};
}

std::vector<Term> split_examples(std::string_view lines) {
  std::vector<Term> examples;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    const std::size_t start = std::min(line.find_first_not_of(' '), line.size());
    if (start <= indent || examples.empty())
      examples.push_back(split_example(line.substr(start)));
    else
      examples.back().text += (examples.back().text.empty() ? "" : " ") + std::string(line.substr(start));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return examples;
}

void append_terms(std::string& out, const char* title, const std::vector<Term>& terms, std::size_t second,
                  std::size_t width) {
  if (terms.empty()) return;
  out.append("\n").append(title).append(":\n");
  for (const Term& term : terms) append_two_columns(out, term.name, term.text, second, width);
}

void append_group(std::string& out, OptionEntries entries, const std::string& group, bool all,
                  std::size_t second, std::size_t width) {
  bool any = false;
  for (const auto& entry : entries) {
    if (entry->group != group || entry->is_positional() || !(all || entry->is_common)) continue;
    if (!std::exchange(any, true)) out += '\n' + group + ":\n";
    append_two_columns(out, usage_of(*entry), entry->full_text(), second, width);
  }
}

void append_terms(Output& out, const char* key, const char* first, const std::vector<Term>& terms) {
  out << ",\n\"" << key << "\":[";
  const char* separator = "";
  for (const Term& term : terms) {
    out << std::exchange(separator, ",") << "\n{\"" << first << "\":";
    out.json_string(term.name) << ",\"text\":";
    out.json_string(term.text) << '}';
  }
  out << ']';
}

void append_list(Output& out, const char* key, const std::vector<std::string>& texts) {
  out << '"' << key << "\":[";
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i != 0) out << ',';
    out.json_string(texts[i]);
  }
  out << ']';
}

void append_option(Output& out, const OptionEntry& entry) {
  const auto truth = [](bool value) { return value ? "true" : "false"; };
  out << "{";
  append_list(out, "names", entry.names);
  out << ",\"argument\":";
  out.json_string(entry.argument()) << ",\"optional\":" << truth(entry.may_lack_value) << ',';
  append_list(out, "values", entry.more_values ? entry.more_values() : entry.values);
  out << ",\"list\":" << truth(entry.delimiter != 0 || entry.type_name == "LIST")
      << ",\"repeatable\":" << truth(entry.is_list) << ",\"group\":";
  out.json_string(entry.group) << ",\"common\":" << truth(entry.is_common) << ",\"text\":";
  out.json_string(entry.full_text()) << '}';
}

} // namespace

std::string OptionEntry::argument() const {
  if (!has_value || is_positional()) return {};
  if (!type_name.empty() || values.empty()) return type_name.empty() ? "VALUE" : type_name;
  std::string all;
  for (const std::string& value : values) all += (all.empty() ? "" : "|") + value;
  return all;
}

std::string OptionEntry::full_text() const {
  return show_default && default_text ? text + " (default: " + default_text() + ")" : text;
}

std::size_t help_width() {
  std::size_t width = 0;
  if (const char* const columns = std::getenv("COLUMNS"))
    std::from_chars(columns, columns + std::strlen(columns), width);
  struct winsize size {};
  if (width == 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  return width == 0 ? default_width : std::max(width, least_width);
}

std::string help_text(const ProgramText& program, OptionEntries entries, bool all, std::size_t width) {
  const std::size_t second = std::min(text_column, width / 3);
  std::string out;
  append_wrapped(out, program.summary, 0, 0, width);
  append_wrapped(out, "Usage: " + usage_line(program, entries), 0, 7, width);
  out += '\n';
  for (const auto& entry : entries)
    if (entry->is_positional()) append_two_columns(out, usage_of(*entry), entry->full_text(), second, width);
  std::vector<std::string> groups;
  for (const auto& entry : entries)
    if (!std::ranges::count(groups, entry->group)) groups.push_back(entry->group);
  for (const std::string& group : groups) append_group(out, entries, group, all, second, width);
  if (all) {
    append_terms(out, "Environment", program.environment, second, width);
    append_terms(out, "Exit codes", program.exit_codes, second, width);
  }
  const std::vector<Term> examples = split_examples(program.examples);
  if (examples.empty()) return out;
  std::size_t longest = 0;
  for (const Term& example : examples)
    if (!example.text.empty()) longest = std::max(longest, example.name.size());
  out += "\nEXAMPLES\n";
  for (const Term& example : examples)
    append_two_columns(out, example.name, example.text, std::min(longest + indent + 2, width / 2 + 4), width);
  return out;
}

std::string help_json(const ProgramText& program, OptionEntries entries) {
  Output out(-1);
  out << "{\"program\":";
  out.json_string(program.name) << ",\"version\":";
  out.json_string(program.version) << ",\"summary\":";
  out.json_string(program.summary) << ",\"usage\":";
  out.json_string(usage_line(program, entries)) << ",\n\"options\":[";
  const char* separator = "\n";
  for (const auto& entry : entries) {
    out << std::exchange(separator, ",\n");
    append_option(out, *entry);
  }
  out << ']';
  append_terms(out, "environment", "name", program.environment);
  append_terms(out, "exit_codes", "name", program.exit_codes);
  append_terms(out, "examples", "command", split_examples(program.examples));
  out << "}\n";
  return out.take_text();
}

} // namespace sframe::tool
