// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One piece of code that a process generated and registered, as copied from its memory. Programs register
// code through three interfaces:
//
// - GDB's JIT interface (GDB manual, "JIT Compilation Interface"): ELF files in memory whose sections have
//   the addresses at which they were loaded.
// - libunwind's dynamic registration (libunwind-dynamic(3), libunwind-dynamic.h): a procedure, described by
//   the effects of its instructions on the frame (regions of operations), or a search table of FDEs as in
//   .eh_frame_hdr.
// - The list of lib/jit (sframe/jit/list.h): SFrame sections.
//
// dynamic_code.h finds them; a Module (module.h) makes them usable.

#pragma once

#include "sframe/abi.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::unwind {
class AddressSpace;
struct CfiMatch;
} // namespace sframe::unwind

namespace sframe::modules {

/// An unw_dyn_op_t.
struct ProcedureOperation {
  enum class Tag : std::uint8_t {
    stop,
    save_reg,     ///< `reg` is copied to register `value`
    spill_fp_rel, ///< `reg` is stored at frame pointer + `value`
    spill_sp_rel, ///< `reg` is stored at SP + `value`
    add,          ///< `value` is added to `reg`
    pop_frames,   ///< undoes the last `value` regions that allocated stack
    label_state,  ///< the state is saved under the number `value`
    copy_state,   ///< the region starts with the saved state `value`
    alias,        ///< the rows are those of the code at address `value`
  };
  Tag tag{};
  std::uint16_t reg = 0; ///< DWARF number
  /// Takes effect after the instruction with this number in the region; -1: from the region's start.
  std::int32_t when = 0;
  std::uint64_t value = 0;

  friend bool operator==(const ProcedureOperation&, const ProcedureOperation&) = default;
};

/// An unw_dyn_region_info_t.
struct ProcedureRegion {
  /// Length in instructions (AArch64) or bytes; negative: the region extends to the procedure's end.
  std::int32_t instructions = 0;
  std::vector<ProcedureOperation> operations; ///< by `when`

  friend bool operator==(const ProcedureRegion&, const ProcedureRegion&) = default;
};

/// An unw_dyn_proc_info_t. The manual leaves some points to "architecture-specific sections", which only
/// IA-64 has. Here, instructions of varying size are counted in bytes; "frame pointer" is the register into
/// which SP was saved; what is stored below SP is lost, as after a signal.
struct Procedure {
  std::uint64_t start = 0, end = 0;      ///< addresses in the process
  std::vector<ProcedureRegion> regions;  ///< by address
  unwind::AddressSpace* space = nullptr; ///< for aliases; may be nullptr

  /// The row for the address, as CFI would have it. False if the address is outside, or an operation before
  /// it cannot be interpreted. Linear in the number of operations.
  bool find(std::uint64_t address, const AbiTraits& abi, unwind::CfiMatch& answer) const;

  friend bool operator==(const Procedure&, const Procedure&) = default;
};

struct GeneratedCode {
  std::vector<std::byte> image; ///< an ELF file whose addresses are those in the process, even if relocatable
  /// A part of .eh_frame, the address of its first byte, and an .eh_frame_hdr that refers to its FDEs.
  std::vector<std::byte> frames, frames_index;
  std::uint64_t frames_address = 0;
  std::optional<Procedure> procedure;
  std::vector<std::byte> section; ///< SFrame
  std::uint64_t section_address = 0;
  std::string function; ///< the name of a procedure, or of the code of a section; may be empty

  friend bool operator==(const GeneratedCode&, const GeneratedCode&) = default;
};

} // namespace sframe::modules

#pragma GCC visibility pop
