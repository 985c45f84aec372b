// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: whether a file that was found may be read, by its kind and file system.

#pragma once

namespace sframe::elf {

/// Why a regular file may not be read, or nullptr; other files, and those that were not found, are for the
/// caller to report. `place` is an O_PATH descriptor; `network` as in File::AllowedFiles.
const char* check_place(int place, bool network);

} // namespace sframe::elf
