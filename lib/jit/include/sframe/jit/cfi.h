// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows from call frame information (DWARF), for compilers that write it already. The reverse is eh_frame.h.
//
//   const auto functions = sframe::jit::read_eh_frame(bytes, address);
//   if (!functions) ... functions.error() ...
//   for (const auto& one : *functions)
//     if (one.rows) registry.add({.start = reinterpret_cast<void*>(one.start), .name = "f"}, *one.rows);

#pragma once

#include "sframe/jit/rows.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::jit {

/// What an FDE says.
struct CfiFunction {
  std::uint64_t start = 0; ///< address of the code
  std::uint64_t size = 0;  ///< bytes of the code
  /// ErrorKind::unrepresentable, with the FDE's offset, if some of the FDE's rules have no rows; `rows` if a
  /// section cannot encode them; bad_range if the code is empty or has more than 4 GiB.
  Result<Rows> rows;
  /// DWARF that is made from the rows (make_eh_frame(), FrameRegistration) does for exceptions what the FDE
  /// does. False if it has handlers (an LSDA), or finds a register in a way that SavedRegister cannot
  /// represent. For such code register the original section, and do not use FrameRegistration.
  bool is_fit_for_exceptions = true;
};

/// The functions of an .eh_frame section (Linux Standard Base 5.0, section 10.6): CIEs and FDEs, up to a
/// length of 0 or the end of `bytes`, in their order. `address` is that of the section's first byte in the
/// process, the base of relative addresses: that of `bytes`, if they are where they will stay. Registers that
/// are saved at offsets from the CFA become SavedRegisters.
///
/// The bytes may be anything: what is malformed is refused as a whole (ErrorKind::malformed_cfi, with what is
/// wrong and its offset), as it is if memory runs out. Linear in the bytes; memory: at most some hundred
/// bytes for each of them.
Result<std::vector<CfiFunction>> read_eh_frame(std::span<const std::byte> bytes, std::uint64_t address,
                                               Abi abi = host_abi());

} // namespace sframe::jit

#pragma GCC visibility pop
