// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module's debug information through LLVM's DWARF reader, as far as elf::DebugCheck permits: what source
// lines and variables have in common. For libraries that link LLVM's DebugInfoDWARF.

#pragma once

#include "sframe/elf/llvm_dwarf.h"
#include "sframe/elf/llvm_dwarf_check.h"
#include "sframe/modules/debug_info_cache.h"
#include "sframe/modules/module.h"

#include <llvm/DebugInfo/DWARF/DWARFDie.h>
#include <llvm/Object/ObjectFile.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sframe::modules {

/// A function or an inlined call, as the entry has it.
struct DebugFunction {
  /// Demangled; nullptr if it has none that can be read. Empty: not looked up yet.
  std::optional<const std::string*> name;
  std::uint32_t call_file = 0, call_line = 0;
};

/// An image's debug information; `dwarf` is null if it has none that can be read. Keeps names, because each
/// may be used at many addresses and costs its length. A name that the budget did not suffice for is not
/// kept: each sample of a running process has a new one.
struct DebugInfo {
  std::uint64_t image = 0;      ///< its number
  std::vector<std::byte> plain; ///< the file's debug sections, if they are compressed there
  std::unique_ptr<elf::LlvmDwarf> dwarf;
  std::unique_ptr<elf::DebugCheck> check; ///< refers to `dwarf`
  /// Of Module::alternate_image(); nothing: not looked for; nullptr: there is none that can be used.
  std::optional<std::unique_ptr<DebugInfo>> alternate;
  std::shared_ptr<const int> package; ///< a descriptor of the file with split debug information
  std::uint64_t package_steps = 0;    ///< elf::steps_to_find_unit() of it
  /// The units with the entries: those split off, for skeleton units for which LLVM has found one. It looks
  /// for the others again each time.
  std::unordered_map<const llvm::DWARFUnit*, llvm::DWARFUnit*> full_units;
  /// The same image, each with one file of split debug information (.dwo); nullptr: it has none.
  std::map<elf::File::Id, std::unique_ptr<DebugInfo>> split_files;
  /// Of `split_files`, by its path in the skeleton unit (SplitFile::path); nullptr: not found.
  std::map<std::string, DebugInfo*> splits;
  /// The same by skeleton unit, whose path may be long; nullptr: not found, or it is no skeleton.
  std::unordered_map<const llvm::DWARFUnit*, DebugInfo*> split_units;
  std::map<std::pair<const llvm::DWARFUnit*, std::uint64_t>, std::string>
      files;                                          ///< by number; empty: unknown
  std::unordered_map<const char*, std::string> names; ///< by place in the file
  std::unordered_map<const llvm::DWARFDebugInfoEntry*, DebugFunction> functions;
  std::unordered_map<const llvm::DWARFDebugInfoEntry*, llvm::DWARFAddressRangesVector> ranges; ///< of blocks
};

/// Opens the debug information of the module at the first call, with that split off from the unit of the
/// address, an address in the process; nullptr if it has none that can be read. Valid until the module's
/// image changes.
DebugInfo* find_debug_info(Module& module, DebugInfoCache& cache, std::uint64_t lookup_pc);

/// An entry, and the debug information that it is in.
struct DebugEntry {
  llvm::DWARFDie die;
  DebugInfo* in = nullptr;
};

/// Reads the debug information of one module. Every lookup is charged to the module's budget.
class DebugReader {
public:
  DebugReader(Module& module, DebugInfo& debug)
      : module_(module), debug_(debug), budget_(module.file_options().budget.get()) {}

  Module& module() const { return module_; }
  DebugInfo& debug() const { return debug_; }
  Budget* budget() const { return budget_; }
  bool take(Resource resource, std::uint64_t amount) const {
    return !budget_ || budget_->take(resource, amount);
  }
  /// Charges what it costs to read some of an entry's attributes: LLVM goes through those before each, and
  /// through the strings in the entry. False if that exceeds the budget.
  bool visit(const llvm::DWARFDie& die) const;
  bool is_out_of_names() const { return budget_ && budget_->is_used_up(Resource::name_bytes); }
  bool is_out_of_steps() const { return budget_ && budget_->is_used_up(Resource::debug_steps); }

  /// In an object loaded by a JIT compiler, LLVM needs the section as well.
  llvm::object::SectionedAddress location_of(std::uint64_t lookup_pc) const;

  /// A file of split debug information, as a unit names it.
  struct SplitFile {
    std::string name; ///< perhaps with folders
    std::string path; ///< with the folder of the compilation, if `name` is relative
  };
  /// That of a unit, if it is not open.
  std::optional<SplitFile> missing_split(llvm::DWARFUnit& unit);

  /// The unit of an address; nullptr if there is none, or it costs too much.
  llvm::DWARFCompileUnit* find_unit(std::uint64_t address);

  /// The unit of an address, and the inlined calls there, innermost first, then the function; empty if no
  /// function is known. `unit` is nullptr if nothing can be looked up.
  struct Chain {
    llvm::DWARFCompileUnit* unit = nullptr;
    llvm::SmallVector<llvm::DWARFDie, 4> entries;
  };
  Chain find_chain(std::uint64_t address);

  /// The entry that an attribute refers to, in another file, too; none if it cannot be found. Nothing at all
  /// if it costs too much. The entry is visited.
  std::optional<DebugEntry> referred(const DebugEntry& from, llvm::dwarf::Attribute attribute);

  /// The entry and those that it is an instance or the definition of. References form chains of at most two
  /// in real files. Nothing if there are more than is plausible.
  std::optional<std::vector<DebugEntry>> follow_origins(const DebugEntry& entry);

  /// The string of an attribute; nullptr if there is none. Strings may be in the alternate file, too.
  const char* text_of(const DebugEntry& entry, llvm::dwarf::Attribute attribute);

private:
  bool can_look_up(llvm::DWARFUnit& unit);
  bool take_search();
  llvm::DWARFUnit* full_unit(llvm::DWARFUnit& unit);
  std::optional<DebugEntry> find_origin(const DebugEntry& from, const llvm::DWARFFormValue& value,
                                        llvm::dwarf::Attribute attribute);
  DebugInfo* alternate();

  Module& module_;
  DebugInfo& debug_;
  Budget* const budget_;
};

} // namespace sframe::modules
