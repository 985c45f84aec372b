// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stack of the calling thread: return addresses, found by the tables of the running image. Exact or
// nothing: there are no guesses, and a walk says why it ended.
//
//   std::uint64_t frames[64];
//   const auto walk = sframe::here::callers(frames);
//   for (std::uint64_t pc : std::span(frames).first(walk.count)) ...
//
// In a signal handler (SA_SIGINFO), after one refresh() somewhere before:
//
//   void handler(int, siginfo_t*, void* context) {
//     const auto walk = sframe::here::callers_in_context(*static_cast<const ucontext_t*>(context), frames);
//
// Rules come from .sframe sections (PT_GNU_SFRAME) and .eh_frame. refresh() compiles them into tables that
// the walks share; docs/here.md says what that costs, and what is safe where. Linux on AMD64, AArch64 and
// s390x.

#pragma once

#include "sframe/unwind/stop_reason.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include <ucontext.h>

namespace sframe::here {

/// What a walk found.
struct Callers {
  std::size_t count = 0; ///< addresses written
  /// Why there are no more: bottom (the outermost frame), zero_pc (a return address of 0, which ends most
  /// stacks that do not start with _start or clone), frame_limit (the span is full; whether there are more
  /// frames was not looked at); everything else is an incomplete walk. message() has words for it.
  unwind::StopReason end = unwind::StopReason::none;
};

/// The callers of the calling thread, innermost first: frames[0] is the address to which this call returns,
/// frames[1] that to which the function with this call in it returns, and so on. Return addresses are those
/// of the instruction behind the call (without pointer authentication code); `skip` leaves out the first so
/// many. Behind a signal frame comes the address of the instruction that was interrupted.
///
/// Where an address is met for which tables are missing or out of date, makes those of its module: with
/// memory from the kernel (no malloc), without a lock, in time linear in the module's rows, by up to 24 KiB
/// of stack. So it may be called in malloc() and operator new, in call-backs of dl_iterate_phdr(), in
/// children of fork() and in signal handlers. What cannot be had (no memory; a signal stack or a thread's
/// stack with less room; a module that the loader is only adding; a C library without _dl_find_object())
/// ends the walk with no_rule, and left_out() counts it. errno is kept.
Callers callers(std::span<std::uint64_t> frames, std::size_t skip = 0);

/// The same with the tables that the last refresh() has made: async-signal-safe. No allocation, no lock, no
/// exceptions; about 3 KiB of stack; errno is kept. Memory is looked at only where it is known to be
/// readable, so a damaged stack ends the walk (unreadable_memory, cfa_not_growing) and no more.
Callers callers_in_handler(std::span<std::uint64_t> frames, std::size_t skip = 0);

/// The stack that a signal has interrupted, from what the handler got as its third argument: frames[0] is the
/// pc of the instruction that was interrupted, then return addresses. Async-signal-safe as
/// callers_in_handler(). Where the pc is no memory at all (a call through a null pointer), the walk goes on
/// with the caller if there is one that the tables know. Before the first refresh() the pc is all there is.
Callers callers_in_context(const ucontext_t& context, std::span<std::uint64_t> frames);

/// Makes tables for what is loaded now: the program, its libraries, the vdso. Where nothing was loaded or
/// unloaded since the last time, it costs a call of dl_iterate_phdr(). Otherwise linear in the tables of the
/// modules that are new; the others are kept. Takes no lock but the loader's, in dl_iterate_phdr(), and its
/// memory is from the kernel: it may be called in call-backs of dl_iterate_phdr() and together with walks and
/// itself in other threads, but not with a lock held that such call-backs want, and not in signal handlers.
/// Call it at the start; after dlopen() where handlers are to see the library's frames; after
/// dlclose() to give its tables back, and above all where a changed library may come to its place. False
/// where memory ran out: the tables are as before.
bool refresh();

/// What the tables are.
struct Tables {
  std::size_t modules = 0;        ///< known; those without any rows too
  std::size_t sframe_modules = 0; ///< of these, with rows from .sframe
  std::size_t rows = 0;
  std::size_t bytes = 0;   ///< of memory, all told
  std::size_t retired = 0; ///< former tables that a walk may still use
};

/// Of those that walks use now. No lock, no allocation.
Tables tables();

/// How many walks, in all threads since the start, have ended with no_rule in code of a module for which
/// there were no tables, so that their outer frames are left out: a refresh() would have found them.
/// Async-signal-safe.
std::uint64_t left_out();

} // namespace sframe::here
