// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts an opened file and writes the result: an ELF file, a raw section, or an archive, whose members are
// converted one by one.

#pragma once

#include "emit.h"
#include "summary.h"

#include <sframe/elf/file.h>
#include <sframe/expected.h>
#include <sframe/tool/messages.h>
#include <sframe/tool/progress.h>

#include <optional>
#include <string>

namespace sframe::gen {

/// Empty if there was nothing to convert or copy.
using Written = expected<std::optional<OutputFile>, FileProblem>;

/// Converts the input and writes the output atomically. Warnings about the input go to `messages`.
///
/// Archive members that are not 64-bit relocatable objects or have nothing to convert are kept unchanged. A
/// damaged member makes the whole conversion fail. An archive without anything to convert is copied; so is
/// any other input with --allow-missing. `summary.unconverted` then has the reason.
Written convert(const CommandLine& line, const elf::File& file, tool::MessageSink& messages, Summary& summary,
                tool::Progress::Item& progress);

/// Writes an unchanged copy of the input.
expected<OutputFile, FileProblem> copy_file(const CommandLine& line, const elf::File& file);

} // namespace sframe::gen
