// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the examples with core files share: from a path to a process whose threads can be walked.

#pragma once

#include "sframe/elf/core.h"
#include "sframe/elf/file.h"
#include "sframe/process/process_state.h"

#include <memory>
#include <string>
#include <utility>

namespace example {

/// A core file and what stands on it: each member needs those above it.
struct OpenCore {
  sframe::elf::File file; ///< mapped, not copied
  sframe::elf::Core core;
  std::unique_ptr<sframe::process::CoreProcess> process;
};

inline sframe::Result<std::unique_ptr<OpenCore>> open_core(const std::string& path) {
  auto file = sframe::elf::File::open(path);
  if (!file) return std::unexpected(file.error());
  auto core = sframe::elf::Core::parse(file->bytes());
  if (!core) return std::unexpected(core.error());
  auto open = std::make_unique<OpenCore>(std::move(*file), std::move(*core), nullptr);
  // Where to find files, sidecars and debug files could be said here; by default where the core says.
  auto process = sframe::process::CoreProcess::create(open->core, {});
  if (!process) return std::unexpected(process.error());
  open->process = std::move(*process);
  return open;
}

} // namespace example
