// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "sframe/process/own_process.h"

#include <unistd.h>
#include <utility>

namespace sframe::process {

OwnProcess::OwnProcess(std::uint32_t pid, const AbiTraits& abi, modules::FileOptions files)
    : pid_(pid), space_(pid, abi, std::move(files)), name_(program_invocation_short_name) {}

Result<std::unique_ptr<OwnProcess>> OwnProcess::create(modules::FileOptions files) {
  const auto pid = static_cast<std::uint32_t>(::getpid());
  const auto abi = find_process_abi(pid);
  if (!abi) return unexpected(abi.error());
  std::unique_ptr<OwnProcess> process(new OwnProcess(pid, **abi, std::move(files)));
  if (auto read = process->refresh(); !read) return unexpected(read.error());
  return process;
}

Result<void> OwnProcess::refresh() {
  space_.forget();
  if (auto read = space_.refresh(); !read) return unexpected(read.error());
  return {};
}

} // namespace sframe::process
