// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files whose code a program executes from its start on, as far as they are known before: tables of them
// can then be there for its first sample.

#pragma once

#include <string>
#include <vector>

namespace sframe::profile_tool {

/// Paths: the program that `name` executes, the interpreters of a script, the dynamic linker, and the
/// libraries that this one finds for it. That is asked (`ld.so --list`), with this process's environment, so
/// it decides as it will for the program. What is not found is left out.
std::vector<std::string> find_needed_files(const std::string& name);

} // namespace sframe::profile_tool
