// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From an opened file to a written one: an ELF file, a raw section, or an archive, whose members are
// converted one by one.

#pragma once

#include "emit.h"
#include "summary.h"

#include <sframe/elf/file.h>
#include <sframe/tool/messages.h>

#include <expected>
#include <string>

namespace sframe::gen {

/// Converts the input and writes the output, whole or not at all. Gives the path that was written. What can
/// be said of the input on the way goes to `messages`.
///
/// Members of an archive that are no 64-bit relocatable objects or have nothing to convert stay as they are;
/// a damaged one is a failure of the whole, and so is an archive without anything to convert.
std::expected<std::string, FileProblem> convert(const CommandLine& line, const elf::File& file,
                                                tool::Messages& messages, Summary& summary);

} // namespace sframe::gen
