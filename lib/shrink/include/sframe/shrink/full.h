// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The call frame information of a file as .debug_frame, which debuggers read from a debug file: what
// Level::sync takes out of .eh_frame.

#pragma once

#include "sframe/base/problem.h"
#include "sframe/elf/image.h"

#include <cstddef>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::shrink {

/// The bytes of a section .debug_frame with the CIEs and FDEs of the image's .eh_frame: the same
/// instructions, addresses of eight bytes, no exception tables. For a linked image, whose .eh_frame is one
/// that shrink() accepts. Linear.
Result<std::vector<std::byte>> make_debug_frame(const elf::Image& image);

} // namespace sframe::shrink

#pragma GCC visibility pop
