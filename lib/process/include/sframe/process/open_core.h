// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A core file by its path: the shortest way to its threads.
//
//   const auto core = sframe::process::open_core("core");
//   if (!core) ... core.error().text() ...
//   for (const auto& thread : (*core)->process->threads()) ...

#pragma once

#include "sframe/core/core_file.h"
#include "sframe/process/process_state.h"

#include <memory>
#include <string>

#pragma GCC visibility push(default)

namespace sframe::process {

/// A core file and the process in it, which refers to the file.
struct OpenedCore {
  core::CoreFile file;
  std::unique_ptr<CoreProcess> process; ///< never nullptr
};

/// Opens a core, plain or compressed, or a minidump. `files`: where the files of its modules are looked for;
/// by default where the core names them. Without a budget in them, one of Limits::standard and the core's
/// size is added. Fails if the file cannot be read, is not a core, or its machine cannot be unwound. Reads
/// the core's headers; no other file is opened before a walk needs it.
Result<std::unique_ptr<OpenedCore>> open_core(const std::string& path, modules::FileOptions files = {});

} // namespace sframe::process

#pragma GCC visibility pop
