// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source positions from line tables and inlined subroutines.

#include "sframe/modules/source.h"

#include "sframe/modules/llvm_debug_info.h"
#include "sframe/names/demangle.h"

#include <cstring>
#include <limits>
#include <utility>

namespace sframe::modules {

namespace {

/// Looks up one address.
class Lookup {
public:
  Lookup(Module& module, DebugInfo& debug, std::uint64_t lookup_pc)
      : reader_(module, debug), module_(module), debug_(debug), address_(reader_.location_of(lookup_pc)) {}

  std::optional<SourceLocation> find();

private:
  static constexpr std::size_t most_inlined = 1024;
  bool take(Resource resource, std::uint64_t amount) { return reader_.take(resource, amount); }
  bool is_out_of_names() const { return reader_.is_out_of_names(); }
  const DebugFunction& function(const llvm::DWARFDie& entry);
  std::optional<const std::string*> name_of(const llvm::DWARFDie& entry);
  std::string file(std::uint64_t number);
  SourceLine line(std::uint64_t file_number, std::uint32_t number);
  SourceLine line_of_address();

  DebugReader reader_;
  Module& module_;
  DebugInfo& debug_;
  const llvm::object::SectionedAddress address_;
  llvm::DWARFCompileUnit* unit_ = nullptr;
  const llvm::DWARFDebugLine::LineTable* lines_ = nullptr;
};

std::optional<SourceLocation> Lookup::find() {
  const auto [unit, chain] = reader_.find_chain(address_.Address);
  unit_ = unit;
  if (!unit_) return std::nullopt;

  lines_ = debug_.dwarf->context().getLineTableForUnit(unit_);
  SourceLocation location{{}, line_of_address()};
  if (chain.empty()) return location.at.file.empty() ? std::nullopt : std::optional(std::move(location));
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    if (i == most_inlined) {
      module_.add_problem("too many inlined calls at one address: some are left out");
      break;
    }
    const DebugFunction& inlined = function(chain[i]);
    const std::string* const name = inlined.name.value_or(nullptr);
    InlinedCall call{name ? *name : std::string(), std::move(location.at)};
    location.at = line(inlined.call_file, inlined.call_line);
    const bool paid = take(Resource::name_bytes, call.function.size());
    location.inlined.push_back(std::move(call));
    if (!paid) break;
  }
  if (location.at.file.empty() && location.inlined.empty()) return std::nullopt;
  return location;
}

const DebugFunction& Lookup::function(const llvm::DWARFDie& entry) {
  const auto [at, added] = debug_.functions.try_emplace(entry.getDebugInfoEntry());
  DebugFunction& function = at->second;
  std::uint32_t column = 0, discriminator = 0;
  if (added) entry.getCallerFrame(function.call_file, function.call_line, column, discriminator);
  if (!function.name) function.name = name_of(entry);
  return function;
}

/// nullptr if it has none, or it is in a file that is not found. Empty if the budget does not suffice.
std::optional<const std::string*> Lookup::name_of(const llvm::DWARFDie& entry) {
  const auto entries = reader_.follow_origins({entry, &debug_});
  if (!entries) {
    module_.add_problem(elf::lines_cost_too_much);
    return nullptr;
  }
  const char* name = nullptr;
  using namespace llvm::dwarf;
  for (const auto attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name})
    for (const DebugEntry& one : *entries)
      if (!name) name = reader_.text_of(one, attribute);
  if (!name) return nullptr;
  if (const auto known = debug_.names.find(name); known != debug_.names.end()) return &known->second;
  if (!take(Resource::name_bytes, std::strlen(name))) return std::nullopt;
  std::string demangled = names::demangle(name, reader_.budget());
  if (is_out_of_names()) return std::nullopt;
  return &debug_.names.emplace(name, std::move(demangled)).first->second;
}

std::string Lookup::file(std::uint64_t number) {
  const std::pair<const llvm::DWARFUnit*, std::uint64_t> key(unit_, number);
  if (const auto known = debug_.files.find(key); known != debug_.files.end()) return known->second;
  if (is_out_of_names()) return {};
  std::string name;
  using Kind = llvm::DILineInfoSpecifier::FileLineInfoKind;
  if (!lines_ ||
      !lines_->getFileNameByIndex(number, unit_->getCompilationDir(), Kind::AbsoluteFilePath, name))
    name.clear();
  if (!take(Resource::name_bytes, name.size())) return {};
  debug_.files.emplace(key, name);
  return name;
}

SourceLine Lookup::line(std::uint64_t file_number, std::uint32_t number) {
  std::string name = file(file_number);
  if (!take(Resource::name_bytes, name.size())) name.clear();
  return {std::move(name), number};
}

/// Empty if the unit's line table lacks the address.
SourceLine Lookup::line_of_address() {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max(); // UnknownRowIndex
  const std::uint32_t row = lines_ ? lines_->lookupAddress(address_) : none;
  if (row == none) return {};
  SourceLine found = line(lines_->Rows[row].File, lines_->Rows[row].Line);
  return found.file.empty() ? SourceLine() : found;
}

/// Without debug information. The names of inlined functions are not looked up.
std::optional<SourceLocation> find_by_go(Module& module, std::uint64_t lookup_pc) {
  const auto line = module.symbols().find_go_line(module.link(lookup_pc));
  if (!line) return std::nullopt;
  SourceLine at{std::string(line->file), line->line};
  SourceLocation location;
  if (line->is_inlined)
    location.inlined.push_back({{}, std::move(at)});
  else
    location.at = std::move(at);
  return location;
}

} // namespace

DwarfSource::DwarfSource(std::shared_ptr<DebugInfoCache> cache) : cache_(std::move(cache)) {}
DwarfSource::~DwarfSource() = default;

std::optional<SourceLocation> DwarfSource::find(Module& module, std::uint64_t lookup_pc) {
  DebugInfo* const debug = find_debug_info(module, *cache_, lookup_pc);
  return debug ? Lookup(module, *debug, lookup_pc).find() : find_by_go(module, lookup_pc);
}

} // namespace sframe::modules
