// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/cfi/error.h"
#include "sframe/cfi/expression.h"

namespace sframe::cfi {

const char* message(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::truncated: return "field or instruction runs past its entry";
  case ErrorKind::bad_length: return "entry's length is reserved or exceeds the section";
  case ErrorKind::bad_cie_pointer: return "FDE's CIE pointer does not lead to a CIE";
  case ErrorKind::bad_version: return "CIE version is not 1, 3 or 4";
  case ErrorKind::unknown_augmentation:
    return "CIE augmentation is unknown, so its instructions cannot be located";
  case ErrorKind::bad_address_size: return "invalid address size or segment selector size";
  case ErrorKind::bad_leb128: return "LEB128 number does not fit 64 bits";
  case ErrorKind::bad_pointer_encoding: return "pointer encoding is not allowed here";
  case ErrorKind::indirect_start: return "FDE's start is an indirect pointer";
  case ErrorKind::range_overflow: return "FDE's range wraps around the address space";
  case ErrorKind::too_large: return "section or CIE is larger than the limit";
  case ErrorKind::bad_header: return "search table's header is malformed";
  case ErrorKind::no_table: return "no search table";
  case ErrorKind::unknown_opcode: return "unknown call frame instruction";
  case ErrorKind::not_in_cie: return "instruction is not allowed in a CIE";
  case ErrorKind::bad_register: return "register number does not fit 32 bits";
  case ErrorKind::offset_overflow: return "offset does not fit 64 bits";
  case ErrorKind::cfa_not_register:
    return "DW_CFA_def_cfa_register or DW_CFA_def_cfa_offset while the CFA is an expression";
  case ErrorKind::backwards: return "location moves backwards";
  case ErrorKind::past_end: return "location moves past the end of the FDE's range";
  case ErrorKind::state_stack_empty: return "DW_CFA_restore_state without DW_CFA_remember_state";
  case ErrorKind::state_stack_full: return "DW_CFA_remember_state is nested too deeply";
  }
  return "unknown error";
}

const char* message(ExpressionErrorKind kind) {
  switch (kind) {
  case ExpressionErrorKind::truncated: return "operation runs past the expression, or a branch leaves it";
  case ExpressionErrorKind::unknown_opcode: return "operation is not allowed here";
  case ExpressionErrorKind::bad_leb128: return "LEB128 number does not fit 64 bits";
  case ExpressionErrorKind::stack_underflow: return "stack underflow";
  case ExpressionErrorKind::stack_overflow: return "stack overflow";
  case ExpressionErrorKind::too_many_steps: return "too many operations";
  case ExpressionErrorKind::division_by_zero: return "division by zero";
  case ExpressionErrorKind::bad_size: return "invalid size of a value";
  case ExpressionErrorKind::no_register: return "register value is unknown";
  case ExpressionErrorKind::no_memory: return "memory cannot be read";
  case ExpressionErrorKind::no_value: return "a value that the expression needs is unknown";
  case ExpressionErrorKind::bad_piece: return "operation after the description of a piece";
  }
  return "unknown error";
}

} // namespace sframe::cfi
