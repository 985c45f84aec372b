// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows for readers that look up return addresses as they are, without subtracting 1. The return address of a
// call that ends a function is usually in the padding after it, which is never executed: the row of the call
// covers that, too. Nothing is done where other code follows.

#pragma once

#include "sframe/code/call_end.h"
#include "sframe/generate/cfi_input.h"

namespace sframe::generate {

class ReturnAddresses {
public:
  /// `described`: all addresses that CFI describes or that are stubs, whatever becomes of them. Both must
  /// outlive the object.
  ReturnAddresses(const CfiInput& input, const AddressSet& described);

  /// Bytes of the padding instruction at `end`, if code from `begin`, where an instruction starts, to `end`
  /// ends with a call, and if `end` is not described. Else 0. Linear in the code.
  std::uint64_t padding_after(std::uint64_t begin, std::uint64_t end);

private:
  const CfiInput& input_;
  const AddressSet& described_;
  code::CallEnds calls_;
};

} // namespace sframe::generate
