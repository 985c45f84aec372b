// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private: what the recording has of a process's memory: mappings, and the copied stack of one sample at a
// time. Code and tables are read from the mapped files.

#pragma once

#include "sframe/modules/module.h"
#include "sframe/unwind/walker.h"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sframe::perf {

/// Memory that is this program's, too: the vdso, where it is mapped in the process that was recorded.
class SharedMemory final : public modules::ByteSource {
public:
  SharedMemory(std::uint64_t start, std::span<const std::byte> bytes) : start_(start), bytes_(bytes) {}
  std::span<const std::byte> memory_at(std::uint64_t address) override {
    const bool is_inside = address >= start_ && address - start_ < bytes_.size();
    return is_inside ? bytes_.subspan(address - start_) : std::span<const std::byte>{};
  }

private:
  std::uint64_t start_;
  std::span<const std::byte> bytes_;
};

/// A mapped file as the recording describes it.
struct MappedFile {
  std::string path;
  std::vector<std::byte> build_id; ///< empty: not known
  std::uint64_t start = 0, end = 0, offset = 0;
  friend auto operator<=>(const MappedFile&, const MappedFile&) = default;

  bool is_vdso() const { return path == "[vdso]"; }
};

/// The modules of all processes: equal mappings share one.
class ModuleCache {
public:
  /// Both must outlive the object.
  ModuleCache(const AbiTraits& abi, const files::FileOptions& files) : abi_(abi), files_(files) {}

  modules::Module& find(const MappedFile& file);

private:
  const AbiTraits& abi_;
  const files::FileOptions& files_;
  SharedMemory no_memory_{0, {}};
  std::deque<SharedMemory> memories_;
  std::map<MappedFile, modules::Module> modules_;
};

struct Mapping {
  std::uint64_t end = 0;
  std::uint32_t file = 0; ///< in the recording
  MappedFile mapped;
  bool has_file = false;             ///< it is one, and not memory of the process
  modules::Module* module = nullptr; ///< once it was asked for
};

/// What is mapped in a process. Processes share it until one of them changes it.
struct Mappings {
  std::map<std::uint64_t, Mapping> by_start;
  std::uint32_t users = 0; ///< processes

  Mapping* find(std::uint64_t address);
  /// Replaces what was mapped there before.
  void add(std::uint64_t start, Mapping mapping);
};

class SampleSpace final : public modules::ModuleSpace {
public:
  /// All must outlive the object.
  SampleSpace(const AbiTraits& abi, Mappings& mappings, ModuleCache& modules, Budget* budget)
      : abi_(abi), mappings_(mappings), modules_(modules), budget_(budget) {}

  const AbiTraits& abi() const override { return abi_; }
  std::span<const std::byte> view(std::uint64_t address) override;
  bool is_code(std::uint64_t address) override;
  std::uint64_t code_address_mask() override;
  modules::Module* module_at(std::uint64_t address) override;
  Budget* budget() override { return budget_; }

  /// The memory of the next walk.
  void set_stack(std::uint64_t start, std::span<const std::byte> bytes) {
    stack_start_ = start;
    stack_ = bytes;
  }
  /// True if the address is where the copied stack has ended.
  bool is_behind_stack(std::uint64_t address) const {
    return !stack_.empty() && address >= stack_start_ && address - stack_start_ + 8 > stack_.size();
  }
  /// Mappings were changed.
  void changed() { note_change(); }

private:
  const AbiTraits& abi_;
  Mappings& mappings_;
  ModuleCache& modules_;
  Budget* budget_;
  std::uint64_t stack_start_ = 0;
  std::span<const std::byte> stack_;
};

} // namespace sframe::perf
