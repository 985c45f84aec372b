// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// step() is called after each instruction. On AMD64, with SP 0x1000 before a call:
//
//   call f     pushes the return address at 0xff8:  Call{.ra, .cfa = 0x1000, .limit = 0xff8}
//   ret        with SP 0xff8 and then 0x1000 or more: that call has returned
//   longjmp    SP is above 0xff8 without a return: that call and all inner ones are over (frames_left)
//
// An instruction that gives SP a value from elsewhere may switch to another stack (move_to()). Between a jump
// out of several frames and its end it is not known which frame runs: unknown() is then `leaving`. A thread
// has at most Stacks::most stacks with most_calls each; the oldest are dropped, and what depends on them is
// unknown.

#include "sframe/run/shadow_stack.h"

#include <algorithm>
#include <utility>

namespace sframe::run {

namespace {

using code::Effect;
using code::Flow;
using unwind::Registers;

constexpr std::uint64_t word_size = 8;
/// Frames grow at most by this far below all others, when the compiler copies a computed address to SP.
constexpr std::uint64_t most_growth = 1 << 16;

/// Whether the instruction gives SP a value that is not its old one plus something.
enum class NewSp : std::uint8_t { none, copied, loaded };

NewSp new_sp(std::span<const Effect> effects, std::uint16_t sp) {
  NewSp result = NewSp::none;
  for (const Effect& effect : effects) {
    if (effect.reg != sp) continue;
    if (effect.kind == Effect::Kind::load || effect.kind == Effect::Kind::load_table) return NewSp::loaded;
    const bool sets = effect.kind == Effect::Kind::set && effect.source != sp;
    if (sets || effect.kind == Effect::Kind::clobber) result = NewSp::copied;
  }
  return result;
}

/// What the instruction adds to SP, if only that.
std::optional<std::int64_t> added_to_sp(std::span<const Effect> effects, std::uint16_t sp) {
  if (effects.size() != 1 || effects[0].reg != sp || effects[0].size != 0) return std::nullopt;
  const Effect& effect = effects[0];
  const bool adds = effect.kind == Effect::Kind::add
                        ? effect.source == Effect::none
                        : effect.kind == Effect::Kind::set && effect.source == sp;
  return adds ? std::optional(effect.value) : std::nullopt;
}

bool is_call(Flow flow) {
  return flow == Flow::call || flow == Flow::indirect_call;
}

/// Instructions that may end a return, or a jump to another frame.
bool may_leave(Flow flow) {
  return flow == Flow::ret || flow == Flow::conditional_return || flow == Flow::indirect_jump ||
         flow == Flow::indirect_branch;
}

} // namespace

std::string_view unknown_text(Unknown why) {
  switch (why) {
  case Unknown::leaving: return "between frames";
  case Unknown::other_stack: return "at the start of another stack";
  case Unknown::thread_start: return "at the start of a thread";
  case Unknown::redirected: return "with a replaced return address";
  case Unknown::before_start: return "entered before the first step";
  case Unknown::moved: return "continued elsewhere by a signal handler";
  case Unknown::none: break;
  }
  return "known";
}

void Stacks::copy(const Stacks& other) {
  next_ = other.next_;
  for (const auto& stack : other.stacks_) stacks_.push_back(std::make_unique<Stack>(*stack));
}

Stacks::Stack& Stacks::add(Origin origin, std::uint64_t sp) {
  if (stacks_.size() == most) stacks_.erase(stacks_.begin());
  auto stack = std::make_unique<Stack>();
  stack->origin = origin;
  stack->low = stack->high = sp;
  stack->number = next_++;
  return *stacks_.emplace_back(std::move(stack));
}

Stacks::Stack* Stacks::find(std::uint64_t number) {
  for (auto stack = stacks_.rbegin(); stack != stacks_.rend(); ++stack) // mostly the last one
    if ((*stack)->number == number) return stack->get();
  return nullptr;
}

Stacks::Stack* Stacks::at(std::uint64_t sp) {
  for (auto stack = stacks_.rbegin(); stack != stacks_.rend(); ++stack)
    if ((*stack)->low <= sp && sp <= (*stack)->high) return stack->get();
  return nullptr;
}

void Stacks::remove(std::uint64_t number) {
  std::erase_if(stacks_, [&](const auto& stack) { return stack->number == number; });
}

void Stacks::use(std::uint64_t number) {
  const auto found = std::ranges::find_if(stacks_, [&](const auto& s) { return s->number == number; });
  if (found != stacks_.end()) std::rotate(found, found + 1, stacks_.end());
}

ShadowStack::ShadowStack(Stacks& stacks, const AbiTraits& abi, const unwind::UnwindAbi& unwind, Reader read)
    : stacks_(stacks), abi_(abi), unwind_(unwind), read_(std::move(read)),
      ra_on_stack_(!unwind.ra_is_register) {}

std::uint64_t ShadowStack::sp(const Registers& registers) const {
  return registers.values[abi_.sp];
}

/// The current stack. One that was dropped is unknown from here on.
ShadowStack::Stack& ShadowStack::stack() const {
  if (Stack* const found = stacks_.find(current_)) return *found;
  Stack& added = stacks_.add(Stacks::Origin::unknown, 0); // drop_ended() sets where it is
  added.number = current_;
  return added;
}

void ShadowStack::start(const Registers& now, bool is_thread) {
  current_ = stacks_.add(is_thread ? Stacks::Origin::thread : Stacks::Origin::process, sp(now)).number;
}

void ShadowStack::join(const Registers& now, bool is_entry) {
  current_ = stacks_.add(Stacks::Origin::joined, sp(now)).number;
  const auto ra = ra_on_stack_ ? read_(sp(now)) : now.get(abi_.ra);
  if (!is_entry || !ra) return;
  const std::uint64_t before = sp(now) + (ra_on_stack_ ? word_size : 0);
  push({.ra = *ra,
        .cfa = before - static_cast<std::uint64_t>(std::int64_t{abi_.sp_from_cfa}),
        .fp = now.values[abi_.fp],
        .limit = sp(now),
        .interrupted = false});
}

void ShadowStack::end() {
  stacks_.remove(current_);
}

Unknown ShadowStack::unknown() const {
  Stack& now = stack();
  if (now.is_leaving()) return Unknown::leaving;
  if (now.is_moved()) return Unknown::moved;
  if (!now.calls.empty() || now.origin == Stacks::Origin::process) return Unknown::none;
  if (now.origin == Stacks::Origin::joined) return Unknown::before_start;
  return now.origin == Stacks::Origin::thread ? Unknown::thread_start : Unknown::other_stack;
}

const Call* ShadowStack::caller() const {
  const Stack& now = stack();
  return now.calls.empty() ? nullptr : &now.calls.back();
}

void ShadowStack::push(Call call) {
  Stack& now = stack();
  now.calls.push_back(call);
  if (now.calls.size() <= Stacks::most_calls) return;
  constexpr std::size_t dropped = Stacks::most_calls / 2;
  now.calls.erase(now.calls.begin(), now.calls.begin() + dropped);
  now.origin = Stacks::Origin::unknown;
}

/// On AMD64, `call` to the next instruction only pushes its address, which position-independent code pops.
/// The same on the others only sets the link register.
void ShadowStack::call(const code::Instruction& instruction, const Registers& before,
                       const Registers& after) {
  const std::uint64_t next = instruction.address + instruction.length;
  if (after.pc == next || after.pc == instruction.address) return;
  const std::uint64_t cfa = sp(before) - static_cast<std::uint64_t>(
                                             std::int64_t{abi_.sp_from_cfa}); // the caller's SP is CFA + this
  push({.ra = next,
        .cfa = cfa,
        .fp = before.values[abi_.fp],
        .limit = sp(after),
        .interrupted = false,
        .entry = after.pc});
}

/// True if the innermost call is the one that a return leaves.
bool ShadowStack::pop_returned(const Registers& before, const Registers& after) {
  Stack& now = stack();
  if (now.calls.empty()) return false;
  if (ra_on_stack_) {
    // Whichever address the word of the call has: it may have been replaced, to jump by a return.
    const Call& last = now.calls.back();
    if (last.ra_popped && sp(before) == last.limit + word_size) {
      const bool to_caller = after.pc == last.ra; // else the frame was left, as by longjmp
      if (!to_caller) ++events_.frames_left;
      now.calls.pop_back();
      return to_caller;
    }
    const bool returned = last.limit == sp(before) && sp(after) >= last.limit + word_size;
    if (returned) now.calls.pop_back();
    return returned;
  }
  // Calls of functions without a frame have the same SP: swapcontext() calls setcontext(), which does not
  // return.
  for (std::size_t left = now.calls.size(); left > 0 && now.calls[left - 1].limit == sp(after); --left) {
    if (now.calls[left - 1].ra != after.pc) continue;
    now.calls.resize(left - 1);
    return true;
  }
  return false;
}

bool ShadowStack::is_intact(const Call& call) const {
  return !ra_on_stack_ || call.interrupted || read_(call.limit) == call.ra;
}

/// SP was set to an address that need not be on the current stack. `may_grow`: it may be a new lowest one of
/// that, which code computes. A value that it loads was saved: it is where SP has been, or another stack.
void ShadowStack::move_to(std::uint64_t to, bool may_grow) {
  Stack& now = stack();
  const bool inside = now.low <= to && to <= now.high;
  const bool grows = may_grow && to < now.low && now.low - to <= most_growth &&
                     now.origin != Stacks::Origin::unknown && !stacks_.at(to);
  if (inside || grows) return;
  ++events_.stack_switches;
  Stack* other = stacks_.at(to);
  if (other) {
    // Not that of an earlier use of the memory.
    while (!other->calls.empty() && to > other->calls.back().limit) other->calls.pop_back();
    if (!other->calls.empty() && !is_intact(other->calls.back())) {
      stacks_.remove(other->number);
      other = nullptr;
    }
  }
  if (!other) other = &stacks_.add(Stacks::Origin::unknown, to);
  current_ = other->number;
  stacks_.use(current_);
  stack().is_leaving() = true;
}

/// An instruction that is no return may load the word of the innermost call from the stack.
void ShadowStack::take_word(std::span<const Effect> effects, const Registers& before, std::uint64_t to) {
  Stack& now = stack();
  if (!ra_on_stack_ || now.calls.empty()) return;
  Call& last = now.calls.back();
  if (last.interrupted || sp(before) != last.limit || to != last.limit + word_size) return;
  last.ra_popped |= std::ranges::any_of(effects, [&](const Effect& effect) {
    return effect.kind == Effect::Kind::load && effect.source == abi_.sp && effect.value == 0;
  });
}

void ShadowStack::look_ahead(const code::Instruction& instruction, std::span<const Effect> effects,
                             const Registers& now) {
  Stack& current = stack();
  if (current.calls.empty()) return;
  const Call& last = current.calls.back();
  if (last.interrupted || sp(now) != last.limit) return;
  if (ra_on_stack_ && now.pc == last.entry && added_to_sp(effects, abi_.sp) == word_size)
    current.calls.pop_back(); // which has discarded the word at once: no call
  else if (!ra_on_stack_ && instruction.flow == Flow::ret && now.get(abi_.ra) == last.ra)
    current.is_leaving() = false; // which returns: no nonlocal goto
}

/// Calls that are over without a return.
void ShadowStack::drop_ended(std::uint64_t to) {
  Stack& now = stack();
  bool any = false;
  // Without a word on the stack, SP at the call is also SP after it: once frames were left, those calls are
  // over that the frame that is left has made.
  const auto is_over = [&](const Call& call) {
    return to > call.limit + (call.ra_popped ? word_size : 0) || (any && !ra_on_stack_ && to == call.limit);
  };
  for (; !now.calls.empty() && is_over(now.calls.back()); any = true) {
    now.calls.pop_back();
    ++events_.frames_left;
  }
  if (any) now.is_leaving() = true;
  now.low = now.high == 0 ? to : std::min(now.low, to);
  now.high = std::max(now.high, to);
}

void ShadowStack::step(const code::Instruction& instruction, std::span<const Effect> effects,
                       const Registers& before, const Registers& after) {
  const std::uint64_t to = sp(after);
  if (is_call(instruction.flow)) {
    call(instruction, before, after);
  } else if (may_leave(instruction.flow)) {
    Stack& now = stack();
    const bool was_leaving = std::exchange(now.is_leaving(), false);
    const bool returned = pop_returned(before, after);
    // It may be in that call, or the call may be over, if the stack was switched.
    const bool is_open = !ra_on_stack_ && !now.calls.empty() && now.calls.back().limit == to;
    if (was_leaving && !returned && is_open) now.is_leaving() = true;
  } else if (const NewSp set = new_sp(effects, abi_.sp); set != NewSp::none) {
    if (to != sp(before)) move_to(to, set == NewSp::copied);
    Stack& now = stack();
    // SP at the call: the end of the call, or already that of a nonlocal goto into its caller.
    if (!ra_on_stack_ && to >= sp(before) && !now.calls.empty() && now.calls.back().limit == to)
      now.is_leaving() = true;
  } else {
    take_word(effects, before, to);
  }
  drop_ended(to);
}

/// Whether the kernel has changed to the alternate stack, which may be close to the other. Not all frames
/// have where that is: others are below the red zone of the interrupted code, unless there is another stack.
bool ShadowStack::is_elsewhere(const unwind::SignalTrampoline& layout, std::uint64_t frame,
                               std::uint64_t handler_sp, std::uint64_t before) const {
  constexpr std::uint64_t size_in_stack = 16;
  const std::uint64_t at = frame + layout.alternate_stack;
  const auto start = layout.alternate_stack ? read_(at) : std::nullopt;
  const auto size = start ? read_(at + size_in_stack) : std::nullopt;
  if (!size) return handler_sp >= before || before - handler_sp > most_growth;
  const auto is_there = [&](std::uint64_t sp) { return sp > *start && sp - *start <= *size; };
  return is_there(handler_sp) && !is_there(before);
}

bool ShadowStack::enter_handler(const Registers& interrupted, const Registers& now) {
  const std::uint64_t handler_sp = sp(now);
  const std::uint64_t frame = handler_sp + (ra_on_stack_ ? word_size : 0); // SP in the trampoline
  constexpr std::uint64_t longest_restart = 8; // the pc may be moved back to the system call
  for (const unwind::SignalTrampoline& layout : unwind_.trampolines) {
    const auto saved_sp = std::ranges::find(layout.registers, abi_.sp, &unwind::SavedRegister::reg);
    if (saved_sp == layout.registers.end()) continue;
    const auto pc = read_(frame + layout.pc_offset);
    if (read_(frame + saved_sp->offset) != sp(interrupted) || !pc) continue;
    if (interrupted.pc - *pc > longest_restart && *pc - interrupted.pc > longest_restart) continue;
    const auto ra = ra_on_stack_ ? read_(handler_sp) : now.get(abi_.ra);
    if (!ra) continue;
    const std::uint64_t bias = static_cast<std::uint64_t>(std::int64_t{abi_.sp_from_cfa});
    const Stack& old = stack();
    if (is_elsewhere(layout, frame, handler_sp, sp(interrupted))) {
      const std::uint64_t number = old.number;
      Stack& added = stacks_.add(Stacks::Origin::thread, frame + layout.pc_offset);
      added.interrupted = number;
      current_ = added.number;
    }
    stack().low = std::min(stack().low, handler_sp);
    push({.ra = *pc,
          .cfa = sp(interrupted) - bias,
          .fp = interrupted.values[abi_.fp],
          .limit = frame + layout.pc_offset,
          .interrupted = true});
    push({.ra = *ra,
          .cfa = frame - bias,
          .fp = now.values[abi_.fp],
          .limit = handler_sp,
          .interrupted = false});
    return true;
  }
  return false;
}

/// A handler may have changed where the interrupted code goes on. To skip an instruction changes no frame.
void ShadowStack::redirect(const Call& interrupted, const Registers& now) {
  constexpr std::uint64_t longest_instruction = 16;
  const std::uint64_t bias = static_cast<std::uint64_t>(std::int64_t{abi_.sp_from_cfa});
  const std::uint64_t before = interrupted.cfa + bias;
  const bool is_near = now.pc - interrupted.ra <= longest_instruction;
  if (now.pc == interrupted.ra || (sp(now) == before && is_near)) return;
  if (ra_on_stack_ && before - sp(now) == word_size && read_(sp(now)) == interrupted.ra)
    push({.ra = interrupted.ra,
          .cfa = interrupted.cfa,
          .fp = now.values[abi_.fp],
          .limit = sp(now),
          .interrupted = false});
  else if (sp(now) <= before)
    stack().is_moved() = true;
  else
    stack().is_leaving() = true;
}

void ShadowStack::leave_handler(const Registers& now) {
  Stack& from = stack();
  std::optional<Call> interrupted;
  if (!from.calls.empty() && from.calls.back().interrupted) {
    interrupted = from.calls.back();
    from.calls.pop_back();
  }
  if (from.interrupted && from.calls.empty()) {
    const std::uint64_t number = from.number;
    current_ = *from.interrupted;
    stacks_.remove(number);
    stacks_.use(current_);
  }
  move_to(sp(now), true);
  drop_ended(sp(now));
  if (interrupted) redirect(*interrupted, now);
  // The code that was interrupted may have been between frames itself.
}

} // namespace sframe::run
