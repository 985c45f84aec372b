// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exception for which a C++ program was terminated: its type, and what it says.

#pragma once

#include "sframe/languages/thrown.h"
#include "sframe/modules/module.h"
#include "sframe/unwind/walker.h"

#include <optional>

namespace sframe::languages {

/// If the thread is in std::terminate() because nothing catches an exception: that exception. `walker` finds
/// the frames; it must recover all registers, because the exception is found by one that __cxa_throw() has
/// (Itanium C++ ABI, section 2.2.1, as libstdc++ implements it). The message is that of classes with the
/// what() of std::logic_error and std::runtime_error, the value of thrown numbers and strings. Exact; at most
/// 128 frames are looked at. Nothing if the functions have no symbols, or with another library.
std::optional<Thrown> cxx_exception(modules::ModuleSpace& space, unwind::Walker& walker,
                                    const unwind::FrameState& thread);

} // namespace sframe::languages
