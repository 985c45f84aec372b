// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/error.h"

namespace sframe {

const char* message(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::truncated_header: return "section is shorter than its header";
  case ErrorKind::bad_magic: return "no SFrame magic number";
  case ErrorKind::unknown_version: return "unknown SFrame version";
  case ErrorKind::unknown_abi: return "unknown ABI";
  case ErrorKind::index_out_of_bounds: return "FDE sub-section runs past the section's end";
  case ErrorKind::rows_out_of_bounds: return "FRE sub-section runs past the section's end";
  case ErrorKind::overlap: return "FDE and FRE sub-sections overlap";
  case ErrorKind::no_such_function: return "function number out of range";
  case ErrorKind::function_rows_out_of_bounds: return "function's rows start past the FRE sub-section";
  case ErrorKind::bad_fre_type: return "FRE type is not ADDR1, ADDR2 or ADDR4";
  case ErrorKind::bad_fde_type: return "FDE type is neither default nor flexible";
  case ErrorKind::bad_rep_size: return "PCMASK function with a block size of 0";
  case ErrorKind::truncated_row: return "row runs past the FRE sub-section";
  case ErrorKind::bad_dataword_size: return "size of data words is not 1, 2 or 4";
  case ErrorKind::bad_dataword_count: return "number of data words is not defined for this ABI";
  case ErrorKind::bad_register: return "register number out of range";
  case ErrorKind::bad_rule: return "rule is not defined by the format";
  case ErrorKind::row_order: return "row offsets do not increase";
  case ErrorKind::row_past_end: return "row starts past the function's end";
  case ErrorKind::rows_shared_partly: return "functions' rows overlap but are not identical";
  case ErrorKind::too_large: return "too large for the format's 32-bit sizes";
  }
  return "unknown error";
}

std::string describe(const Error& error) {
  std::string text = message(error.kind);
  if (error.function != Error::none) text += ", function " + std::to_string(error.function);
  if (error.row != Error::none) text += ", row " + std::to_string(error.row);
  return text;
}

} // namespace sframe
