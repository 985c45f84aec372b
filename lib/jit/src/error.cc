// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/jit/error.h"

namespace sframe::jit {

const char* message(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::bad_range: return "the code is empty, or does not end in the address space";
  case ErrorKind::rows: return "the rows cannot be encoded";
  case ErrorKind::saved_register: return "a saved register is SP, FP or RA, or its range is not in the code";
  case ErrorKind::wrong_size: return "the rows are for code of another size";
  case ErrorKind::wrong_abi: return "the rows are for another ABI";
  case ErrorKind::overlap: return "there is other code at some of the addresses";
  case ErrorKind::no_region: return "there is no such region";
  case ErrorKind::out_of_memory: return "out of memory";
  case ErrorKind::malformed_cfi: return "the call frame information is malformed";
  case ErrorKind::unrepresentable: return "the call frame information has rules that rows cannot represent";
  }
  return "unknown error";
}

} // namespace sframe::jit
