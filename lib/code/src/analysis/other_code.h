// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an instruction does through code outside the function, or in another place of it. Compilers hide
// control flow there: a jump to a thunk is an indirect jump (-mindirect-branch=thunk, -mretpoline), a jump
// to a return is a return, and a call of an instruction that control does not leave never returns. A decoder
// sees one instruction only, so this is found out here.

#pragma once

#include "effort.h"
#include "subject.h"

#include <cstdint>
#include <vector>

namespace sframe::code {

class OtherCode {
public:
  /// `decoder`: nullptr if nothing will be asked.
  OtherCode(const Subject& subject, Effort& effort, Decoder* decoder)
      : subject_(subject), effort_(effort), decoder_(decoder) {}

  /// Makes an indirect call a direct one if its pointer does not change once the program is loaded.
  void find_callee(Instruction& call) const;
  /// Makes a jump or branch to a thunk what the thunk does.
  void jump_through_thunk(Instruction& jump);
  /// Makes a jump to a return elsewhere that return, whose effects are added to `effects`: all returns of the
  /// Linux kernel on AMD64 are jumps to a thunk. Only where there are no rows: else the one at the target
  /// says what the jump has to fit.
  void return_through(Instruction& jump, std::vector<Effect>& effects);
  /// True if another function starts with an instruction that control does not leave, as what compilers make
  /// of code that they know to be unreachable.
  bool is_trap(std::uint64_t address);
  /// True if the function's own code at `address` replaces the word on top of the stack, as AMD64's
  /// retpolines do with their return address (`mov %rax,(%rsp); ret`), or drops it (return thunks:
  /// `lea 8(%rsp),%rsp; ret`).
  bool replaces_return_address(std::uint64_t address);

private:
  bool decode(std::uint64_t address, Instruction& instruction, std::vector<Effect>& effects);
  bool decode_thunk(std::uint64_t address, Instruction& last);

  const Subject& subject_;
  Effort& effort_;
  Decoder* decoder_;
  std::vector<Effect> effects_; ///< of the last instruction
};

} // namespace sframe::code
