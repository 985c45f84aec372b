// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors in call frame information, with their location. Nothing here throws or aborts on input.

#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace sframe::cfi {

enum class ErrorKind : std::uint8_t {
  // Structure of the section
  truncated,            ///< a field or instruction runs past its entry
  bad_length,           ///< an entry's length is reserved or runs past the section: iteration ends
  bad_cie_pointer,      ///< an FDE refers to something that is not a CIE of the section
  bad_version,          ///< a CIE version other than 1, 3 and 4
  unknown_augmentation, ///< an augmentation that hides the start of the instructions
  bad_address_size,     ///< neither 4 nor 8
  bad_leb128,           ///< a LEB128 number that does not fit 64 bits
  bad_pointer_encoding, ///< a DW_EH_PE_* value that is undefined, or not allowed here
  indirect_start,       ///< the start of an FDE is in memory outside the section
  range_overflow,       ///< an FDE whose range reaches the top of the address space or wraps
  too_large,            ///< a section of more than 4 GiB (index), or initial instructions past their limit
  // .eh_frame_hdr
  bad_header, ///< version other than 1, or fields that run past the section
  no_table,   ///< there is no search table, or its encoding has no fixed size
  // Instructions
  unknown_opcode,    ///< an instruction that DWARF 5, GNU and this ABI do not define
  not_in_cie,        ///< an instruction that is not allowed among a CIE's initial ones
  bad_register,      ///< a register number of more than 32 bits
  offset_overflow,   ///< a factored offset that does not fit 64 bits
  cfa_not_register,  ///< a new CFA register or offset if the CFA is not register + offset
  backwards,         ///< DW_CFA_set_loc to a lower address
  past_end,          ///< an advance past the end of the FDE's range
  state_stack_empty, ///< DW_CFA_restore_state without DW_CFA_remember_state
  state_stack_full,  ///< DW_CFA_remember_state nested deeper than max_remembered_states
};

/// An error, and the offset in the section of the field or instruction at fault.
struct Error {
  ErrorKind kind{};
  std::uint64_t offset = 0;

  friend bool operator==(const Error&, const Error&) = default;
};

/// Static text without the location: "instruction runs past its entry".
const char* message(ErrorKind kind);

} // namespace sframe::cfi

#pragma GCC visibility pop
