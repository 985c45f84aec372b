// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: whether a file that was found may be read, by its kind and file system.

#pragma once

#include "sframe/base/proc_text.h"

#include <string>

namespace sframe::elf {

/// Why a regular file may not be read, or nullptr; other files, and those that were not found, are for the
/// caller to report. `place` is an O_PATH descriptor; `network` as in File::AllowedFiles.
const char* check_place(int place, bool network);

/// False if the mount is of a file system that may wait, and has not answered a probe at `path`
/// (set_file_system_probe()).
bool does_answer(const Mount& mount, const std::string& path);

} // namespace sframe::elf
