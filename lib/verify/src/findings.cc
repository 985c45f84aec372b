// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of findings as data (findings.def), as a page, and what users choose of it: severities by the
// longest prefix of an identifier.

#include "sframe/verify/findings.h"

#include <algorithm>

namespace sframe::verify {

namespace {

constexpr Check table[] = {
#define FINDING(id, severity, title, text, example) {Id::id, #id, Severity::severity, title, text, example},
#include "sframe/verify/findings.def"
#undef FINDING
};

Policy::Action action_of(Severity severity) {
  return severity == Severity::error     ? Policy::Action::error
         : severity == Severity::warning ? Policy::Action::warning
                                         : Policy::Action::note;
}

struct Group {
  std::string_view prefix; ///< of the identifiers
  std::string_view title;
};
constexpr Group groups[] = {{"S", "Structure of the section"},
                            {"C", "Section compared with the CFI"},
                            {"P", "Requirements of a reader (--profile), and of coverage (--min-coverage)"},
                            {"K", "Section compared with the machine code"},
                            {"O", "Section compared with ORC, the Linux kernel's table (--check=orc)"},
                            {"R4", "Section compared with what happened while a program ran (--check=run)"},
                            {"R5", "Rows at return addresses, which some readers look up as they are"}};

/// The text and the example: at the end of the paragraph if it has one line, otherwise as an indented block.
std::string body_markdown(const Check& check, std::size_t width) {
  std::string out = wrapped(check.text, width);
  std::string_view example = check.example;
  if (example.find('\n') == std::string_view::npos) {
    example.remove_prefix(example.find_first_not_of(' '));
    const std::string last = "Example: `" + std::string(example) + "`\n";
    const std::size_t length = out.size() - 1 - (out.rfind('\n', out.size() - 2) + 1);
    if (length + last.size() <= width) out.back() = ' ';
    return out.append(last);
  }
  out.push_back('\n');
  while (!example.empty()) {
    const std::size_t end = std::min(example.find('\n'), example.size());
    out.append("    ").append(example.substr(0, end)).push_back('\n');
    example.remove_prefix(std::min(end + 1, example.size()));
  }
  return out;
}

} // namespace

std::span<const Check> checks() {
  return table;
}

const Check& check(Id id) {
  return table[static_cast<std::size_t>(id)];
}

const Check* find_check(std::string_view name) {
  for (const Check& c : table)
    if (c.name == name) return &c;
  return nullptr;
}

std::string_view severity_name(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    std::size_t cut = text.size() <= width ? text.size() : text.rfind(' ', width);
    if (cut == std::string_view::npos) cut = std::min(text.find(' '), text.size());
    out.append(text.substr(0, cut)).push_back('\n');
    text.remove_prefix(cut == text.size() ? cut : cut + 1);
  }
  return out;
}

std::string checks_markdown() {
  constexpr std::size_t width = 100;
  std::string out =
      "# Findings of sframe-verify\n\n" +
      wrapped("Generated from `lib/verify/include/sframe/verify/findings.def` by `sframe-verify "
              "--list-checks --format=markdown`; do not edit. The severities are the defaults: "
              "`--error`, `--warning` and `--ignore` change them. Missing numbers are reserved.",
              width);
  for (const Group& group : groups) {
    bool first = true;
    for (const Check& c : table) {
      if (!c.name.starts_with(group.prefix)) continue;
      if (first) out.append("\n## ").append(group.title).append("\n");
      first = false;
      out.append("\n### ").append(c.name).append(" ").append(c.title).append(" (");
      out.append(severity_name(c.severity)).append(")\n\n").append(body_markdown(c, width));
    }
  }
  return out;
}

Policy::Policy() {
  for (const Check& c : table) choices_[static_cast<std::size_t>(c.id)].action = action_of(c.severity);
}

bool Policy::set(std::string_view prefix, Action action) {
  if (prefix.empty()) return false;
  bool any = false;
  for (const Check& c : table) {
    if (!c.name.starts_with(prefix)) continue;
    any = true;
    Choice& choice = choices_[static_cast<std::size_t>(c.id)];
    if (prefix.size() < choice.prefix_size) continue;
    choice.action = action;
    choice.prefix_size = static_cast<std::uint8_t>(prefix.size());
  }
  return any;
}

void Policy::set_warnings_are_errors() {
  for (Choice& choice : choices_) choice.warning_is_error = true;
}

bool Policy::set_warnings_are_errors(std::string_view prefix) {
  if (prefix.empty()) return false;
  bool any = false;
  for (const Check& c : table)
    if (c.name.starts_with(prefix)) any = choices_[static_cast<std::size_t>(c.id)].warning_is_error = true;
  return any;
}

void Policy::set_default(Id id, Action action) {
  Choice& choice = choices_[static_cast<std::size_t>(id)];
  if (choice.prefix_size == 0) choice.action = action;
}

std::optional<Severity> Policy::severity(const Finding& finding) const {
  const Choice& choice = choices_[static_cast<std::size_t>(finding.id)];
  switch (finding.compiler && choice.prefix_size == 0 ? compiler_ : choice.action) {
  case Action::note: return Severity::note;
  case Action::warning: return choice.warning_is_error ? Severity::error : Severity::warning;
  case Action::error: return Severity::error;
  case Action::ignore: break;
  }
  return std::nullopt;
}

std::optional<Policy::Action> find_action(std::string_view name) {
  if (name == "ignore") return Policy::Action::ignore;
  for (const Severity severity : {Severity::note, Severity::warning, Severity::error})
    if (severity_name(severity) == name) return action_of(severity);
  return std::nullopt;
}

std::vector<Evidence> evidence_of(const Finding& finding) {
  std::vector<Evidence> all = {{"At", finding.instruction},
                               {"SFrame", finding.sframe},
                               {"CFI", finding.cfi},
                               {"Code", finding.code},
                               {"ORC", finding.orc}};
  std::erase_if(all, [](const Evidence& one) { return one.text.empty(); });
  return all;
}

} // namespace sframe::verify
