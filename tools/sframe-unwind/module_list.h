// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --modules: the mapped files of a process instead of its stacks, as eu-unstrip -n lists them, with what
// walks and names can use of each.

#pragma once

#include "sframe/process/process_state.h"
#include "sframe/tool/output.h"

#include <string>
#include <string_view>

namespace sframe::unwind_tool {

/// What is known of a module's file. Opens it and its debug file.
struct ModuleFiles {
  std::string_view state; ///< "found", "missing", "fetched", "memory" (vdso, generated code)
  std::string file;       ///< as opened; empty if there is none
  std::string debug_file; ///< empty if there is none
  std::string_view table; ///< what frames are found by: "SFrame", "SFrame, CFI", "CFI", "neither"
  std::string_view names; ///< "full", "dynamic", "debugdata", "none"
};
ModuleFiles files_of(modules::Module& module);

/// A line for each module, by address. True if all files were found.
bool list_modules(process::ProcessState& process, tool::Output& out);

/// Opens all files, so that a printer lists them completely. True if all were found.
bool load_modules(process::ProcessState& process);

} // namespace sframe::unwind_tool
