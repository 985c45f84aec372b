// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/verify/names.h"

#include "sframe/base/printable.h"
#include "sframe/names/demangle.h"
#include "source_lines.h"

namespace sframe::verify {

Names::Names() = default;
Names::Names(std::vector<const elf::Image*> images, Limits limits)
    : images_(std::move(images)), limits_(limits) {}
Names::~Names() = default;

std::optional<elf::SymbolTable::Match> Names::find(const Location& at) {
  if (!table_) {
    table_.emplace();
    for (const elf::Image* image : images_) {
      if (!table_->symbols().empty()) break;
      table_ = elf::SymbolTable::load(*image);
    }
  }
  return table_->find(at.section, at.pc);
}

std::string Names::demangled(std::string_view name) const {
  return shown_name(names::demangle(name, images_.empty() ? nullptr : images_.front()->budget()));
}

std::string Names::function(const Location& at) {
  const auto match = find(at);
  return match ? demangled(match->symbol->name) : std::string();
}

std::string Names::describe(const Location& at) {
  const auto match = find(at);
  if (!match) return {};
  std::string out = demangled(match->symbol->name);
  if (match->offset) out.append("+").append(hex(match->offset));
  return out;
}

SourceLines* Names::lines() {
  if (!lines_asked_) {
    lines_asked_ = true;
    for (const elf::Image* image : images_) {
      if (!lines_) lines_ = SourceLines::open(*image, limits_);
      if (!lines_ && !elf::steps_to_find_unit(*image)) lines_problem_ = elf::all_lines_cost_too_much;
    }
  }
  return lines_.get();
}

std::optional<Names::Source> Names::source(const Location& at) {
  return lines() ? lines_->find(at) : std::nullopt;
}

std::string Names::producer(const Location& at) {
  return lines() ? lines_->producer(at) : std::string();
}

std::vector<std::string> Names::producers(std::size_t limit) {
  return lines() ? lines_->producers(limit) : std::vector<std::string>();
}

std::string Names::source_problem() const {
  return lines_ ? lines_->problem() : lines_problem_;
}

} // namespace sframe::verify
