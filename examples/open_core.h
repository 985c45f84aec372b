// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common to the examples with core files: opens a core as a process whose threads can be walked.

#pragma once

#include "sframe/elf/core.h"
#include "sframe/elf/file.h"
#include "sframe/process/process_state.h"

#include <memory>
#include <string>
#include <utility>

namespace example {

/// A core file and the objects over it: each member refers to those above it.
struct OpenCore {
  sframe::elf::File file; ///< mapped, not copied
  sframe::elf::Core core;
  std::unique_ptr<sframe::process::CoreProcess> process;
};

inline sframe::Result<std::unique_ptr<OpenCore>> open_core(const std::string& path) {
  auto file = sframe::elf::File::open(path);
  if (!file) return sframe::unexpected(file.error());
  auto core = sframe::elf::Core::parse(file->bytes());
  if (!core) return sframe::unexpected(core.error());
  auto open = std::make_unique<OpenCore>(std::move(*file), std::move(*core), nullptr);
  // Options for files, sidecars and debug files go here; by default the core's own paths are used.
  auto process = sframe::process::CoreProcess::create(open->core, {});
  if (!process) return sframe::unexpected(process.error());
  open->process = std::move(*process);
  return open;
}

} // namespace example
