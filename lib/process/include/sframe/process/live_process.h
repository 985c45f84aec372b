// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A live process on this machine. Unless it is attached by a ProcessMonitor (process_monitor.h), it is
// traced only between stop() and resume(), by a thread of its own. That thread seizes the process's threads
// (PTRACE_SEIZE, PTRACE_INTERRUPT: ptrace(2)), reads their registers, detaches at resume(), and ends. If it
// ends in any other way, such as a kill of this program, the kernel detaches. So between two walks nothing
// can block the target, and another debugger may attach. A process that a signal had stopped (SIGSTOP) is in
// that stop again after each walk.
//
// Memory is read by process_vm_readv(2), else through /proc/PID/mem; modules are those in /proc/PID/maps.
// Their files are opened in /proc/PID/root if that leads to the mapped inode, else through
// /proc/PID/map_files, which also has deleted and replaced files, but needs privileges.
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
#include <vector>

namespace sframe {
struct MapsLine;
}

namespace sframe::process::live { // private
struct Stop;
class Tracing;
} // namespace sframe::process::live

#pragma GCC visibility push(default)

namespace sframe::process {

struct LinkedMemory;
struct LinkedObject;

/// The ABI of the program that the process (or the thread's process) runs, from its ELF header. Fails if it
/// cannot be read, or the ABI cannot be unwound.
Result<const AbiTraits*> find_process_abi(std::uint32_t pid);

/// Memory and modules of a live process. Addresses are valid only while it is stopped; memory that was read
/// is kept until the process runs again.
class LiveSpace final : public modules::ModuleSpace, public modules::ByteSource {
public:
  /// Whose mappings and files they are.
  enum class Owner : std::uint8_t {
    process, ///< the process's own
    guest,   ///< a program's that the process emulates, at equal addresses: code is not executable
  };
  LiveSpace(std::uint32_t pid, const AbiTraits& abi, modules::FileOptions files,
            Owner owner = Owner::process);
  ~LiveSpace() override;

  const AbiTraits& abi() const override { return abi_; }
  /// As much as has been read; valid until forget().
  std::span<const std::byte> view(std::uint64_t address) override;
  bool is_code(std::uint64_t address) override;
  std::uint64_t code_address_mask() override { return code_mask_; }
  Budget* budget() override { return files_.budget.get(); }
  modules::Module* module_at(std::uint64_t address) override;

  /// Read-only mappings of files, and the vdso. Kept for the life of the space: modules refer to them, even
  /// after they are unloaded.
  std::span<const std::byte> memory_at(std::uint64_t address) override;

  /// Limit of the bytes kept by memory_at(), for all modules together.
  static constexpr std::uint64_t max_images = std::uint64_t{1} << 30;

  /// All modules ever seen, in order of appearance.
  std::deque<modules::Module>& modules() { return modules_; }
  modules::Module* main_module() { return main_; }

  modules::DynamicCode& generated_code() { return generated_; }

  /// Reads the list of mappings again; true if it has changed: then a new generation() begins. Fails if the
  /// process is gone. Refills the budget, if FileOptions have one, according to the size of the process's
  /// memory, and those of the files.
  Result<bool> refresh();
  /// Looks for generated code again; if it has changed, a new generation() begins.
  void refresh_generated_code();
  /// Drops the memory that was read: the process is going to run, or enough is kept. Views become invalid.
  void forget();
  /// The bytes of memory, in whole blocks, that were read since the last forget().
  std::size_t kept_bytes() const { return blocks_used_ * sizeof(Block); }
  /// Reads current memory, not what is kept. Returns the number of bytes read.
  std::size_t read_process(std::uint64_t address, std::span<std::byte> out) const;
  /// Sets the bits of code pointers that hold authentication codes, if the kernel reports them.
  void set_code_pac_mask(std::uint64_t mask);

private:
  struct [[gnu::visibility("hidden")]] Mapping;
  struct [[gnu::visibility("hidden")]] Known;
  /// `entry`: the address of the program's entry point.
  void add_module(const elf::MappedImage& image, std::uint64_t entry, std::span<const LinkedObject> moved);
  modules::ModuleInfo describe(const elf::MappedImage& image, std::uint64_t entry,
                               std::span<const LinkedObject> moved) const;
  std::vector<elf::MappedImage> find_images(std::span<const MapsLine> lines, const LinkedMemory& memory,
                                            std::vector<LinkedObject>& moved) const;
  std::string find_file(const MapsLine& mapping, const std::string& path) const;
  void find_program(modules::ModuleInfo& info) const;
  const Mapping* mapping_at(std::uint64_t address) const;

  std::uint32_t pid_;
  Owner owner_;
  std::uint32_t through_; ///< the thread through which the kernel accesses it: one that has not ended
  const AbiTraits& abi_;
  modules::FileOptions files_;
  std::string maps_; ///< text of the last read
  std::vector<Mapping> mappings_;
  std::map<std::string, std::unique_ptr<Known>> known_; ///< modules by their lines in maps_
  std::deque<modules::Module> modules_;
  modules::Module* main_ = nullptr;
  modules::DynamicCode generated_;
  std::uint64_t code_mask_ = ~std::uint64_t{0};
  struct [[gnu::visibility("hidden")]] Chunk;
  Chunk read_chunk(std::uint64_t page, std::uint64_t limit);
  std::map<std::uint64_t, Chunk> chunks_; ///< memory that was read, by address
  using Block = std::array<std::byte, std::size_t{1} << 18>;
  std::vector<std::unique_ptr<Block>> blocks_; ///< storage of chunks_, reused from one stop to the next
  std::size_t blocks_used_ = 0;
  std::span<std::byte> room_; ///< free bytes of the last block
  std::uint64_t read_ahead_ = 0, read_to_ = 0;
  std::uint64_t images_left_ = max_images; ///< bytes of memory_at() that may still be read
};

/// What the kernel knows of a thread that is not stopped.
struct ThreadActivity {
  std::uint32_t tid;
  bool is_ready; ///< it runs, or is ready to (state R of proc(5))
  /// Nanoseconds so far of processor time, and ready without a processor; 0 if the kernel does not count
  /// them.
  std::uint64_t used, delayed;
};

class LiveProcess final : public ProcessState {
public:
  /// Checks that the process can be traced; does not stop it. Fails, with the reason as text, if there is no
  /// such process, or it is a zombie, a kernel thread, of another ABI, not permitted, or traced by another
  /// program.
  static Result<std::unique_ptr<LiveProcess>> attach(std::uint32_t pid, modules::FileOptions files);

  /// Resumes.
  ~LiveProcess() override;

  /// Stops all threads, or the given one, and reads registers and mappings. Threads that do not stop within
  /// a second (they wait uninterruptibly in the kernel) are left out: see unstopped(). If it fails, nothing
  /// is stopped. No effect if already stopped. Interrupted system calls continue afterwards, except those
  /// that fail with EINTR after any stop (signal(7)), such as epoll_wait().
  Result<void> stop(std::optional<std::uint32_t> tid = std::nullopt);
  /// Resumes all threads in their former state; signals that arrived meanwhile are delivered. Invalidates
  /// views of memory: a Walker made before needs Walker::forget_memory(). threads() remains valid.
  void resume();
  bool stopped() const { return stopped_; }

  /// Threads that the last stop() could not stop.
  std::span<const std::uint32_t> unstopped() const { return unstopped_; }
  /// The likely reason as text: it waits in the kernel, possibly for a child made by vfork().
  std::string explain_unstopped(std::uint32_t tid) const;

  /// What the threads do, by tid. To be called before stop(): a stopped thread is in another state. Reads two
  /// files for each thread.
  std::vector<ThreadActivity> activity() const;

  /// True if the process has ended.
  bool is_terminated() const;
  /// A descriptor that becomes readable (poll(2)) when the process ends; owned by this object.
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

  /// Without a means to trace it.
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
  std::deque<std::string> names_; ///< names of threads_
  std::vector<Thread> threads_;
  std::vector<std::uint32_t> unstopped_;
};

} // namespace sframe::process

#pragma GCC visibility pop
