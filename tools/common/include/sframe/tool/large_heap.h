// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The heap of a program that works on a large file.

#pragma once

#include <cstdint>

namespace sframe::tool {

/// Call once at the start: the heap keeps some MiB of what is freed. Else a program that frees and allocates
/// the same blocks again has them from the kernel each time. Nothing without glibc.
void prepare_heap();

/// Call before work on `bytes` of input, from any thread. If that is much, the heap gets large pages and
/// keeps what is freed: with pages of 4 KiB, a sixth of the time of sframe-gen would be the kernel's, to
/// provide memory. Takes up to some MiB more. Nothing where glibc or the kernel does not support it.
void prepare_heap(std::uint64_t bytes);

} // namespace sframe::tool
