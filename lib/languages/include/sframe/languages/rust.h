// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The panics for which a Rust program was aborted: what they say, and where they happened.

#pragma once

#include "sframe/languages/thrown.h"
#include "sframe/modules/module.h"
#include "sframe/unwind/walker.h"

#include <optional>

namespace sframe::languages {

/// If the thread is in the standard library's handler of a panic: the messages of that panic and of those
/// that were active before it, the first one first, with "; panic: " between them. `walker` finds the frames;
/// it should recover all registers. A message is found by the reference to it that the handler's frame has
/// (library/std/src/panicking.rs), whose table of virtual functions names the type that it has. Known are the
/// types of Rust 1.63 to 1.97. The place is that of the last panic. Exact; nothing if the functions of the
/// standard library have no symbols (strip), or if the text was not kept. At most 128 frames are looked at,
/// 16 if the program is in no panic.
std::optional<Thrown> rust_panic(modules::ModuleSpace& space, unwind::Walker& walker,
                                 const unwind::FrameState& thread);

} // namespace sframe::languages
