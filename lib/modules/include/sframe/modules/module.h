// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An ELF image in a process: where it is mapped, its file, and what can be asked about its addresses.
// Everything that needs the file is done at the first question and once: a process may have hundreds of
// modules, of which a walk meets a few.
//
// The file is used only where it is the one that was mapped, which the build ID tells. Where it is not, what
// the process's own memory holds of the image is used (the vdso has all of it), and problem() says why the
// file is not.
//
// Link addresses are those that the file's headers, tables and symbols use: address in the process minus
// bias.

#pragma once

#include "sframe/base/budget.h"
#include "sframe/elf/core.h"
#include "sframe/elf/debug_file.h"
#include "sframe/elf/file.h"
#include "sframe/elf/image.h"
#include "sframe/elf/symbols.h"
#include "sframe/elf/unpack.h"
#include "sframe/modules/generated_code.h"
#include "sframe/modules/tables.h"
#include "sframe/unwind/address_space.h"
#include "sframe/unwind/rule_source.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sframe::modules {

/// Which files are read because a core names them. What `executable` and the folders in FileOptions say is
/// the user's word and always holds.
enum class FileTrust : std::uint8_t {
  none,     ///< only files in FileOptions::sysroot, with the build ID that the core has
  build_id, ///< all with the build ID that the core has
  all,      ///< those of which the core has no build ID, too; on network file systems as well
};

/// Where files are found.
struct FileOptions {
  bool open_files = true;       ///< false: use nothing but the process's memory
  std::string sysroot;          ///< the folder that paths of the process, and links there, are in; empty: "/"
  std::string executable;       ///< the main executable's file, instead of the path in the core
  std::string sframe_dir;       ///< sidecars: DIR/.build-id/xx/yyyy.sframe
  bool generate_sframe = false; ///< convert CFI where there is no SFrame; kept in memory
  /// Folders of separate debug files, as elf::find_debug_file(): first these, then `debug_dir`, which is
  /// inside the sysroot where there is one.
  std::vector<std::string> more_debug_dirs;
  std::string debug_dir = elf::default_debug_folder;
  FileTrust trust = FileTrust::build_id;
  /// What all that is read for one core may cost; nullptr: no limit but those that each part has.
  std::shared_ptr<Budget> budget;
};

/// A mapping of the module's file.
struct ModuleMapping {
  std::uint64_t start = 0, end = 0;
  std::uint64_t file_offset = 0; ///< bytes
};

/// What is known of a module before its file is opened.
struct ModuleInfo {
  std::string path; ///< without " (deleted)"; "[vdso]"; may be empty
  /// The very file that is mapped, however it is called: it is opened instead of `path` and needs no check.
  std::string file;
  bool deleted = false;
  bool vdso = false;
  bool main = false;                  ///< the executable
  bool assumed = false;               ///< nothing names it: the core tells of it only by `entry`
  bool placed = false;                ///< the mapping is made up: the file's segments say what is where
  std::optional<std::uint64_t> entry; ///< of the executable: where it started, in the process
  std::uint64_t start = 0, end = 0;
  std::optional<std::uint64_t> bias;
  std::vector<std::byte> build_id;
  std::vector<ModuleMapping> mappings; ///< by address
  std::uint64_t header_address = 0;    ///< where the ELF header is mapped; 0 where it is not

  /// The path as the kernel writes it: with " (deleted)" after it where the file is gone.
  void set_path(std::string_view written);
};

class Module final : public unwind::RuleSource {
public:
  /// `memory` reads the process's memory for what the file cannot give; it must not look into files of
  /// modules. Both it and `files` must outlive the module. Opens nothing.
  Module(ModuleInfo info, const AbiTraits& abi, const FileOptions& files, ByteSource& memory);

  /// Code that the process generated and registered; no file is opened for it.
  Module(ModuleInfo info, const AbiTraits& abi, const FileOptions& files, ByteSource& memory,
         std::shared_ptr<const GeneratedCode> code);

  const ModuleInfo& info() const { return info_; }
  /// Never the same for two modules, even if one comes to another's place in memory.
  std::uint64_t number() const { return number_; }
  bool generated() const { return code_ != nullptr; }

  /// The file's name: the last part of the path.
  std::string_view name() const;

  /// What to subtract to get link addresses. Where neither process nor file tell it: info().start.
  std::uint64_t bias();

  /// The file's bytes at the place that is mapped at `address`, as far as the mapping goes; empty where there
  /// is no (right) file.
  std::span<const std::byte> file_bytes_at(std::uint64_t address);

  /// True where the file, or else the image's headers in memory, say that the address is executable.
  bool is_code(std::uint64_t address);

  /// The image of the file, else of the process's memory, or nullptr.
  const elf::Image* image();

  /// True where image() would give one. Opens the file, but the module counts as one that nobody has asked
  /// about: what is mapped may be no image, but a place for generated code.
  bool is_image();

  /// Rules by link address.
  UnwindTables& tables();

  /// The SFrame section that was converted from CFI for the walks so far, as an ELF file of its own
  /// (elf::make_sidecar); empty where none was. Linear in its size.
  std::vector<std::byte> converted_sidecar();

  /// The function around a link address: by the file's symbols; by the separate debug file's where the file
  /// has only dynamic ones; and by those of .gnu_debugdata, which adds the others to the dynamic ones.
  std::optional<elf::SymbolTable::Match> find_symbol(std::uint64_t address);

  /// The address in the process of the symbol of that name, as elf::find_definition(): a variable, mostly.
  /// Opens the file, but the module counts as one that nobody has asked about.
  std::optional<std::uint64_t> find_definition(std::string_view name);

  /// The image that has DWARF for source lines (.debug_info): of the file, else of the separate debug file;
  /// nullptr where neither has.
  const elf::Image* debug_image();

  std::optional<unwind::SframeAnswer> find_sframe(std::uint64_t address) override;
  bool find_cfi(std::uint64_t address, unwind::CfiAnswer& answer) override;
  std::optional<unwind::FunctionExtent> find_function(std::uint64_t address) override;
  std::optional<unwind::FunctionExtent> find_symbol_extent(std::uint64_t address) override;

  /// The build ID: as the process has it, else as the file has it; may be empty.
  std::span<const std::byte> build_id();

  /// Why the file could not be used, or is used unchecked; empty where all is well. One line. Opens the file.
  const std::string& problem();
  /// True where problem() says that the file is missing or a wrong one.
  bool file_missing();
  /// The same without opening anything: empty for a module that nobody has asked about.
  const std::string& problem_so_far() const { return asked_ ? problem_ : no_problem_; }
  /// Says that something of the module is left out, where nothing else is wrong yet.
  void add_problem(const std::string& what) {
    if (problem_.empty()) problem_ = info_.path + ": " + what;
  }
  const FileOptions& file_options() const { return files_; }
  bool loaded() const { return asked_; }

private:
  void load();
  void open();
  void open_generated();
  /// Whose word it is that a file is the module's.
  enum class Named : std::uint8_t { by_user, by_kernel, by_core };
  bool open_own();
  bool open_file(const std::string& path, Named named);
  bool may_open(const std::string& path, Named named);
  Result<elf::File> open_counted(const std::string& path, bool user_named);
  Result<elf::File> open_debug_candidate(const std::string& path);
  void place_by_segments();
  void use_memory();
  std::vector<std::string> debug_folders() const;
  void open_debug_file();
  const elf::Image* separate_image();
  void find_sidecar();
  void load_symbols();
  void open_debugdata();
  /// True where sections can be read, not only segments: of the file, the vdso, generated code.
  bool has_sections() const { return file_ || info_.vdso || code_; }
  const elf::Image* sections_image() { return has_sections() ? table_image() : nullptr; }
  std::optional<elf::SymbolTable::Match> find_own_symbol(std::uint64_t address);
  const elf::Image* table_image() { return image_ ? &*image_ : nullptr; }

  std::uint64_t number_;
  ModuleInfo info_;
  const AbiTraits& abi_;
  const FileOptions& files_;
  ByteSource& memory_;
  std::shared_ptr<const GeneratedCode> code_;
  elf::Symbol procedure_; ///< the one symbol of code_ without an image
  bool loaded_ = false;
  bool asked_ = false; ///< by others than find_definition() and is_image()
  bool file_missing_ = false;
  bool debug_tried_ = false;
  Named named_ = Named::by_core; ///< file_
  std::string problem_;
  static inline const std::string no_problem_;
  std::optional<elf::File> file_;
  std::optional<elf::Image> image_; ///< of file_ or of memory
  std::optional<elf::DebugFile> debug_file_;
  std::optional<elf::File> sidecar_;
  std::optional<elf::Image> sidecar_image_;
  std::unique_ptr<UnwindTables> tables_;
  std::optional<elf::Unpacked> debugdata_; ///< what .gnu_debugdata holds, an ELF file
  std::optional<elf::SymbolTable> symbols_;
  elf::SymbolTable more_symbols_; ///< of debugdata_
};

/// An address space whose tables are those of the modules that are mapped in it.
class ModuleSpace : public unwind::AddressSpace {
public:
  /// The module (executable, library, vdso) mapped at the address, or nullptr. Lives as long as the address
  /// space.
  virtual Module* module_at(std::uint64_t address) = 0;

  unwind::RuleSource* rules_at(std::uint64_t address) final { return module_at(address); }
};

} // namespace sframe::modules
