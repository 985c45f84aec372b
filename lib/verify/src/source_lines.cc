// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "source_lines.h"

#include <limits>
#include <set>
#include <utility>

namespace sframe::verify {

SourceLines::SourceLines(const elf::Image& image, Limits limits, std::vector<std::byte> plain,
                         std::unique_ptr<elf::LlvmDwarf> dwarf)
    : plain_(std::move(plain)), dwarf_(std::move(dwarf)),
      check_(dwarf_->context(), image.bytes().size(), limits == Limits::off),
      relocatable_(image.relocatable()), has_units_(check_.can_find_units()) {
  if (!has_units_) problem_ = elf::all_lines_cost_too_much;
}
SourceLines::~SourceLines() = default;

std::unique_ptr<SourceLines> SourceLines::open(const elf::Image& image, Limits limits) {
  const elf::SectionHeader* lines = image.find_section(".debug_line");
  if (!lines || lines->type == elf::sht_nobits || lines->size == 0) return nullptr;
  std::vector<std::byte> plain;
  if (lines->gnu_compressed() && !image.relocatable()) { // LLVM would read it as it is
    auto unpacked = elf::without_compression(image, limits == Limits::off);
    if (!unpacked) return nullptr;
    plain = std::move(*unpacked);
  } else if (lines->gnu_compressed() || !elf::is_fit_for_llvm_dwarf(image)) {
    return nullptr;
  }
  auto dwarf =
      elf::LlvmDwarf::open(plain.empty() ? image.bytes() : plain, elf::LlvmDwarf::Relocations::Process);
  if (!dwarf) return nullptr;
  return std::unique_ptr<SourceLines>(new SourceLines(image, limits, std::move(plain), std::move(dwarf)));
}

/// Reads the line table only. LLVM's own function for this looks for the function as well.
std::optional<Names::Source> SourceLines::find(const Location& at) {
  if (!has_units_ || Budget::all_ended()) return std::nullopt;
  llvm::DWARFCompileUnit* const unit = dwarf_->context().getCompileUnitForCodeAddress(at.pc);
  if (!unit) return std::nullopt;
  if (!check_.can_read_lines(*unit)) {
    problem_ = elf::lines_cost_too_much;
    return std::nullopt;
  }
  const llvm::DWARFDebugLine::LineTable* const lines = dwarf_->context().getLineTableForUnit(unit);
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max(); // UnknownRowIndex
  const std::uint32_t number =
      lines ? lines->lookupAddress(
                  {at.pc, relocatable_ ? at.section : llvm::object::SectionedAddress::UndefSection})
            : none;
  if (number == none) return std::nullopt;
  const llvm::DWARFDebugLine::Row& row = lines->Rows[number];
  Names::Source source{{}, row.Line};
  using Kind = llvm::DILineInfoSpecifier::FileLineInfoKind;
  if (row.Line == 0 ||
      !lines->getFileNameByIndex(row.File, unit->getCompilationDir(), Kind::RelativeFilePath, source.file))
    return std::nullopt;
  return source;
}

std::string SourceLines::producer_of(llvm::DWARFUnit& unit) {
  if (!check_.can_read(unit)) {
    problem_ = elf::lines_cost_too_much;
    return {};
  }
  const llvm::StringRef text = llvm::dwarf::toStringRef(unit.getUnitDIE().find(llvm::dwarf::DW_AT_producer));
  return text.substr(0, max_producer).str();
}

std::string SourceLines::producer(const Location& at) {
  llvm::DWARFCompileUnit* const unit =
      has_units_ ? dwarf_->context().getCompileUnitForCodeAddress(at.pc) : nullptr;
  return unit ? producer_of(*unit) : std::string();
}

std::vector<std::string> SourceLines::producers(std::size_t limit) {
  std::set<std::string> found;
  if (!has_units_ || Budget::all_ended()) return {};
  for (const std::unique_ptr<llvm::DWARFUnit>& unit : dwarf_->context().compile_units())
    if (std::string name = producer_of(*unit); !name.empty() && found.size() < limit)
      found.insert(std::move(name));
  return {found.begin(), found.end()};
}

} // namespace sframe::verify
