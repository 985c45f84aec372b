// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unwind tables as steppers see them: the rules for one address, from any source.

#pragma once

#include "sframe/address.h"
#include "sframe/cfi/rows.h"
#include "sframe/row.h"

#include <cstdint>
#include <optional>

#pragma GCC visibility push(default)

namespace sframe::unwind {

/// What an SFrame section has for an address. No rule is `fixed`: header offsets are resolved.
struct SframeMatch {
  FrameRow row;
  bool signal_frame = false;
  bool ends_here = false;         ///< the address is the last one of its function
  std::uint8_t injected_size = 0; ///< GoMatch::injected_size
};

/// Where nothing is above a frame of Go's but what earlier users of the memory have left, which Go's CFI
/// takes for a caller.
enum class GoStackEnd : std::uint8_t {
  none,
  always,   ///< goexit: the first frame of each goroutine
  at_calls, ///< clone: what it calls is on a new thread's stack
};

/// What CFI has for an address.
struct CfiMatch {
  cfi::FullRow row;
  bool signal_frame = false;
  bool is_go = false; ///< made by the Go compiler
  /// GoMatch::Kind::interrupted: no signal frame, but its caller did not call.
  bool interrupts_caller = false;
  /// GoStackEnd::at_calls: the row is not right there.
  bool ends_stack_at_calls = false;
  bool ends_here = false;
  std::uint8_t address_size = 8;
};

/// What the function table of Go's linker has for an address.
struct GoMatch {
  enum class Kind : std::uint8_t {
    function,
    top,          ///< the outermost frame
    system_stack, ///< calls a function on the thread's system stack
    no_return,    ///< the same; the function never returns
    interrupted,  ///< called at any instruction, as by a signal handler
  };
  std::uint64_t start = 0;      ///< of the function
  std::uint32_t frame_size = 0; ///< bytes from SP to its value after the call
  Kind kind = Kind::function;
  std::uint8_t injected_size = 0; ///< what was pushed for the call beside that: the caller's LR is the lowest
  bool saves_fp = false;          ///< where it has a frame: in the word below that of the return address
  bool sets_sp = false;           ///< it switches stacks somewhere: `frame_size` is wrong from there on
  bool is_handler = false;        ///< of signals: CFI says that it is outermost
  bool is_assembly = false;       ///< the frame pointer need not be where compiled code saves it
  /// Not of functions that C code calls, too, as some of Kind::top.
  GoStackEnd stack_end = GoStackEnd::none;
};

/// The tables and symbols for a range of addresses, usually those of a module. All addresses are in the
/// process.
class RuleSource {
public:
  /// The SFrame rule for an address; nothing if there is none, or its rows are damaged.
  virtual std::optional<SframeMatch> find_sframe(std::uint64_t address) = 0;
  /// Stores the CFI row for an address in `answer` (6 KiB, so that callers reuse it); false if there is
  /// none.
  virtual bool find_cfi(std::uint64_t address, CfiMatch& answer) = 0;
  /// The frame of Go's code at an address; nothing for other code.
  virtual std::optional<GoMatch> find_go(std::uint64_t address) {
    static_cast<void>(address);
    return std::nullopt;
  }
  /// The function that contains an address, according to the tables.
  virtual std::optional<AddressRange> find_function(std::uint64_t address) = 0;
  /// The same, according to the symbols. Size 0: the symbol has no size.
  virtual std::optional<AddressRange> find_symbol_extent(std::uint64_t address) = 0;
  /// True if a function without tables may change all registers but SP and FP: code of the Go compiler
  /// (src/cmd/compile/abi-internal.md). Others keep those of UnwindAbi::call_saved.
  virtual bool calls_keep_no_registers() { return false; }

protected:
  ~RuleSource() = default;
};

} // namespace sframe::unwind

#pragma GCC visibility pop
