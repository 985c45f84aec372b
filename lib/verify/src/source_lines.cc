// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "source_lines.h"

#include "sframe/elf/llvm_input.h"

#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>

namespace sframe::verify {

struct SourceLines::Reader {
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> context;
  bool relocatable = false;
};

SourceLines::SourceLines(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}
SourceLines::~SourceLines() = default;

std::unique_ptr<SourceLines> SourceLines::open(const elf::Image& image) {
  const elf::Section* lines = image.find_section(".debug_line");
  if (!lines || lines->type == elf::sht_nobits || lines->size == 0) return nullptr;
  if (!elf::is_fit_for_llvm_dwarf(image)) return nullptr;
  const llvm::StringRef bytes(reinterpret_cast<const char*>(image.bytes().data()), image.bytes().size());
  auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, ""));
  if (!object) {
    llvm::consumeError(object.takeError());
    return nullptr;
  }
  auto reader = std::make_unique<Reader>();
  reader->object = std::move(*object);
  reader->relocatable = image.relocatable();
  // Damage only costs source lines, not findings: not reported.
  const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  reader->context = llvm::DWARFContext::create(
      *reader->object, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr, "", ignore, ignore);
  return std::unique_ptr<SourceLines>(new SourceLines(std::move(reader)));
}

std::optional<Names::Source> SourceLines::find(const Location& at) {
  const llvm::object::SectionedAddress address{
      at.pc, reader_->relocatable ? at.section : llvm::object::SectionedAddress::UndefSection};
  // LLVM looks for the function even in a unit without entries, and crashes.
  llvm::DWARFCompileUnit* const unit = reader_->context->getCompileUnitForCodeAddress(address.Address);
  if (unit && !unit->getUnitDIE(false).isValid()) return std::nullopt;
  const auto line = reader_->context->getLineInfoForAddress(
      address, {llvm::DILineInfoSpecifier::FileLineInfoKind::RelativeFilePath,
                llvm::DILineInfoSpecifier::FunctionNameKind::None});
  if (!line || line->Line == 0 || line->FileName == llvm::DILineInfo::BadString) return std::nullopt;
  return Names::Source{line->FileName, line->Line};
}

} // namespace sframe::verify
