// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files whose code a program executes from its start on, as far as they are known before: tables of them
// can then be there for its first sample.

#pragma once

#include "sframe/bpf/mapped_file.h"

#include <string>
#include <vector>

namespace sframe::profile_tool {

/// Opens a file for reading; -1 if it is no regular one. Others are not touched: to open a device may do
/// something.
bpf::FileDescriptor open_regular(const std::string& path);

/// Paths: the program that `name` executes, the interpreters of a script, the dynamic linker, and the
/// libraries that this one finds for it. That is asked (`ld.so --list`), with this process's environment, so
/// it decides as it will for the program; but only if it is the one that the kernel would start, and no other
/// user may have written it. What is not found is left out. Its answer is not waited for if poll(2) reports
/// `interruption`.
std::vector<std::string> find_needed_files(const std::string& name, int interruption);

} // namespace sframe::profile_tool
