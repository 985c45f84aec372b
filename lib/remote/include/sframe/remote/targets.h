// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ready accessors (accessors.h): for a thread that the caller has stopped by ptrace(2), and for a core file.
// Both find procedures by the modules' CFI, else by their SFrame sections; names are the symbols' own. Their
// `arg` is not used: one target is one object. For one thread at a time.
//
//   auto target = PtraceTarget::create(tid);
//   CallbackSpace space(**target, (*target)->abi());
//   RemoteCursor cursor;
//   cursor.start(space, nullptr);

#pragma once

#include "sframe/elf/core_file.h"
#include "sframe/process/live_process.h"
#include "sframe/process/process_state.h"
#include "sframe/remote/accessors.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

namespace sframe::remote {

/// What both have in common: procedures and names by module.
class ModuleAccessors : public Accessors {
public:
  virtual const AbiTraits& abi() const = 0;

  RemoteStatus find_procedure(std::uint64_t ip, bool need_rules, void* arg, ProcedureInfo& info) override;
  RemoteStatus find_name(std::uint64_t address, std::span<char> buffer, std::uint64_t& offset,
                         void* arg) override;

protected:
  /// The space that the modules are in.
  virtual modules::ModuleSpace& space() = 0;
};

/// A thread of another process, which the calling thread traces and which is stopped. Stopping it, waiting
/// for it and letting it go are the caller's; so is calling from the thread that traces.
class PtraceTarget final : public ModuleAccessors {
public:
  /// Fails where there is no such thread, or its program is of an ABI that cannot be unwound.
  static Result<std::unique_ptr<PtraceTarget>> create(std::uint32_t tid, modules::FileOptions files = {});

  const AbiTraits& abi() const override { return space_.abi(); }

  /// Memory as it is now: nothing is kept.
  RemoteStatus access_memory(std::uint64_t address, std::uint64_t& value, bool write, void* arg) override;
  /// Reading the pc starts a new walk: the list of mappings is read again when it is needed next.
  RemoteStatus access_register(std::uint16_t reg, std::uint64_t& value, bool write, void* arg) override;
  /// PTRACE_CONT, without a signal.
  RemoteStatus resume(RemoteCursor& cursor, void* arg) override;
  modules::Module* module_at(std::uint64_t address, void* arg) override;
  bool is_code(std::uint64_t address, void* arg) override;
  std::uint64_t code_address_mask(const AbiTraits& abi, void* arg) override;

private:
  PtraceTarget(std::uint32_t tid, const AbiTraits& abi, modules::FileOptions files);
  modules::ModuleSpace& space() override;

  std::uint32_t tid_;
  process::LiveSpace space_;
  bool stale_ = true; ///< the list of mappings
};

/// A core file, plain or compressed, with one of its threads selected.
class CoreTarget final : public ModuleAccessors {
public:
  /// Fails where the file cannot be read, is no core, or is of an ABI that cannot be unwound. What reading
  /// and walking it may cost is `files.budget`, or where there is none, a new one of Limits::standard.
  static Result<std::unique_ptr<CoreTarget>> open(const std::string& path, modules::FileOptions files = {});

  const AbiTraits& abi() const override { return process_->space().abi(); }
  process::CoreProcess& process() { return *process_; }
  const process::CoreProcess& process() const { return *process_; }

  /// The thread whose registers are read from now on; the first one at the start. No effect for a number that
  /// is not below process().threads().size().
  void select_thread(std::size_t number);

  /// Names the file of which the mapping at `address` is, instead of the one that the core's list of files
  /// has; where that list does not have the mapping, it is of the file's first bytes. Fails where the file
  /// cannot be read or the core has no such mapping.
  Result<void> add_file(std::uint64_t address, const std::string& path);

  RemoteStatus access_memory(std::uint64_t address, std::uint64_t& value, bool write, void* arg) override;
  std::size_t read_memory(std::uint64_t address, std::span<std::byte> out, void* arg) override;
  RemoteStatus access_register(std::uint16_t reg, std::uint64_t& value, bool write, void* arg) override;
  modules::Module* module_at(std::uint64_t address, void* arg) override;
  bool is_code(std::uint64_t address, void* arg) override;
  std::uint64_t code_address_mask(const AbiTraits& abi, void* arg) override;

  const elf::Core& core() const { return file_.core(); }

private:
  explicit CoreTarget(elf::CoreFile file) : file_(std::move(file)) {}
  modules::ModuleSpace& space() override { return process_->space(); }

  elf::CoreFile file_;
  std::unique_ptr<process::CoreProcess> process_;
  modules::FileOptions no_options_;
  std::deque<modules::Module> added_;
  std::size_t thread_ = 0;
};

} // namespace sframe::remote
