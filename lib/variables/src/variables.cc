// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finder::find() gets the chain of functions and inlined calls at the pc. For each, ScopeReader collects the
// entries of parameters and variables in the blocks that have the pc, inner blocks first, completes them by
// those of the abstract instance, and lets Formatter print them. Each entry that is looked at is charged to
// the budget; the number of variables is limited by Settings.

#include "sframe/variables/variables.h"

#include "format.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

namespace sframe::variables {

namespace {

using namespace llvm::dwarf;

/// How many callers are asked for a value at the entry of a function, one after the other.
constexpr unsigned most_callers = 4;
constexpr unsigned deepest_block = 256;
constexpr std::size_t longest_name = 1000;

bool is_block(llvm::dwarf::Tag tag) {
  return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/// Collects the variables of a function, or of an inlined call.
class ScopeReader {
public:
  ScopeReader(FrameValues& values, const Settings& settings, std::uint64_t address)
      : values_(values), reader_(values.reader()), settings_(settings), address_(address) {}

  Scope read(const llvm::DWARFDie& function) {
    collect(function, 0);
    Scope scope;
    Formatter formatter(values_, settings_);
    if (settings_.arguments)
      for (const auto& entries : arguments_) add(scope.arguments, entries, formatter);
    if (settings_.locals)
      for (const auto& entries : locals_) add(scope.locals, entries, formatter);
    return scope;
  }

private:
  using Entries = std::vector<DebugEntry>;

  bool step() { return reader_.take(Resource::debug_steps, 1); }

  /// Locals of inner blocks come first, as the innermost declaration of a name is the valid one.
  void collect(const llvm::DWARFDie& parent, unsigned depth) {
    std::vector<Entries> own;
    std::unordered_set<const llvm::DWARFDebugInfoEntry*> known; // entries that have an instance here
    collect(parent, depth, own, known);
    add_missing(parent, depth, own, known);
    for (Entries& entries : own) locals_.push_back(std::move(entries));
  }

  void collect(const llvm::DWARFDie& parent, unsigned depth, std::vector<Entries>& own,
               std::unordered_set<const llvm::DWARFDebugInfoEntry*>& known) {
    for (const llvm::DWARFDie& child : parent.children()) {
      if (!step()) return;
      const auto tag = child.getTag();
      if (is_block(tag)) {
        if (depth == deepest_block) continue;
        if (!reader_.visit(child)) return;
        const auto contains = contains_address(child);
        if (!contains) // without addresses: a part of the block around it
          collect(child, depth + 1, own, known);
        else if (*contains)
          collect(child, depth + 1);
      } else if (tag == DW_TAG_formal_parameter || tag == DW_TAG_variable) {
        // Those that are not shown are not kept either.
        const std::size_t before = tag == DW_TAG_variable ? locals_.size() + own.size() : arguments_.size();
        if (before >= settings_.variables) continue;
        if (!reader_.visit(child)) return;
        auto entries = reader_.follow_origins({child, &reader_.debug()});
        if (!entries) continue;
        for (const DebugEntry& entry : *entries) known.insert(entry.die.getDebugInfoEntry());
        if (tag == DW_TAG_variable)
          own.push_back(std::move(*entries));
        else if (depth == 0)
          arguments_.push_back(std::move(*entries));
      }
    }
  }

  /// Those of the abstract instance that the program does not have here (DWARF 5, section 3.3.8.2).
  void add_missing(const llvm::DWARFDie& instance, unsigned depth, std::vector<Entries>& own,
                   const std::unordered_set<const llvm::DWARFDebugInfoEntry*>& known) {
    const auto origin = reader_.referred({instance, &reader_.debug()}, DW_AT_abstract_origin);
    if (!origin || !origin->die) return;
    std::vector<Entries> ordered;
    for (const llvm::DWARFDie& child : origin->die.children()) {
      if (!step()) return;
      const auto tag = child.getTag();
      if (tag != DW_TAG_formal_parameter && tag != DW_TAG_variable) continue;
      const DebugEntry entry{child, origin->in};
      if (!known.contains(child.getDebugInfoEntry())) {
        if (tag == DW_TAG_variable)
          own.push_back({entry});
        else if (depth == 0)
          ordered.push_back({entry});
      } else if (tag == DW_TAG_formal_parameter && depth == 0) {
        const auto at = std::ranges::find_if(arguments_, [&](const Entries& entries) {
          return std::ranges::any_of(entries, [&](const DebugEntry& one) { return one.die == child; });
        });
        if (at == arguments_.end() || arguments_.size() > settings_.variables) continue;
        ordered.push_back(std::move(*at));
        arguments_.erase(at);
      }
    }
    if (depth != 0) return;
    for (Entries& entries : arguments_) ordered.push_back(std::move(entries));
    arguments_ = std::move(ordered);
  }

  /// Nothing if the block has no addresses.
  std::optional<bool> contains_address(const llvm::DWARFDie& block) {
    const auto [at, added] = reader_.debug().ranges.try_emplace(block.getDebugInfoEntry());
    if (added && block.find(DW_AT_ranges) &&
        !reader_.debug().check->can_read_ranges(*block.getDwarfUnit(), *block.find(DW_AT_ranges)))
      return false;
    if (added) {
      auto ranges = block.getAddressRanges();
      if (ranges)
        at->second = std::move(*ranges);
      else
        llvm::consumeError(ranges.takeError());
    }
    if (at->second.empty()) return std::nullopt;
    if (!reader_.take(Resource::debug_steps, at->second.size())) return false;
    return std::ranges::any_of(at->second, [&](const llvm::DWARFAddressRange& range) {
      return range.LowPC <= address_ && address_ < range.HighPC;
    });
  }

  void add(std::vector<Variable>& to, const Entries& entries, Formatter& formatter) {
    if (to.size() >= settings_.variables || reader_.is_out_of_names()) return;
    if (has_flag(entries, DW_AT_declaration)) return; // of another scope
    const char* name = nullptr;
    for (const DebugEntry& entry : entries)
      if (!name) name = reader_.text_of(entry, DW_AT_name);
    if (!name) return;
    const std::size_t length = ::strnlen(name, longest_name + 1);
    if (!reader_.take(Resource::name_bytes, length)) return;
    Variable variable = formatter.variable(entries);
    variable.name.assign(name, std::min(length, longest_name));
    if (length > longest_name) variable.name += "...";
    to.push_back(std::move(variable));
  }

  FrameValues& values_;
  DebugReader& reader_;
  const Settings& settings_;
  std::uint64_t address_;
  std::vector<Entries> arguments_, locals_;
};

} // namespace

struct Finder::State {
  Surroundings surroundings;
  Settings settings;
};

Finder::Finder(modules::ModuleSpace& space, unwind::StepperList steppers,
               std::shared_ptr<modules::DebugInfoCache> cache, const Settings& settings)
    : state_(new State{{space, unwind::Memory(space), unwind::Walker(space, std::move(steppers)),
                        std::move(cache), settings.other_modules},
                       settings}) {}
Finder::~Finder() = default;

void Finder::forget_memory() {
  state_->surroundings.memory = unwind::Memory(state_->surroundings.space);
  state_->surroundings.walker.forget_memory();
}

std::vector<Scope> Finder::find(const unwind::Frame& frame, const unwind::Registers& registers) {
  Surroundings& surroundings = state_->surroundings;
  modules::Module* const module = surroundings.space.module_at(frame.lookup_pc());
  modules::DebugInfo* const debug =
      module ? find_debug_info(*module, *surroundings.cache, frame.lookup_pc()) : nullptr;
  if (!debug) return {};
  DebugReader reader(*module, *debug);
  const std::uint64_t address = reader.location_of(frame.lookup_pc()).Address;
  const auto chain = reader.find_chain(address);
  if (!chain.unit || chain.entries.empty()) return {};
  const unwind::FrameState state{registers, frame.pc_exact, frame.after_fault};
  FrameValues values(surroundings, state, frame.has_cfa ? std::optional(frame.cfa) : std::nullopt, reader,
                     chain.entries.back(), most_callers);
  std::vector<Scope> scopes;
  const std::size_t first = state_->settings.inlined ? 0 : chain.entries.size() - 1;
  for (std::size_t i = first; i < chain.entries.size(); ++i)
    scopes.push_back(ScopeReader(values, state_->settings, address).read(chain.entries[i]));
  return scopes;
}

} // namespace sframe::variables
