// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stack of the calling thread: return addresses, found by the tables of the running image. There are no
// heuristics: frames are exact, and a walk reports why it ended.
//
//   std::uint64_t frames[64];
//   const auto walk = sframe::here::callers(frames);
//   for (std::uint64_t pc : std::span(frames).first(walk.count)) ...
//
// In a signal handler (SA_SIGINFO), after a refresh() earlier in the program:
//
//   void handler(int, siginfo_t*, void* context) {
//     const auto walk = sframe::here::callers_in_context(*static_cast<const ucontext_t*>(context), frames);
//
// Rules come from .sframe sections (PT_GNU_SFRAME) and .eh_frame. refresh() finds them; a function's rules
// are decoded when a walk meets it, and kept in a cache that walks share. docs/here.md describes costs and
// which calls are safe where. Linux on AMD64, AArch64 and s390x.

#pragma once

#include "sframe/unwind/stop_reason.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include <ucontext.h>

#pragma GCC visibility push(default)

namespace sframe::here {

/// The result of a walk.
struct Callers {
  std::size_t count = 0; ///< addresses written
  /// Why the walk ended: bottom (the outermost frame), zero_pc (a return address of 0, which ends most
  /// stacks that do not start with _start or clone), frame_limit (the span is full; there may be more
  /// frames). With any other reason the walk is incomplete. message() returns the reason as text.
  unwind::StopReason end = unwind::StopReason::none;
};

/// The callers of the calling thread, innermost first: frames[0] is the address to which this call returns,
/// frames[1] that to which its function returns, and so on. A return address is that of the instruction
/// after the call (without pointer authentication code). After a signal frame comes the address of the
/// interrupted instruction. `skip` leaves out that many frames at the start.
///
/// If tables for an address are missing or out of date, makes those of its module: with memory from the
/// kernel (no malloc), without a lock, with up to 12 KiB of stack; a module that can be unloaded is copied.
/// So it may be called in malloc() and operator new, in callbacks of dl_iterate_phdr(), in children of fork()
/// and in signal handlers. errno is preserved.
///
/// Making them fails if memory runs out, the thread's or signal stack is too small, the loader is still
/// adding the module, or the C library has no _dl_find_object(). Then the walk ends with no_rule, and
/// left_out() counts it.
Callers callers(std::span<std::uint64_t> frames, std::size_t skip = 0);

/// The same with only the tables of the last refresh(): async-signal-safe. No allocation, lock or exception;
/// about 4 KiB of stack; errno is preserved. Reads only memory known to be readable, so a damaged stack just
/// ends the walk (unreadable_memory, cfa_not_growing).
Callers callers_in_handler(std::span<std::uint64_t> frames, std::size_t skip = 0);

/// The stack interrupted by a signal; `context` is the third argument of the handler. frames[0] is the pc of
/// the interrupted instruction, then return addresses follow. Async-signal-safe as callers_in_handler(). If
/// the pc is in no memory (a call through a null pointer), the walk continues with the caller if the tables
/// cover one. Before the first refresh() there is only the pc.
Callers callers_in_context(const ucontext_t& context, std::span<std::uint64_t> frames);

/// Makes tables for all loaded modules: the program, its libraries, the vdso. If nothing was loaded or
/// unloaded since the last call, it costs a call of dl_iterate_phdr(). Otherwise it copies the sections of
/// new modules that can be unloaded; the others are kept. Takes no lock except the loader's, in
/// dl_iterate_phdr(), and gets memory from the kernel. It may be called in callbacks of dl_iterate_phdr() and
/// concurrently with walks and itself; not with a lock held that such callbacks need, and not in signal
/// handlers.
///
/// Call it at the start, and after dlopen() if handlers must see the library's frames. Call it after
/// dlclose() to free the library's tables; they are not used for another library in its place. False if
/// memory ran out: the tables are unchanged.
bool refresh();

/// Properties of the tables.
struct Tables {
  std::size_t modules = 0;        ///< known modules, even without tables
  std::size_t sframe_modules = 0; ///< of these, with functions in .sframe
  std::size_t functions = 0;      ///< in .sframe and .eh_frame; those in both count twice
  std::size_t bytes = 0;          ///< total memory
  std::size_t retired = 0;        ///< former tables that walks may still use
};

/// Of the current tables. No lock, no allocation.
Tables tables();

/// Number of walks, in all threads since the start, that ended with no_rule in a module without tables.
/// Their outer frames are missing; a refresh() would have found them. Async-signal-safe.
std::uint64_t left_out();

} // namespace sframe::here

#pragma GCC visibility pop
