// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// show() goes down in four steps: the sections of an object, the SFrame sections (parts) that were joined in
// one, its functions, and the filter. A damaged part is shown up to its first fault. Functions that share
// rows could be printed without end: a part ends with an error after plausible_rows(), and rows, names and
// printed bytes are charged to the budget of the file.

#include "driver.h"

#include "describe.h"

#include "sframe/names/demangle.h"

#include <sframe/base/text.h>

#include <algorithm>
#include <utility>

namespace sframe::dump {

namespace {

/// Damaged sections can still be shown in part, now or by a newer version; unknown data cannot.
int exit_code(ErrorKind kind) {
  return kind == ErrorKind::unknown_version || kind == ErrorKind::unknown_abi ? tool::exit_failure
                                                                              : tool::exit_findings;
}

} // namespace

void Driver::set_budget(Budget* budget, const std::string& path) {
  if (const auto problem = budget_ ? budget_->problem() : std::nullopt) {
    budget_ = nullptr;
    unreadable(budget_path_, *problem, tool::exit_findings);
  }
  budget_ = budget;
  budget_path_ = path;
  charged_output_ = out_.size();
}

void Driver::charge_output() {
  if (budget_)
    (void)budget_->take(Resource::printed_bytes, out_.size() - std::exchange(charged_output_, out_.size()));
}

void Driver::report(std::string_view file, const Problem& problem, int code) {
  messages_.error(file, problem);
  code_ = std::max(code_, code);
}

void Driver::unreadable(const std::string& name, const Problem& problem, int code) {
  report(name, problem, code);
  dumper_.unreadable_file(name, problem);
}

void Driver::cut(const std::string& name) {
  dumper_.unreadable_file(name, {tool::cut_input, {}, {}});
}

void Driver::show(const Object& object) {
  sections_ += object.sections.size();
  names_.select(object);
  dumper_.begin_object(object);
  if (object.sections.empty()) dumper_.no_section(object);
  for (const ObjectSection& section : object.sections) {
    if (stopped()) break;
    if (section.contents.empty()) {
      dumper_.empty_section(object, section);
      continue;
    }
    names_.select(section);
    if (const auto& problem = names_.problem()) {
      if (budget_ && budget_->is_used_up(Resource::section_bytes)) break; // reported once, at the end
      report(object.name(), *problem, tool::exit_findings);
    }
    dumper_.begin_section(object, section);
    show_section(object, section);
    dumper_.end_section();
    if (dumper_.first_section_only()) break;
  }
  dumper_.end_object();
  charge_output();
}

void Driver::show_section(const Object& object, const ObjectSection& section) {
  const auto unreadable = [&](const Problem& problem, int code) {
    dumper_.unreadable(problem);
    report(object.name(), problem, code);
  };
  Concatenated parts(section.contents.bytes(), section.address);
  for (std::uint32_t number = 0; !stopped(); ++number) {
    const auto next = parts.next();
    if (!next) {
      const Problem problem = to_problem(next.error(), section.name);
      // Header and functions are shown up to the first fault.
      std::optional<Error> fault;
      const auto damaged = Section::parse_damaged(section.contents.bytes().subspan(parts.offset()),
                                                  section.address + parts.offset(), fault);
      if (!damaged || !fault || (number > 0 && dumper_.first_part_only()))
        return unreadable(problem, exit_code(next.error().kind));
      show_part(object, section, {*damaged, parts.offset(), number}, &problem);
      return;
    }
    if (!*next) {
      if (number == 0) unreadable({"section contains only zero bytes", section.name, 0}, tool::exit_findings);
      return;
    }
    if (number > 0 && dumper_.first_part_only()) {
      messages_.warning(object.name(),
                        "section " + section.name +
                            " contains several SFrame sections; this format shows only the first");
      return;
    }
    if (budget_ && !budget_->take_section()) return;
    if (!show_part(object, section, {**next, parts.offset(), number})) return;
  }
}

/// `damage` is a fault of the part as a whole, or nullptr.
bool Driver::show_part(const Object& object, const ObjectSection& section, const Part& part,
                       const Problem* damage) {
  if (const auto reason = dumper_.refuses(part)) {
    report(object.name(), {*reason, {}, std::nullopt}, tool::exit_failure);
    return false;
  }
  if (const std::uint8_t unknown = unknown_flags(part.section))
    messages_.warning(object.name(), Problem{"unknown flags " + hex(unknown), section.name, part.offset + 3});
  if (object.image && object.image->abi() != &part.section.abi())
    messages_.warning(object.name(), Problem{"the section's ABI does not match the file's machine: " +
                                                 std::string(part.section.abi().name),
                                             section.name, part.offset + 4});
  ++parts_;
  dumper_.begin_part(part);
  const auto problem = filter_.header_only ? std::nullopt : show_functions(section, part);
  dumper_.end_part(damage ? damage : problem ? &*problem : nullptr);
  if (!filter_.header_only && rows_at_end_)
    messages_.warning(object.name(), Problem{"rows at the end of their function apply to no address (" +
                                                 std::to_string(rows_at_end_) + ", the first in function " +
                                                 std::to_string(first_at_end_) + ")",
                                             section.name,
                                             {}});
  charge_output();
  if (damage) report(object.name(), *damage, tool::exit_findings);
  if (problem) report(object.name(), *problem, tool::exit_findings);
  return true;
}

std::optional<Problem> Driver::show_functions(const ObjectSection& section, const Part& part) {
  std::uint64_t rows = 0;
  rows_at_end_ = 0;
  for (std::uint32_t i = 0; i < part.section.num_fdes() && !stopped(); ++i) {
    auto fde = part.section.fde(i);
    if (!fde) return to_problem(fde.error(), section.name, part.offset);
    if (progress_) progress_->add(progress_bytes_ / part.section.num_fdes());
    if (!filter_.names.empty() && budget_ && budget_->is_used_up(Resource::name_bytes)) break;
    if (budget_ && !budget_->take(Resource::rows, 1)) break;
    const FunctionLocation location = names_.locate(part.section, part.offset, *fde);
    if (!wanted(*fde, location)) continue;
    ++functions_;
    rows += fde->num_fres;
    RowCursor cursor = part.section.rows(*fde);
    const std::uint64_t expected = std::min<std::uint64_t>(fde->num_fres, part.section.plausible_rows());
    if (budget_ && !budget_->take(Resource::rows, expected)) break;
    const auto error = dumper_.function(*fde, location, cursor);
    charge_output();
    if (cursor.at_function_end() && rows_at_end_++ == 0) first_at_end_ = i;
    if (error) return to_problem(*error, section.name, part.offset);
    if (rows > part.section.plausible_rows())
      return Problem{"too many shared rows; remaining functions skipped", section.name,
                     part.offset + fde->index_offset};
  }
  return std::nullopt;
}

bool Driver::wanted(const EncodedFde& fde, const FunctionLocation& location) {
  const AddressRange range{location.start, std::max(fde.size, 1u)}; // an empty function counts as its start
  if (filter_.addresses && !filter_.addresses->overlaps(range)) return false;
  if (filter_.names.empty()) return true;
  const auto name = names_.find(location);
  ++asked_;
  if (!name) return false;
  ++named_;
  if (budget_ && !budget_->take(Resource::name_bytes, name->raw.size() * filter_.names.size())) return false;
  const std::string demangled = names::demangle(name->raw, name->budget);
  return std::ranges::any_of(filter_.names, [&](const tool::Glob& glob) {
    return glob.matches(name->raw) || glob.matches(demangled);
  });
}

/// Why no function has one of the names, as far as that is known, and what may help.
std::string Driver::no_match() const {
  std::string text = "no function matches the given names";
  if (asked_ == 0) return text;
  if (named_ == asked_) return text + " (--list shows them)";
  text += named_ == 0 ? ": no function has a name"
                      : ": " + with_commas(named_) + " of " + with_commas(asked_) + " functions have one";
  return text + "; others may be in a debug file (install the package's debug symbols, or pass --debug-dir)";
}

int Driver::finish(const std::string& section, bool may_be_none) {
  dumper_.finish();
  if (parts_ && !functions_ && !filter_.all_functions() && !filter_.header_only)
    report({}, {filter_.names.empty() ? "no function covers the given addresses" : no_match(), {}, {}},
           tool::exit_failure);
  // What was there and could not be read has been reported.
  if (!sections_ && code_ != tool::exit_failure && messages_.errors() == 0 && !may_be_none)
    report({}, {"no file has a section " + section + ": nothing was shown", {}, {}}, tool::exit_failure);
  return code_;
}

} // namespace sframe::dump
