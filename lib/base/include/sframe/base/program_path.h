// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a program is that will be executed by its name.

#pragma once

#include <optional>
#include <string>

#pragma GCC visibility push(default)

namespace sframe {

/// The file that execvp(3) executes: `name` itself if it has a '/', else the first one in a folder of PATH
/// that may be executed; nothing if there is none.
std::optional<std::string> find_program_path(const std::string& name);

/// The path of the program of this name in this program's folder, or else in a folder of PATH; nothing if
/// there is none.
std::optional<std::string> find_companion(const std::string& name);

} // namespace sframe

#pragma GCC visibility pop
