// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "source_lines.h"

#include "sframe/elf/llvm_dwarf.h"

namespace sframe::verify {

SourceLines::SourceLines(std::unique_ptr<elf::LlvmDwarf> dwarf, bool relocatable)
    : dwarf_(std::move(dwarf)), relocatable_(relocatable) {}
SourceLines::~SourceLines() = default;

std::unique_ptr<SourceLines> SourceLines::open(const elf::Image& image) {
  const elf::SectionHeader* lines = image.find_section(".debug_line");
  if (!lines || lines->type == elf::sht_nobits || lines->size == 0) return nullptr;
  if (!elf::is_fit_for_llvm_dwarf(image)) return nullptr;
  auto dwarf = elf::LlvmDwarf::open(image.bytes(), elf::LlvmDwarf::Relocations::Process);
  if (!dwarf) return nullptr;
  return std::unique_ptr<SourceLines>(new SourceLines(std::move(dwarf), image.relocatable()));
}

std::optional<Names::Source> SourceLines::find(const Location& at) {
  llvm::DWARFContext* const context = dwarf_->context_for(at.pc);
  if (!context) return std::nullopt;
  const auto line = context->getLineInfoForAddress(
      {at.pc, relocatable_ ? at.section : llvm::object::SectionedAddress::UndefSection},
      {llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath,
       llvm::DILineInfoSpecifier::FunctionNameKind::None});
  if (!line || line->Line == 0 || line->FileName == llvm::DILineInfo::BadString) return std::nullopt;
  return Names::Source{line->FileName, line->Line};
}

} // namespace sframe::verify
