// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A running process of this machine. Unless a ProcessMonitor (process_monitor.h) attached it, it is traced
// only between stop() and resume(), by a thread of its own: that thread seizes the process's threads
// (PTRACE_SEIZE, PTRACE_INTERRUPT: ptrace(2)), reads their registers, lets them go when resume() asks for it,
// and ends. When it ends in any other way, by a kill of this program, too, the kernel lets them go. So
// between two walks nothing can hold the target up, and another debugger may attach; a process that a signal
// had stopped (SIGSTOP) is in that stop again after each walk.
//
// Memory is read by process_vm_readv(2), else through /proc/PID/mem; modules are those in /proc/PID/maps.
// Their files are opened below /proc/PID/root where that leads to the inode that is mapped, else through
// /proc/PID/map_files, which reaches deleted and replaced files, too, but needs privileges.
//
// A program that uses this must not wait for any child (waitpid(-1)) on other threads while the target is
// stopped, except with __WNOTHREAD: it would take the tracing thread's events.

#pragma once

#include "sframe/modules/dynamic_code.h"
#include "sframe/modules/module.h"
#include "sframe/process/process_state.h"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sframe::process {

/// The ABI of the program that the process (or the thread's process) runs, by its ELF header. Fails where it
/// cannot be read, or cannot be unwound.
Result<const AbiTraits*> find_process_abi(std::uint32_t pid);

/// Memory and modules of a running process. Addresses mean something only while it is stopped; what was read
/// is kept until the process runs again.
class LiveSpace final : public modules::ModuleSpace, public modules::ByteSource {
public:
  LiveSpace(std::uint32_t pid, const AbiTraits& abi, modules::FileOptions files);
  ~LiveSpace() override;

  const AbiTraits& abi() const override { return abi_; }
  /// As far as it has been read; valid until forget().
  std::span<const std::byte> view(std::uint64_t address) override;
  bool is_code(std::uint64_t address) override;
  std::uint64_t code_address_mask() override { return code_mask_; }
  Budget* budget() override { return files_.budget.get(); }
  modules::Module* module_at(std::uint64_t address) override;

  /// What is mapped from a file, or is the vdso, and cannot be written to. Kept as long as the space: modules
  /// look into it, those that have been unloaded as well.
  std::span<const std::byte> memory_at(std::uint64_t address) override;

  /// Bytes that memory_at() keeps at most, of all modules together.
  static constexpr std::uint64_t max_images = std::uint64_t{1} << 30;

  /// All modules that were ever seen, in the order in which they were.
  std::deque<modules::Module>& modules() { return modules_; }
  modules::Module* main_module() { return main_; }

  modules::DynamicCode& generated_code() { return generated_; }

  /// Reads the list of mappings again; true where it has changed. Fails where the process is gone. Refills
  /// the budget, where FileOptions have one, by the size of the memory that the process has.
  Result<bool> refresh();
  /// Drops what was read of memory: the process is going to run.
  void forget();
  /// Reads past what is kept: memory as it is now. Returns how many bytes could be read.
  std::size_t read_process(std::uint64_t address, std::span<std::byte> out) const;
  /// Sets the bits of code pointers that hold authentication codes, where the kernel tells them.
  void set_code_pac_mask(std::uint64_t mask);

private:
  struct Mapping;
  struct Known;
  void add_module(std::span<Mapping> mappings);
  modules::ModuleInfo describe(std::span<const Mapping> mappings) const;
  std::string find_file(const Mapping& mapping, const std::string& path) const;
  const Mapping* mapping_at(std::uint64_t address) const;

  std::uint32_t pid_;
  std::uint32_t through_; ///< its thread by which the kernel reaches it: not one that has ended
  const AbiTraits& abi_;
  modules::FileOptions files_;
  std::string maps_; ///< as it was read
  std::vector<Mapping> mappings_;
  std::unordered_map<std::string, std::unique_ptr<Known>> known_; ///< modules by their lines in maps_
  std::deque<modules::Module> modules_;
  modules::Module* main_ = nullptr;
  modules::DynamicCode generated_;
  std::uint64_t code_mask_ = ~std::uint64_t{0};
  struct Chunk;
  Chunk read_chunk(std::uint64_t page, std::uint64_t limit);
  std::map<std::uint64_t, Chunk> chunks_; ///< what was read, by address
  using Block = std::array<std::byte, std::size_t{1} << 18>;
  std::vector<std::unique_ptr<Block>> blocks_; ///< where it is kept, from one stop to the next
  std::size_t blocks_used_ = 0;
  std::span<std::byte> room_; ///< of the last block
  std::uint64_t read_ahead_ = 0, read_to_ = 0;
  std::uint64_t images_left_ = max_images; ///< bytes of memory_at() that may still be read
};

namespace live {
struct Stop;
class Tracing;
} // namespace live

class LiveProcess final : public ProcessState {
public:
  /// Makes sure that the process can be traced; does not stop it. Fails, with the reason in words, where
  /// there is no such process, or it is a zombie, a kernel thread, of another ABI, not ours to trace, or
  /// traced by another program.
  static Result<std::unique_ptr<LiveProcess>> attach(std::uint32_t pid, modules::FileOptions files);

  /// Resumes.
  ~LiveProcess() override;

  /// Stops all threads, or that one, and reads registers and mappings. Threads that do not stop within a
  /// second (they wait in the kernel and cannot be interrupted) are left out: see unstopped(). Where it
  /// fails, nothing is stopped. No effect where it is stopped. System calls that were interrupted go on
  /// afterwards, except those that fail with EINTR after any stop (signal(7)), epoll_wait() for one.
  Result<void> stop(std::optional<std::uint32_t> tid = std::nullopt);
  /// Lets all threads go on as they were; signals that came in between are delivered. Invalidates views of
  /// memory: a Walker made before needs Walker::forget_memory(). threads() stay readable.
  void resume();
  bool stopped() const { return stopped_; }

  /// Threads that the last stop() could not stop.
  std::span<const std::uint32_t> unstopped() const { return unstopped_; }
  /// Why that could be, in words: it waits in the kernel, perhaps for a child that it has made by vfork().
  std::string explain_unstopped(std::uint32_t tid) const;

  /// Counts changes that stop() found: libraries loaded and unloaded, exec; generated code, once some was
  /// met. What is remembered by address is no longer right when it changes.
  std::uint64_t generation() const { return generation_; }

  /// True where the process has ended.
  bool is_terminated() const;
  /// A descriptor that poll(2) tells to be readable when the process ends; owned by this object.
  int exit_fd() const { return exit_fd_; }

  std::uint32_t pid() const override { return pid_; }
  std::int32_t signal() const override { return 0; }
  /// Those of the last stop(), by tid.
  std::span<const Thread> threads() const override { return threads_; }
  LiveSpace& space() override { return *space_; }
  std::string_view name() const override { return name_; }
  std::deque<modules::Module>& modules() override { return space_->modules(); }

private:
  friend class ProcessMonitor;

  /// Without anything that could trace it.
  static Result<std::unique_ptr<LiveProcess>> open(std::uint32_t pid, modules::FileOptions files,
                                                   bool traced_by_us);
  LiveProcess(std::uint32_t pid, int exit_fd, std::unique_ptr<LiveSpace> space);
  Result<void> look_again();
  Result<void> check_abi() const;
  Problem explain(const Problem& why) const;
  void take_threads(const live::Stop& stop);

  std::uint32_t pid_;
  int exit_fd_;
  std::unique_ptr<LiveSpace> space_;
  std::unique_ptr<live::Tracing> tracing_;
  bool stopped_ = false;
  std::string name_;
  std::deque<std::string> names_; ///< of threads_
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> unstopped_;
  std::uint64_t generation_ = 0;
};

} // namespace sframe::process
