// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls of a thread, from the instructions that it executes: the truth with which rows are compared. It
// uses no tables. Where calls do not explain how SP and pc have changed (longjmp, exceptions, coroutines,
// signals), it finds the frames that are left, or reports that the caller is unknown; it does not guess.
//
// A thread may have several stacks: of signal handlers, of coroutines. Each is a run of addresses in which
// SP has been, with the calls whose frames are there. A call is over when SP is above the word that it pushed
// (AMD64), or above the SP that it had (the other ABIs, which pass the return address in a register): there,
// code that loads that SP has left its frame, which only its next instruction tells from a nonlocal goto into
// the caller. Code that pops the word to a register and jumps there (-mlvi-hardening) is in the call until it
// jumps; a call whose first instruction discards the word (the thunks against Spectre) was none. A handler
// that has pushed the interrupted address and continues elsewhere (Go's) has made a call; one that has only
// changed where the interrupted code goes on has left it open which frame the code there has.

#pragma once

#include "sframe/abi.h"
#include "sframe/code/instruction.h"
#include "sframe/unwind/abi.h"
#include "sframe/unwind/registers.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sframe::run {

/// Why the caller of an instruction is not known.
enum class Unknown : std::uint8_t {
  none,         ///< it is known
  leaving,      ///< frames were left without returns (longjmp, exceptions), or the stack was switched; the
                ///< jump that ends this is not reached yet, or it is not certain which frame it has reached
  other_stack,  ///< a stack that was made without calls: a coroutine's first function
  thread_start, ///< a new thread, before its first call
  redirected,   ///< the code has replaced its return address (__builtin_eh_return, return trampolines)
  before_start, ///< a frame that was entered before the first step
  moved,        ///< a signal handler has let a frame go on elsewhere, until that frame is over
};
constexpr std::size_t num_unknown = 7;

/// As text for reports. Static.
std::string_view unknown_text(Unknown why);

/// What a call, or the kernel for a signal handler, left.
struct Call {
  std::uint64_t ra = 0;     ///< return address; of an interrupted frame: the next instruction
  std::uint64_t cfa = 0;    ///< by the ABI's definition, from SP before the call
  std::uint64_t fp = 0;     ///< the caller's frame pointer at the call
  std::uint64_t limit = 0;  ///< over when SP is above this
  bool interrupted = false; ///< the frame that a signal interrupted, as seen by the handler's caller
  std::uint64_t entry = 0;  ///< the first instruction of what is called
  bool ra_popped = false;   ///< AMD64: RA was loaded by a pop, the jump to it follows
  bool leaving = false;     ///< Unknown::leaving applies while it is the innermost call
  bool moved = false;       ///< the same for Unknown::moved
};

/// Events that are not calls and returns.
struct StackEvents {
  std::uint64_t frames_left = 0;    ///< frames that ended without a return
  std::uint64_t stack_switches = 0; ///< SP went to another stack
};

/// All stacks of a process.
class Stacks {
public:
  Stacks() = default;
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  /// Takes over those of a process of which this one is a copy.
  void copy(const Stacks& other);

private:
  friend class ShadowStack;

  enum class Origin : std::uint8_t { process, thread, joined, unknown };
  struct Stack {
    Origin origin = Origin::unknown;
    std::uint64_t low = 0, high = 0; ///< where SP has been
    std::vector<Call> calls;
    bool leaving = false; ///< Unknown::leaving applies while there is no call
    bool moved = false;   ///< the same for Unknown::moved

    bool& is_leaving() { return calls.empty() ? leaving : calls.back().leaving; }
    bool& is_moved() { return calls.empty() ? moved : calls.back().moved; }
    /// Of a signal handler's stack: the number of the stack that the signal interrupted.
    std::optional<std::uint64_t> interrupted;
    std::uint64_t number = 0;
  };

  /// Beyond this many, those that were not used for the longest time are dropped.
  static constexpr std::size_t most = 4096;
  /// Calls of a stack. Beyond, its outer half is dropped: who called the frame there is not known any more.
  static constexpr std::size_t most_calls = std::size_t{1} << 20;

  Stack& add(Origin origin, std::uint64_t sp);
  Stack* find(std::uint64_t number);
  /// The last used one that has been at `sp`, or is close below `sp`'s.
  Stack* at(std::uint64_t sp);
  void remove(std::uint64_t number);
  void use(std::uint64_t number);

  std::vector<std::unique_ptr<Stack>> stacks_; ///< the last used one last
  std::uint64_t next_ = 1;
};

/// The stacks of one thread. Costs of a step: constant, except when SP leaves the stack.
class ShadowStack {
public:
  /// Reads a word of the process's memory; empty if it does not exist.
  using Reader = std::function<std::optional<std::uint64_t>(std::uint64_t address)>;

  /// `stacks`: of the process; must outlive the object, as must the traits.
  ShadowStack(Stacks& stacks, const AbiTraits& abi, const unwind::UnwindAbi& unwind, Reader read);

  /// The first instruction of a program, or of a thread with a new stack.
  void start(const unwind::Registers& now, bool is_thread);
  /// The first step of a thread that has run before. `is_entry`: at the first instruction of a function, so
  /// that its caller follows from the ABI.
  void join(const unwind::Registers& now, bool is_entry);
  /// The thread was made by `parent`, whose stacks it has, or a copy of them: it is where `parent` is.
  void copy(const ShadowStack& parent) { current_ = parent.current_; }

  /// The thread has ended: its stack may be used for another.
  void end();

  /// An instruction is about to be executed. It may show what the one before it was.
  void look_ahead(const code::Instruction& instruction, std::span<const code::Effect> effects,
                  const unwind::Registers& now);
  /// An instruction was executed, by which the registers changed from `before` to `after`.
  void step(const code::Instruction& instruction, std::span<const code::Effect> effects,
            const unwind::Registers& before, const unwind::Registers& after);

  /// If the kernel has set up a signal handler's frame, enters the handler and returns true. `interrupted`:
  /// the registers before, `now`: those at the handler's first instruction.
  bool enter_handler(const unwind::Registers& interrupted, const unwind::Registers& now);
  /// The system call with which a handler ends was executed.
  void leave_handler(const unwind::Registers& now);

  /// Whether caller() is known.
  Unknown unknown() const;
  /// The call in which the thread is; nullptr before the first one.
  const Call* caller() const;

  const StackEvents& events() const { return events_; }

private:
  using Stack = Stacks::Stack;

  Stack& stack() const;
  std::uint64_t sp(const unwind::Registers& registers) const;
  void push(Call call);
  void call(const code::Instruction& instruction, const unwind::Registers& before,
            const unwind::Registers& after);
  bool pop_returned(const unwind::Registers& before, const unwind::Registers& after);
  void move_to(std::uint64_t sp, bool may_grow);
  void redirect(const Call& interrupted, const unwind::Registers& now);
  bool is_elsewhere(const unwind::SignalTrampoline& layout, std::uint64_t frame, std::uint64_t handler_sp,
                    std::uint64_t before) const;
  void take_word(std::span<const code::Effect> effects, const unwind::Registers& before, std::uint64_t to);
  void drop_ended(std::uint64_t sp);
  bool is_intact(const Call& call) const;

  Stacks& stacks_;
  const AbiTraits& abi_;
  const unwind::UnwindAbi& unwind_;
  Reader read_;
  bool ra_on_stack_;
  std::uint64_t current_ = 0; ///< number of the stack
  StackEvents events_;
};

} // namespace sframe::run
