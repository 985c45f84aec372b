// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An ELF image in a process: its mappings, its file, and queries by address. All work on the file is done
// once, at the first query: a process may have hundreds of modules, of which a walk needs a few.
//
// The parts can be used alone: where the image is mapped (mapping.h), its file (module_file.h), its debug
// files (debug_files.h), its symbols (module_symbols.h), its unwind tables (tables.h). A Module has one of
// each, and answers what needs several.
//
//   Module module(info, abi, files, memory);
//   if (auto match = module.symbols().find(module.link(pc))) ... match->symbol->name ...
//   if (!module.file().problem().empty()) ...

#pragma once

#include "sframe/base/budget.h"
#include "sframe/files/options.h"
#include "sframe/modules/address.h"
#include "sframe/modules/debug_files.h"
#include "sframe/modules/generated_code.h"
#include "sframe/modules/mapping.h"
#include "sframe/modules/module_file.h"
#include "sframe/modules/module_symbols.h"
#include "sframe/modules/tables.h"
#include "sframe/unwind/address_space.h"
#include "sframe/unwind/rule_source.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::modules {

// What those who make modules need of lib/files.
using files::FileOptions;
using files::FileServer;
using files::FileTrust;
using files::OpenFiles;
using files::ServedFile;

class Module final : public unwind::RuleSource {
public:
  /// `memory` reads the process's memory where the file does not suffice; it must not read files of modules.
  /// Both it and `files` must outlive the module. `code`: the process generated and registered it; no file is
  /// opened then. Opens nothing.
  Module(ModuleInfo info, const AbiTraits& abi, const FileOptions& files, ByteSource& memory,
         std::shared_ptr<const GeneratedCode> code = nullptr);

  const ModuleInfo& info() const { return file_.mapping().info(); }
  /// Unique, even if one module replaces another at the same place in memory.
  std::uint64_t number() const { return number_; }
  bool generated() const { return code_ != nullptr; }

  /// The file's name: the last part of the path. Empty if the process does not tell.
  std::string_view name() const;
  /// The same for people: "unknown" if it is empty.
  std::string_view shown_name() const { return name().empty() ? "unknown" : name(); }

  ModuleFile& file() { return file_; }
  DebugFiles& debug() { return of_image_->debug; }
  ModuleSymbols& symbols() { return of_image_->symbols; }
  const FileOptions& file_options() const { return file_.access().options(); }

  /// The image: of the file, else of the process's memory; nullptr if there is none.
  const elf::Image* image() { return file_.image(); }
  /// The build ID in the process, else in the file; may be empty.
  std::span<const std::byte> build_id() { return file_.build_id(); }
  /// Reports that something of the module is left out, unless a problem is set already.
  void add_problem(const std::string& what) { file_.add_problem(info().path + ": " + what); }

  /// The value to subtract to get link addresses. If neither process nor file has it: info().start.
  std::uint64_t bias();
  LinkAddress link(Address address) { return to_link(address, bias()); }

  /// The file's bytes mapped at `address`, up to the end of the mapping; empty if there is no matching file.
  std::span<const std::byte> file_bytes_at(Address address);

  /// True if the address is executable according to the file, or else to the image's headers in memory.
  bool is_code(Address address);

  /// True if the address is in a writable segment of the file: relocation may have changed its bytes. Opens
  /// the file.
  bool is_writable(Address address);

  UnwindTables& tables();

  /// The SFrame section converted from CFI so far, as a separate ELF file (elf::make_sidecar); empty if
  /// there is none. Linear in its size.
  std::vector<std::byte> converted_sidecar();

  std::optional<unwind::SframeMatch> find_sframe(std::uint64_t address) override;
  bool find_cfi(std::uint64_t address, unwind::CfiMatch& answer) override;
  /// The FDE for an address, with its section, where link addresses are; both are valid for the life of the
  /// module. .debug_frame of the separate debug file is read if nothing else has one.
  std::optional<UnwindTables::FoundFde> find_fde(Address address);
  std::optional<unwind::GoMatch> find_go(std::uint64_t address) override;
  std::optional<AddressRange> find_function(std::uint64_t address) override;
  std::optional<AddressRange> find_symbol_extent(std::uint64_t address) override;
  bool calls_keep_no_registers() override;

private:
  /// What refers to the file's image, and is made again if that changes.
  struct OfImage {
    OfImage(ModuleFile& file, const elf::Symbol& procedure) : debug(file), symbols(file, debug, procedure) {}
    DebugFiles debug;
    ModuleSymbols symbols;
    UnwindTables* tables = nullptr; ///< once they are in use
  };

  UnwindTables& use_tables();
  std::unique_ptr<UnwindTables> make_tables(files::SharedImage& image, const elf::Image* separate);
  bool add_debug_frame();

  const std::uint64_t number_;
  const AbiTraits& abi_;
  ByteSource& memory_;
  const std::shared_ptr<const GeneratedCode> code_;
  const elf::Symbol procedure_; ///< of code_, if it has no image
  ModuleFile file_;
  std::optional<OfImage> of_image_; ///< never empty
};

/// An address space with the unwind tables of the modules mapped in it.
class ModuleSpace : public unwind::AddressSpace {
public:
  /// The module (executable, library, vdso) mapped at the address, or nullptr. Valid for the life of the
  /// address space.
  virtual Module* module_at(std::uint64_t address) = 0;

  unwind::RuleSource* rules_at(std::uint64_t address) final { return module_at(address); }
};

} // namespace sframe::modules

#pragma GCC visibility pop
