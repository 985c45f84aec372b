// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread that takes what stacks ask for, and opens the files at once: a process that has just been sampled
// may end at any moment, and nobody can open its files then. What it has found waits for take().

#pragma once

#include "file.h"

#include "sframe/bpf/tables.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

struct ring_buffer;

namespace sframe::bpf {

/// A file that was asked for.
struct OpenedFile {
  sframe_bpf_mapping mapping{};
  FileDescriptor file{-1};         ///< -1: the process has ended
  std::optional<MappedFile> image; ///< nothing: no ELF file
  std::optional<uid_t> owner = {}; ///< as in Identity
};
OpenedFile open_file(const sframe_bpf_mapping& mapping);

using MappingList = std::vector<sframe_bpf_mapping>;

/// The rest of a stack.
struct DeferredStack {
  std::uint64_t ticket = 0;
  sframe_bpf_cursor at{};
  std::uint64_t first = 0; ///< address of the copy
  std::vector<std::byte> copy;
  sframe_bpf_process process{};                ///< whose mappings have to be listed, if its pid is not 0
  std::shared_ptr<const MappingList> mappings; ///< null: they are not known
};

class Opener {
public:
  struct Found {
    std::vector<OpenedFile> files;
    std::vector<sframe_bpf_process> processes; ///< whose generated code is asked for
    std::vector<DeferredStack> stacks;
    std::vector<sframe_bpf_key> left; ///< files that were not opened: too many
  };

  Opener() = default;
  ~Opener();
  Opener(const Opener&) = delete;
  Opener& operator=(const Opener&) = delete;

  /// Starts the thread over the ring buffers; `deferred` may be -1. False with errno.
  bool start(int requests, int deferred);
  /// Becomes readable when there is something to take.
  int event() const { return event_.number(); }
  Found take();

private:
  static int take_request(void* context, void* data, std::size_t size);
  static int take_deferred(void* context, void* data, std::size_t size);
  void add_request(const sframe_bpf_mapping& mapping);
  void add_deferred(const sframe_bpf_deferred& deferred);
  void open(const sframe_bpf_mapping& mapping);
  void run();
  void wake();

  ring_buffer* rings_ = nullptr;
  FileDescriptor event_{-1}, end_{-1};
  std::mutex lock_; ///< of found_
  Found found_;
  std::size_t copied_ = 0; ///< bytes of the stacks in found_
  std::thread thread_;
};

} // namespace sframe::bpf
