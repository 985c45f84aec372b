// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builder::optimize() for the functions of a file: the code shows which bytes between functions are padding.

#pragma once

#include "sframe/builder.h"
#include "sframe/elf/image.h"
#include "sframe/generate/report.h"

namespace sframe::generate {

/// As Builder::optimize(). Functions are joined over padding (nops, traps, zeros) of `image`, if given, but
/// not where `left_out`, by address, shows that code was left out. Not for relocatable objects: their linker
/// moves functions. Takes code_steps from the image's budget; what is past it is not joined.
void optimize(Builder& builder, OptimizeOptions options, const elf::Image* image,
              std::span<const LeftOut> left_out);

} // namespace sframe::generate
