// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ready accessors (accessors.h): for a thread that the caller has stopped by ptrace(2), and for a core file.
// Both find procedures by the modules' CFI, else by their SFrame sections; names are raw symbol names. `arg`
// is not used: one object is one target. For one thread at a time.
//
//   auto target = PtraceTarget::create(tid);
//   CallbackSpace space(**target, (*target)->abi());
//   RemoteCursor cursor;
//   cursor.start(space, nullptr);

#pragma once

#include "sframe/process/live_process.h"
#include "sframe/process/open_core.h"
#include "sframe/process/process_state.h"
#include "sframe/remote/accessors.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#pragma GCC visibility push(default)

namespace sframe::remote {

/// Common to both: procedures and names by module.
class ModuleAccessors : public Accessors {
public:
  /// The ABI of the target's program; static.
  virtual const AbiTraits& abi() const = 0;

  RemoteStatus find_procedure(std::uint64_t ip, bool need_rules, void* arg, ProcedureInfo& info) override;
  RemoteStatus find_name(std::uint64_t address, std::span<char> buffer, std::uint64_t& offset,
                         void* arg) override;

protected:
  /// The address space of the modules.
  virtual modules::ModuleSpace& space() = 0;
};

/// A stopped thread of another process, traced by the calling thread. The caller stops it, waits for it and
/// resumes it, and must call from the tracing thread.
class PtraceTarget final : public ModuleAccessors {
public:
  /// Fails if there is no such thread, or the ABI of its program cannot be unwound.
  static Result<std::unique_ptr<PtraceTarget>> create(std::uint32_t tid, modules::FileOptions files = {});

  const AbiTraits& abi() const override { return space_.abi(); }

  /// Current memory: nothing is cached.
  RemoteStatus access_memory(std::uint64_t address, std::uint64_t& value, bool write, void* arg) override;
  /// Reading the pc starts a new walk: the list of mappings is read again when needed.
  RemoteStatus access_register(std::uint16_t reg, std::uint64_t& value, bool write, void* arg) override;
  /// PTRACE_CONT, without a signal.
  RemoteStatus resume(RemoteCursor& cursor, void* arg) override;
  modules::Module* module_at(std::uint64_t address, void* arg) override;
  bool is_code(std::uint64_t address, void* arg) override;
  std::uint64_t code_address_mask(const AbiTraits& abi, void* arg) override;
  std::uint64_t vector_granule(void* arg) override;

private:
  PtraceTarget(std::uint32_t tid, const AbiTraits& abi, modules::FileOptions files);
  modules::ModuleSpace& space() override;

  std::uint32_t tid_;
  process::LiveSpace space_;
  bool stale_ = true; ///< the list of mappings is out of date
};

/// A core file, plain or compressed, with one of its threads selected.
class CoreTarget final : public ModuleAccessors {
public:
  /// Fails if the file cannot be read, is not a core, or its ABI cannot be unwound. The budget is
  /// `files.budget`, or if there is none, a new one of Limits::standard.
  static Result<std::unique_ptr<CoreTarget>> open(const std::string& path, modules::FileOptions files = {});

  const AbiTraits& abi() const override { return core_->process->space().abi(); }
  process::CoreProcess& process() { return *core_->process; }
  const process::CoreProcess& process() const { return *core_->process; }

  /// Selects the thread whose registers are read; initially the first. No effect unless `number` is below
  /// process().threads().size().
  void select_thread(std::size_t number);

  /// Sets the file mapped at `address`, overriding the core's list of files. If that list lacks the mapping,
  /// it is taken to start at file offset 0. Fails if the file cannot be read or the core has no such
  /// mapping.
  Result<void> add_file(std::uint64_t address, const std::string& path);

  RemoteStatus access_memory(std::uint64_t address, std::uint64_t& value, bool write, void* arg) override;
  std::size_t read_memory(std::uint64_t address, std::span<std::byte> out, void* arg) override;
  RemoteStatus access_register(std::uint16_t reg, std::uint64_t& value, bool write, void* arg) override;
  modules::Module* module_at(std::uint64_t address, void* arg) override;
  bool is_code(std::uint64_t address, void* arg) override;
  std::uint64_t code_address_mask(const AbiTraits& abi, void* arg) override;
  std::uint64_t vector_granule(void* arg) override;

  /// Valid as long as the target.
  const core::Core& core() const { return core_->file.core(); }

private:
  explicit CoreTarget(std::unique_ptr<process::OpenedCore> core) : core_(std::move(core)) {}
  modules::ModuleSpace& space() override { return process().space(); }

  const std::unique_ptr<process::OpenedCore> core_;
  modules::FileOptions no_options_;
  std::deque<modules::Module> added_;
  std::size_t thread_ = 0;
};

} // namespace sframe::remote

#pragma GCC visibility pop
