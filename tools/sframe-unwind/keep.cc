// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "keep.h"

#include "sframe/elf/sidecar.h"
#include "sframe/tool/output_file.h"

#include <filesystem>

namespace sframe::unwind_tool {

namespace {

/// Writes the file atomically: two concurrent runs write the same contents.
Result<void> write_new(const std::string& path, std::span<const std::byte> bytes) {
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return {};
  if (auto made = tool::make_parent_folders(path); !made) return made;
  return tool::write_file(path, bytes);
}

} // namespace

void keep_generated(tool::MessageSink& messages, const Options& options, process::ProcessState& process) {
  if (!options.keep_generated) return;
  for (modules::Module& module : process.modules()) {
    const auto sidecar = module.converted_sidecar();
    const std::string below = sidecar.empty() ? std::string() : elf::sidecar_path(module.build_id());
    if (below.empty()) continue;
    const std::string path = options.files.sframe_dir + '/' + below;
    if (const auto written = write_new(path, sidecar); !written) messages.warning(path, written.error());
  }
}

} // namespace sframe::unwind_tool
