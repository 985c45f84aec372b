// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: the implementations of sframe_process. Cores and live processes are one kind
// (process::ProcessState and a Walker), targets through callbacks the other (remote::RemoteCursor).

#pragma once

#include "sframe/c/walk.h"

#include "sframe/modules/source.h"
#include "sframe/process/process_state.h"
#include "sframe/unwind/walker.h"

#include <functional>
#include <span>
#include <string>

struct sframe_process {
  using Receiver = std::function<bool(const sframe_frame&)>; ///< false ends the walk

  virtual ~sframe_process() = default;
  virtual const sframe::AbiTraits& abi() const = 0;
  virtual sframe_process_info info() const { return {.name = ""}; }
  virtual sframe_status stop(sframe_error* error);
  virtual void resume() {}
  virtual std::size_t num_threads() const = 0;
  virtual sframe_thread thread(std::size_t number) const = 0;
  /// `thread` must be below num_threads().
  virtual sframe_status walk(std::size_t thread, const Receiver& receiver, sframe_end& end,
                             sframe_error* error) = 0;
  virtual sframe_status name(std::uint64_t lookup_pc, std::uint64_t pc, std::string& name,
                             std::uint64_t& offset) = 0;
  virtual std::optional<sframe::modules::SourceLocation> source(std::uint64_t lookup_pc);
  virtual std::span<sframe::modules::Module* const> modules() { return {}; }
  /// nullptr if there is none.
  virtual sframe::modules::Module* find_module(std::uint64_t address);
  /// False if the process runs, so that its memory cannot be read.
  virtual bool is_readable() const { return true; }
  virtual std::size_t read(std::uint64_t address, std::span<std::byte> out) = 0;
  /// nullptr if it is none.
  virtual sframe::process::CoreProcess* core() { return nullptr; }
  virtual sframe_status set_caching(sframe_caching policy);
  virtual sframe_status flush(std::uint64_t first, std::uint64_t last);
};

namespace sframe::c {

/// A frame without what only the step to its caller finds: cfa and signal_frame.
sframe_frame make_frame(std::uint32_t number, const unwind::FrameState& state, unwind::Trust trust,
                        std::string_view found_by);

sframe_end make_end(const unwind::WalkEnd& end);

} // namespace sframe::c
