// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the implementations of sframe_process. Cores and live processes are one kind
// (process::ProcessState and a Walker), targets through callbacks the other (remote::RemoteCursor).

#pragma once

#include "sframe/c/walk.h"

#include "sframe/unwind/walker.h"

#include <functional>
#include <string>
#include <string_view>

struct sframe_process {
  using Receiver = std::function<bool(const sframe_frame&)>; ///< false ends the walk

  virtual ~sframe_process() = default;
  virtual const sframe::AbiTraits& abi() const = 0;
  virtual sframe_status stop(sframe_error* error);
  virtual void resume() {}
  virtual std::size_t num_threads() const = 0;
  virtual sframe_thread thread(std::size_t number) const = 0;
  /// `thread` must be below num_threads().
  virtual sframe_status walk(std::size_t thread, const Receiver& receiver, sframe_end& end,
                             sframe_error* error) = 0;
  virtual sframe_status name(std::uint64_t lookup_pc, std::uint64_t pc, std::string& name,
                             std::uint64_t& offset) = 0;
  virtual const char* module_path(std::uint64_t lookup_pc);
  virtual sframe_status set_caching(sframe_caching policy);
  virtual sframe_status flush(std::uint64_t first, std::uint64_t last);
};

namespace sframe::c {

/// Fills in `error` if there is one, and returns the status.
sframe_status report(sframe_error* error, sframe_status status, std::string_view message);

void describe_end(const unwind::WalkEnd& from, sframe_end& to);

} // namespace sframe::c
