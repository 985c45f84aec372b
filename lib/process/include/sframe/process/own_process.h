// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process that this code runs in: its modules, to name its addresses, such as those of
// sframe::here::callers(). It is not stopped and has no threads here.
//
//   const auto own = sframe::process::OwnProcess::create();
//   if (!own) ...
//   sframe::modules::AddressNames names((*own)->space());
//   names.find(address, sframe::modules::AddressKind::return_address)

#pragma once

#include "sframe/process/live_process.h"

#include <memory>
#include <string>

#pragma GCC visibility push(default)

namespace sframe::process {

class OwnProcess final : public ProcessState {
public:
  /// Reads the list of mappings. Fails if that cannot be read, or the ABI cannot be unwound. Not for signal
  /// handlers; for one thread at a time.
  static Result<std::unique_ptr<OwnProcess>> create(modules::FileOptions files = {});

  /// Reads the list of mappings again: after dlopen() and dlclose(). Modules that were found stay valid.
  Result<void> refresh();

  std::uint32_t pid() const override { return pid_; }
  std::int32_t signal() const override { return 0; }
  std::span<const Thread> threads() const override { return {}; }
  LiveSpace& space() override { return space_; }
  std::string_view name() const override { return name_; }
  std::deque<modules::Module>& modules() override { return space_.modules(); }

private:
  OwnProcess(std::uint32_t pid, const AbiTraits& abi, modules::FileOptions files);

  const std::uint32_t pid_;
  LiveSpace space_;
  std::string name_;
};

} // namespace sframe::process

#pragma GCC visibility pop
