// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source positions by LLVM's DWARF reader, which stays behind this file.

#include "sframe/walk/source.h"

#include "sframe/elf/llvm_input.h"

#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>

#include <unordered_map>

namespace sframe::walk {

namespace {

/// A module's debug information; `dwarf` is null where it has none that can be read.
struct Debug {
  std::uint64_t module = 0; ///< its number
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> dwarf;
};

Debug open(Module& module) {
  Debug debug;
  const elf::Image* image = module.debug_image();
  if (!image || !elf::is_fit_for_llvm_dwarf(*image)) return debug;
  const llvm::StringRef bytes(reinterpret_cast<const char*>(image->bytes().data()), image->bytes().size());
  auto object =
      llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, module.info().path));
  if (!object) {
    llvm::consumeError(object.takeError());
    return debug;
  }
  debug.object = std::move(*object);
  // What is damaged leaves gaps, and is not worth a word.
  const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  using Relocations = llvm::DWARFContext::ProcessDebugRelocations;
  debug.dwarf = llvm::DWARFContext::create(*debug.object,
                                           image->relocatable() ? Relocations::Process : Relocations::Ignore,
                                           nullptr, "", ignore, ignore);
  return debug;
}

/// In an object that a JIT compiler loaded, LLVM wants the section as well.
llvm::object::SectionedAddress place_of(Module& module, std::uint64_t lookup_pc) {
  const std::uint64_t address = lookup_pc - module.bias();
  std::uint64_t section = llvm::object::SectionedAddress::UndefSection;
  if (const elf::Image* image = module.debug_image(); image && image->relocatable())
    for (const elf::Section& candidate : image->sections())
      if (candidate.executable() && address - candidate.address < candidate.size) section = candidate.index;
  return {address, section};
}

SourceLine line_of(const llvm::DILineInfo& info) {
  if (info.FileName == llvm::DILineInfo::BadString) return {{}, info.Line};
  return {info.FileName, info.Line};
}

/// Empty where the name is in a file that is not read, as dwz's alternate debug files.
std::string function_of(const llvm::DILineInfo& info) {
  return info.FunctionName == llvm::DILineInfo::BadString ? std::string() : elf::demangle(info.FunctionName);
}

} // namespace

struct DwarfSource::Contexts {
  std::unordered_map<const Module*, Debug> by_module;
};

DwarfSource::DwarfSource() : contexts_(std::make_unique<Contexts>()) {}
DwarfSource::~DwarfSource() = default;

std::optional<SourcePlace> DwarfSource::find(Module& module, std::uint64_t lookup_pc) {
  Debug& debug = contexts_->by_module[&module];
  if (debug.module != module.number()) { // none yet, or that of a module whose place this one has
    // First what is about the object.
    debug.dwarf.reset();
    debug = open(module);
    debug.module = module.number();
  }
  llvm::DWARFContext* dwarf = debug.dwarf.get();
  if (!dwarf) return std::nullopt;
  const llvm::object::SectionedAddress address = place_of(module, lookup_pc);
  // LLVM looks for the function in a unit that has no entries, too, and ends there.
  llvm::DWARFCompileUnit* const unit = dwarf->getCompileUnitForCodeAddress(address.Address);
  if (unit && !unit->getUnitDIE(false).isValid()) return std::nullopt;
  using Specifier = llvm::DILineInfoSpecifier;
  const llvm::DIInliningInfo info = dwarf->getInliningInfoForAddress(
      address,
      Specifier(Specifier::FileLineInfoKind::AbsoluteFilePath, llvm::DINameKind::LinkageName));
  const std::uint32_t count = info.getNumberOfFrames();
  if (count == 0) return std::nullopt;
  SourcePlace place;
  for (std::uint32_t i = 0; i + 1 < count; ++i) {
    const llvm::DILineInfo& inlined = info.getFrame(i);
    place.inlined.push_back({function_of(inlined), line_of(inlined)});
  }
  place.at = line_of(info.getFrame(count - 1));
  if (place.at.file.empty() && place.inlined.empty()) return std::nullopt;
  return place;
}

} // namespace sframe::walk
