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
#include <optional>
#include <string>

namespace sframe::gen {

/// The path that was written; nothing where there was nothing to convert and nothing to copy.
using Written = std::expected<std::optional<std::string>, FileProblem>;

/// Converts the input and writes the output atomically. Warnings about the input go to `messages`.
///
/// Members of an archive that are no 64-bit relocatable objects or have nothing to convert stay as they are;
/// a damaged one is a failure of the whole. An archive without anything to convert is copied, and so is,
/// with --allow-missing, any other input; `summary.unconverted` then has the reason.
Written convert(const CommandLine& line, const elf::File& file, tool::Messages& messages, Summary& summary);

} // namespace sframe::gen
