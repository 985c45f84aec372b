// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why a process died, for people: what its signal means, which address was accessed and how, the instruction
// with the values that it used, and the command line. All of it is from the core; the bytes of the
// instruction may be from the mapped file.

#pragma once

#include "signals_on_stack.h"

#include "sframe/process/process_state.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sframe::unwind_tool {

struct RegisterValue {
  std::string_view name;
  std::uint64_t value = 0;
};

/// The instruction at the pc of the thread that died, or of the frame that a signal interrupted.
struct FaultingInstruction {
  std::uint64_t pc = 0;
  std::string text;
  std::vector<RegisterValue> registers; ///< that it reads, before it is executed
};

/// What a signal says of the instruction that it interrupted.
struct Fault {
  enum class Access : std::uint8_t { unknown, read, write, read_write, execute };

  std::optional<std::int32_t> code; ///< si_code
  std::string_view code_name;       ///< "SEGV_MAPERR"; empty if unknown
  std::string meaning;              ///< "write to 0x8, not mapped"; empty if unknown
  std::string guess;                ///< "a null pointer + 0x8"; empty if there is none
  Access access = Access::unknown;
  std::optional<std::uint64_t> address; ///< that was accessed
  std::optional<FaultingInstruction> instruction;
};

/// A fault that was handled: the handler, or what it called, has ended the process.
struct HandledFault : Fault {
  SignalOnStack from;
};

struct Crash : Fault {
  struct Sender {
    std::uint32_t pid = 0, user = 0;
  };

  std::uint32_t tid = 0;        ///< of the thread that died; 0: no signal ended the process
  std::optional<Sender> sender; ///< if a process sent the signal
  std::string message; ///< of the C library when it aborts: a failed assertion, a damaged heap; or empty
  std::optional<HandledFault> first_fault; ///< before the signal, as first_fault() finds it
};

/// Explains the signal of a core, and the faults among `handled`, the signals on the stack of the thread that
/// died. May open the files of the modules at the pcs, and those of the addresses.
Crash explain_crash(process::CoreProcess& process, std::span<const SignalOnStack> handled);

/// The outermost of the faults among `handled`. If there is none: that of the instruction at the pc, if the
/// thread has sent itself the signal while it was blocked, and died after its handler (AMD64).
std::optional<HandledFault> first_fault(process::CoreProcess& process,
                                        std::span<const SignalOnStack> handled);

/// "read", "write"; "access" if it is not known.
std::string_view name(Fault::Access access);

/// The arguments that the process was started with, the program's name first: as they are on its stack, else
/// as in the core's notes, which have 79 bytes. Empty if both are missing. Bounded: 1024 arguments, 64 KiB.
struct CommandLine {
  std::vector<std::string> arguments;
  bool complete = true; ///< false: there may be more
};
CommandLine command_line(const core::Core& core);

/// The arguments as one line, quoted for a shell where necessary.
std::string shell_line(const CommandLine& command);

} // namespace sframe::unwind_tool
