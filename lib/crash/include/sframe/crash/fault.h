// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a signal says of the instruction that it interrupted: which address was accessed and how, and the
// instruction with the values that it used. All of it is from the core; the bytes of the instruction may be
// from the mapped file. For a write to a null pointer:
//
//   code_name    "SEGV_MAPERR"
//   meaning      "write to 0x8, not mapped"
//   guess        "a null pointer + 0x8"
//   instruction  "mov %rax, 0x08(%rdi)", rax = 0x7, rdi = 0x0

#pragma once

#include "sframe/core/signals.h"
#include "sframe/process/process_state.h"
#include "sframe/unwind/walker.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::crash {

struct RegisterValue {
  std::string_view name; ///< a literal
  std::uint64_t value = 0;
};

/// The instruction at the pc of the thread that died, or of the frame that a signal interrupted.
struct FaultingInstruction {
  std::uint64_t pc = 0;
  std::string text;                     ///< in the syntax of code::instruction_text()
  std::vector<RegisterValue> registers; ///< that it reads, before it is executed
};

struct Fault {
  enum class Access : std::uint8_t { unknown, read, write, read_write, execute };

  std::optional<std::int32_t> code; ///< si_code
  std::string_view code_name;       ///< "SEGV_MAPERR", a literal; empty if unknown
  std::string meaning;              ///< "write to 0x8, not mapped"; empty if unknown
  std::string guess;                ///< "a null pointer + 0x8"; empty if there is none
  Access access = Access::unknown;
  std::optional<std::uint64_t> address; ///< that was accessed
  std::optional<FaultingInstruction> instruction;
};

/// "read", "write"; "access" if it is not known.
std::string_view name(Fault::Access access);

/// Explains what `signal` interrupted: `frame`, of the thread that died, or below a signal frame. `info`:
/// nothing if the core has none of it. May open the files of the modules at the pc and at the address.
/// Decodes one instruction.
Fault explain_fault(process::CoreProcess& process, std::int32_t signal,
                    const std::optional<core::SignalInfo>& info, const unwind::FrameState& frame);

} // namespace sframe::crash

#pragma GCC visibility pop
