// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/process/open_core.h"

#include <utility>

namespace sframe::process {

Result<std::unique_ptr<OpenedCore>> open_core(const std::string& path, modules::FileOptions files) {
  auto file = core::CoreFile::open(path, files.limits());
  if (!file) return unexpected(file.error());
  files.add_budget(file->cost_size());
  auto opened = std::make_unique<OpenedCore>(OpenedCore{std::move(*file), nullptr});
  auto process = CoreProcess::create(opened->file.core(), std::move(files));
  if (!process) return unexpected(process.error());
  opened->process = std::move(*process);
  return opened;
}

} // namespace sframe::process
