// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's DWARF reader over ELF files, with what it needs so that it survives damaged ones. For libraries that
// link LLVM's DebugInfoDWARF.

#pragma once

#include "sframe/elf/llvm_input.h"

#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace sframe::elf {

class LlvmDwarf {
public:
  using Relocations = llvm::DWARFContext::ProcessDebugRelocations;

  /// `file` must outlive the result, and fulfil is_fit_for_llvm_dwarf(). `package`: the file of split debug
  /// information; empty: LLVM looks for one with the file's name. Damaged parts leave gaps that are not
  /// reported; nullptr if LLVM cannot read the file. Cheap: units are read when their first address is looked
  /// up.
  static std::unique_ptr<LlvmDwarf> open(std::span<const std::byte> file, Relocations relocations,
                                         const std::string& name = "", const std::string& package = "") {
    const llvm::StringRef bytes(reinterpret_cast<const char*>(file.data()), file.size());
    auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, name));
    if (!object) {
      llvm::consumeError(object.takeError());
      return nullptr;
    }
    auto dwarf = std::unique_ptr<LlvmDwarf>(new LlvmDwarf);
    dwarf->object_ = std::move(*object);
    const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
    dwarf->context_ =
        llvm::DWARFContext::create(*dwarf->object_, relocations, nullptr, package, ignore, ignore);
    return dwarf;
  }

  llvm::DWARFContext& context() { return *context_; }

private:
  LlvmDwarf() = default;

  std::unique_ptr<llvm::object::ObjectFile> object_;
  std::unique_ptr<llvm::DWARFContext> context_; ///< refers to the object
};

} // namespace sframe::elf
