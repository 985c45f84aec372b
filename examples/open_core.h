// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common to the examples with core files: opens a core as a process whose threads can be walked.

#pragma once

#include "sframe/core/core_file.h"
#include "sframe/process/process_state.h"

#include <memory>
#include <string>
#include <utility>

namespace example {

/// A core file and the process in it, which refers to it.
struct OpenCore {
  sframe::core::CoreFile file; ///< plain or compressed
  std::unique_ptr<sframe::process::CoreProcess> process;
};

inline sframe::Result<std::unique_ptr<OpenCore>> open_core(const std::string& path) {
  auto file = sframe::core::CoreFile::open(path, sframe::Limits::standard);
  if (!file) return sframe::unexpected(file.error());
  auto open = std::make_unique<OpenCore>(OpenCore{std::move(*file), nullptr});
  // Options for files, sidecars and debug files go here; by default the core's own paths are used.
  auto process = sframe::process::CoreProcess::create(open->file.core(), {});
  if (!process) return sframe::unexpected(process.error());
  open->process = std::move(*process);
  return open;
}

} // namespace example
