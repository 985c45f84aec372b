// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the names of compilers, as files have them.

#pragma once

#include "sframe/elf/image.h"
#include "sframe/verify/compiler_bugs.h"

#include <string>
#include <string_view>

namespace sframe::verify {

/// A DW_AT_producer without the options: "GNU C17 12.2.0 -O2 -g" is "GNU C17 12.2.0".
std::string compiler_of_producer(std::string_view producer);

/// What the file has of all its code: the strings of .comment, and the version of Go in .go.buildinfo. Takes
/// section_bytes from the image's budget.
Compiler compiler_of_file(const elf::Image& image);

} // namespace sframe::verify
