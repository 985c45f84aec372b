// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of a core file: the core's own bytes, and, for file-backed pages that the kernel left out, the
// file on disk if it is the one that was mapped. Modules are those found by core::Core.

#pragma once

#include "sframe/core/core.h"
#include "sframe/modules/dynamic_code.h"
#include "sframe/modules/module.h"
#include "sframe/unwind/address_space.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sframe::process { // private
struct LinkedObject;
}

#pragma GCC visibility push(default)

namespace sframe::process {

class CoreSpace final : public modules::ModuleSpace, public modules::ByteSource {
public:
  /// `core` must outlive the space; core.abi() must not be null. Opens no file, unless the core neither
  /// lists the mapped files nor has the program's headers: then the libraries are found by
  /// `files.executable`.
  CoreSpace(const core::Core& core, modules::FileOptions files);

  const AbiTraits& abi() const override { return *core_.abi(); }
  std::span<const std::byte> view(std::uint64_t address) override;
  bool is_code(std::uint64_t address) override;
  std::uint64_t code_address_mask() override;
  modules::Module* module_at(std::uint64_t address) override;
  Budget* budget() override { return files_.budget.get(); }

  /// The core's own bytes, without those of files.
  std::span<const std::byte> memory_at(std::uint64_t address) override { return core_.bytes_at(address); }

  /// All modules, by address; then those of generated code that were asked for. main_module() is the main
  /// executable's.
  std::deque<modules::Module>& modules() { return modules_; }
  modules::Module* main_module() { return main_; }

  const core::Core& core() const { return core_; }
  modules::DynamicCode& generated_code() { return generated_; }

private:
  std::string name_of(const modules::ModuleInfo& info, std::span<const LinkedObject> linked) const;
  std::vector<LinkedObject> linked_by_executable();
  void add_linked(std::span<const LinkedObject> linked);
  modules::Module* mapped_module(std::uint64_t address);
  std::span<const std::byte> from_file(std::uint64_t address);

  const core::Core& core_;
  modules::FileOptions files_;
  std::deque<modules::Module> modules_; ///< those of core_.modules(), of linked_, and generated code
  struct Linked : AddressRange {
    modules::Module* module;
  };
  std::vector<Linked> linked_; ///< modules in modules_ that no note of the core lists, by address
  modules::Module* main_ = nullptr;
  std::optional<std::uint64_t> code_mask_; ///< once it is known: it depends on all of the memory
  modules::DynamicCode generated_;
};

} // namespace sframe::process

#pragma GCC visibility pop
