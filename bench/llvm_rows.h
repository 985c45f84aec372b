// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs LLVM's low-level row interpreter over a CFI section, with entries from our reader, as the reference
// for our own. It streams as far as it can: the rows of one function at a time.

#pragma once

#include "sframe/cfi/section.h"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/DebugInfo/DWARF/DWARFDataExtractor.h"
#include "llvm/DebugInfo/DWARF/LowLevel/DWARFUnwindTable.h"

#include <cstdint>

namespace sframe::bench {

inline llvm::dwarf::CFIProgram llvm_program(const cfi::CfiSection& section, const cfi::Cie& cie,
                                            std::uint64_t at, std::uint64_t size) {
  const llvm::StringRef text(reinterpret_cast<const char*>(section.bytes().data()), section.bytes().size());
  llvm::DWARFDataExtractor data(text, section.abi().byte_order == ByteOrder::little, 8);
  llvm::dwarf::CFIProgram program(cie.code_alignment, cie.data_alignment, llvm::Triple::x86_64);
  llvm::cantFail(program.parse(data, &at, at + size));
  return program;
}

/// Executes every FDE; returns the number of rows.
inline std::int64_t count_llvm_rows(const cfi::CfiSection& section) {
  std::int64_t count = 0;
  for (auto fdes = section.fdes(); auto fde = fdes.next().value();) {
    const cfi::Cie& cie = fde->cie;
    const auto first = llvm_program(section, cie, cie.instructions_offset, cie.instructions.size());
    llvm::dwarf::UnwindRow row;
    llvm::cantFail(llvm::dwarf::parseRows(first, row, nullptr));
    const auto initial = row.getRegisterLocations();
    row.setAddress(fde->start);
    const auto program = llvm_program(section, cie, fde->instructions_offset, fde->instructions.size());
    count +=
        1 + static_cast<std::int64_t>(llvm::cantFail(llvm::dwarf::parseRows(program, row, &initial)).size());
  }
  return count;
}

} // namespace sframe::bench
