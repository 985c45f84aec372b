// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An ELF image in a process: its mappings, its file, and queries by address. All work on the file is done
// once, at the first query: a process may have hundreds of modules, of which a walk needs a few.
//
// The file is used only if it is the one that was mapped, according to its build ID, or because the process's
// memory has all of its code, and it is equal. Otherwise the parts of the image in the process's own memory
// are used (the vdso is completely there), and problem() has the reason.
//
// Link addresses are those in the file's headers, tables and symbols: address in the process minus bias.

#pragma once

#include "sframe/base/budget.h"
#include "sframe/core/core.h"
#include "sframe/elf/debug_file.h"
#include "sframe/elf/file.h"
#include "sframe/elf/go_functions.h"
#include "sframe/elf/image.h"
#include "sframe/elf/package_note.h"
#include "sframe/elf/symbols.h"
#include "sframe/elf/unpack.h"
#include "sframe/modules/file_server.h"
#include "sframe/modules/generated_code.h"
#include "sframe/modules/tables.h"
#include "sframe/unwind/address_space.h"
#include "sframe/unwind/rule_source.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace sframe::modules {

/// Which of the files named by a core are read. `executable` and the folders in FileOptions are chosen by
/// the user and always trusted.
enum class FileTrust : std::uint8_t {
  none,     ///< only files in FileOptions::sysroot, with the build ID that the core has
  build_id, ///< all with the build ID that the core has
  all,      ///< files for which the core has no build ID, too; also on network file systems
};

/// An image and all that was read from it (module.cc).
struct [[gnu::visibility("hidden")]] ModuleParts;

/// The files that the modules of one address space have opened: modules of the same file share what is read
/// from it. Not thread-safe: an address space and its modules are used in one thread at a time. A copy is
/// empty, so that options may be copied for another address space, which another thread uses. Address spaces
/// used one after the other in the same thread may share one (FileOptions::shared).
class OpenFiles {
public:
  /// A file that is both gets parts for each role: parts of a debug file never refer to other parts, which
  /// would be a circle.
  enum class Role : std::uint8_t { module, debug_file };

  OpenFiles() = default;
  /// Keeps `most` files that no module uses.
  explicit OpenFiles(std::size_t most) : least_(most), most_(most) {}
  OpenFiles(const OpenFiles&) {}
  OpenFiles& operator=(const OpenFiles&) = delete;

  /// The parts of the file in this role: those that another module has made, or new ones. What is read of the
  /// file has these limits, by its size.
  std::shared_ptr<ModuleParts> add(elf::File file, Role role, Limits limits);

  /// For a new sample of a running process: the limits of each file apply again. Those that a file has
  /// reached stay reported.
  void refill();

  /// The number of files.
  std::size_t size() const { return files_.size(); }

private:
  void remove_unused();

  std::map<std::pair<elf::File::Id, Role>, std::shared_ptr<ModuleParts>> files_;
  std::size_t least_ = 64;
  std::size_t most_ = least_; ///< files, before unused ones are removed
};

/// Where files are looked for. Not thread-safe once modules refer to it, because of `open`; each address
/// space has its own copy.
struct FileOptions {
  bool open_files = true;       ///< false: use nothing but the process's memory
  std::string sysroot;          ///< root folder of the process's paths and of links in them; empty: "/"
  std::string executable;       ///< the main executable's file, instead of the path in the core
  std::string sframe_dir;       ///< sidecars: DIR/.build-id/xx/yyyy.sframe
  bool generate_sframe = false; ///< convert CFI if there is no SFrame; only in memory
  /// Folders of separate debug files, as for elf::find_debug_file(): first these, then `debug_dir`, which is
  /// inside the sysroot, if there is one.
  std::vector<std::string> more_debug_dirs;
  std::string debug_dir = elf::default_debug_folder;
  FileTrust trust = FileTrust::build_id;
  /// Asked for files that are missing here; nullptr: none are fetched. Copies of the options share it.
  std::shared_ptr<FileServer> server;
  /// Budget for all that is read for one core; nullptr: only the limits of the parts apply.
  std::shared_ptr<Budget> budget;
  mutable OpenFiles open; ///< used by Module only
  /// Used instead of `open`: for address spaces with the same options, one after the other. What they have
  /// read stays; each pays for its own lookups, so that the result of one does not depend on the others. If
  /// the budget of one was used up, start with an empty one: something may not have been read.
  std::shared_ptr<OpenFiles> shared;

  /// The limits of the budget, or those that apply if there is none.
  Limits limits() const { return budget ? budget->limits() : Limits::standard; }
  /// Makes a budget with these limits for an input of `size` bytes, unless there is one.
  void add_budget(std::uint64_t size) {
    if (!budget) budget = std::make_shared<Budget>(limits(), size);
  }
};

/// A mapping of the module's file.
struct ModuleMapping {
  std::uint64_t start = 0, end = 0;
  std::uint64_t file_offset = 0; ///< bytes
  bool moved = false;            ///< other memory in the place of the file's: the file offset is unknown
};

/// What is known of a module before its file is opened.
struct ModuleInfo {
  std::string path; ///< without " (deleted)"; "[vdso]"; may be empty
  /// Where the file is looked for if `path` is a name without a folder; may be nullptr.
  std::shared_ptr<const std::vector<std::string>> folders;
  /// A path to the mapped file itself, under any name: opened instead of `path`, and needs no check.
  std::string file;
  bool deleted = false;
  bool vdso = false;
  bool main = false;                  ///< the executable
  bool assumed = false;               ///< derived from `entry` only: nothing in the core names it
  bool placed = false;                ///< the mapping is assumed: addresses come from the file's segments
  std::optional<std::uint64_t> entry; ///< of the executable: its entry point in the process
  std::uint64_t start = 0, end = 0;
  std::optional<std::uint64_t> bias;
  std::vector<std::byte> build_id;     ///< the linker's, else Go's
  std::vector<std::byte> go_build_id;  ///< Go's, if it is known
  bool build_id_cut = false;           ///< as in core::CoreModule; false once the file was found
  std::vector<ModuleMapping> mappings; ///< by address
  std::uint64_t header_address = 0;    ///< where the ELF header is mapped; 0 if it is not

  /// The path as the kernel writes it: with " (deleted)" appended if the file is gone.
  void set_path(std::string_view written);
  bool contains(std::uint64_t address) const { return start <= address && address < end; }
};

class Module final : public unwind::RuleSource {
public:
  /// `memory` reads the process's memory where the file does not suffice; it must not read files of modules.
  /// Both it and `files` must outlive the module. Opens nothing.
  Module(ModuleInfo info, const AbiTraits& abi, const FileOptions& files, ByteSource& memory);

  /// Code that the process generated and registered; opens no file.
  Module(ModuleInfo info, const AbiTraits& abi, const FileOptions& files, ByteSource& memory,
         std::shared_ptr<const GeneratedCode> code);

  const ModuleInfo& info() const { return info_; }
  /// Unique, even if one module replaces another at the same place in memory.
  std::uint64_t number() const { return number_; }
  bool generated() const { return code_ != nullptr; }

  /// The file's name: the last part of the path. Empty if the process does not tell.
  std::string_view name() const;
  /// The same for people: "unknown" if it is empty.
  std::string_view shown_name() const { return name().empty() ? "unknown" : name(); }

  /// The value to subtract to get link addresses. If neither process nor file has it: info().start.
  std::uint64_t bias();

  /// The file's bytes mapped at `address`, up to the end of the mapping; empty if there is no matching file.
  std::span<const std::byte> file_bytes_at(std::uint64_t address);

  /// True if the address is executable according to the file, or else to the image's headers in memory.
  bool is_code(std::uint64_t address);

  /// True if the address is in a writable segment of the file: relocation may have changed its bytes. Opens
  /// the file.
  bool is_writable(std::uint64_t address);

  /// The image: of the file, else of the process's memory; nullptr if there is none.
  const elf::Image* image();

  /// True if image() is not nullptr. Opens the file, but has no effect on loaded() and problem_so_far(): the
  /// mapping may be a region for generated code instead of an image.
  bool is_image();

  /// Unwind rules, by link address.
  UnwindTables& tables();

  /// The SFrame section converted from CFI so far, as a separate ELF file (elf::make_sidecar); empty if
  /// there is none. Linear in its size.
  std::vector<std::byte> converted_sidecar();

  /// The function that contains a link address. Symbols are those of the file, those of the separate debug
  /// file if the file has only dynamic ones, and those of .gnu_debugdata, which complement the dynamic ones.
  /// Functions of Go without any have one from Go's own table.
  std::optional<elf::SymbolTable::Match> find_symbol(std::uint64_t address);

  /// The address in the process of a symbol, usually a variable, as in elf::find_definition(). Opens the
  /// file, but has no effect on loaded() and problem_so_far().
  std::optional<std::uint64_t> find_definition(std::string_view name);

  /// The package that the image says it belongs to. Opens the file, but has no effect on loaded() and
  /// problem_so_far(), here and below.
  std::optional<elf::PackageNote> package();
  /// The path of the file on this machine, if it is certain to be the one that was mapped: it has the build
  /// ID that is in the process. Else empty.
  std::string verified_path();

  /// The image with DWARF for source lines (.debug_info): the file's, else the separate debug file's;
  /// nullptr if there is none.
  const elf::Image* debug_image();
  /// The path of the file, as it was opened; empty if there is none, or it is not the one that was mapped.
  std::string file_path();
  /// The source line of Go's code at a link address, by Go's own table (elf::GoFunctions).
  std::optional<elf::GoFunctions::Line> find_go_line(std::uint64_t address);
  /// The path of the separate debug file; empty if there is none. Looks for it.
  std::string debug_file_path();
  /// The files called `name` (a path without folders, or below one) with the module's file, with its debug
  /// file and in the debug folders that the user named: where its split debug information may be. Only those
  /// that may be opened.
  std::vector<elf::File> files_beside(std::string_view name);
  /// The file of an absolute path that debug information names, if all files are trusted (FileTrust::all) and
  /// it may be opened. Below the sysroot, if there is one.
  std::optional<elf::File> file_of_build(const std::string& path);
  /// Where names of functions come from.
  enum class Names : std::uint8_t {
    none,
    dynamic,   ///< exported functions only: .dynsym
    full,      ///< .symtab of the file or of the debug file
    debugdata, ///< .gnu_debugdata, and .dynsym
  };
  Names names();

  /// The file that debug_image() shares with others (elf::AlternateLink), if it names one and that is found
  /// with the build ID that it states; else nullptr.
  const elf::Image* alternate_image();
  /// A unique number of debug_image(), which modules of the same file share; 0 if there is none.
  std::uint64_t debug_image_number();

  std::optional<unwind::SframeMatch> find_sframe(std::uint64_t address) override;
  bool find_cfi(std::uint64_t address, unwind::CfiMatch& answer) override;
  /// The FDE for an address of the process, with its section, where link addresses are; both are valid for
  /// the life of the module. .debug_frame of the separate debug file is read if nothing else has one.
  std::optional<UnwindTables::FoundFde> find_fde(std::uint64_t address);
  std::optional<unwind::GoMatch> find_go(std::uint64_t address) override;
  std::optional<AddressRange> find_function(std::uint64_t address) override;
  std::optional<AddressRange> find_symbol_extent(std::uint64_t address) override;
  bool calls_keep_no_registers() override;

  /// The build ID in the process, else in the file; may be empty.
  std::span<const std::byte> build_id();

  /// Why the file cannot be used, or is used without verification; empty if there is no problem. One line.
  /// Opens the file.
  const std::string& problem();
  /// True if a server has provided the file, or its SFrame section instead.
  bool fetched() const { return served_section_ || (loaded_ && named_ == Named::by_server); }
  /// True if problem() reports a missing or wrong file.
  bool file_missing();
  /// problem() without opening anything: empty for a module not queried yet. A limit that was reached
  /// meanwhile is the problem.
  const std::string& problem_so_far();
  /// True if something of the file, its sidecar or its debug file was not read because of a limit.
  bool has_reached_limit() const;
  /// Reports that something of the module is left out, unless a problem is set already.
  void add_problem(const std::string& what) {
    if (problem_.empty()) problem_ = info_.path + ": " + what;
  }
  const FileOptions& file_options() const { return files_; }
  bool loaded() const { return asked_; }

private:
  OpenFiles& opened() const { return files_.shared ? *files_.shared : files_.open; }
  void load();
  void open();
  void open_generated();
  /// Who named the module's file.
  enum class Named : std::uint8_t { by_user, by_kernel, by_core, by_server };
  bool open_own();
  bool open_file(const std::string& path, Named named);
  bool open_and_check(const std::string& path, Named named);
  bool may_open(const std::string& path, Named named);
  bool has_right_id(const elf::Image& file) const;
  bool has_code(const elf::Image& image, std::uint64_t bias, bool equal);
  bool has_code_in_memory();
  bool has_right_code(const elf::Image& file);
  bool has_other_code(const elf::Image& file);
  void find_mappings();
  std::optional<std::uint64_t> bias_by_mappings();
  Result<elf::File> fetch(ServedFile what, std::span<const std::byte> id, std::string_view name = {});
  void fetch_missing();
  bool fetch_section();
  bool fetch_file();
  void fetch_file_late();
  void fetch_debug_file();
  void use_debug_file(std::shared_ptr<ModuleParts> parts);
  Result<elf::File> open_counted(const std::string& path, bool user_named);
  Result<elf::File> open_debug_candidate(const std::string& path);
  void locate_by_segments();
  void use_memory();
  std::vector<std::string> debug_folders() const;
  std::string root_of_process() const;
  bool has_file() const;
  void open_debug_file();
  void find_debug_file();
  void find_local_debug_file();
  ModuleParts* separate_parts();
  bool add_debug_frame();
  ModuleParts* debug_parts();
  void find_alternate(ModuleParts& debug);
  void find_sidecar();
  const std::string& path_of(const elf::Image* image) const;
  void make_tables(const elf::Image* separate);
  void load_symbols();
  void open_debugdata();
  void load_debugdata();
  /// True if sections can be read, not only segments: the file, the vdso, generated code.
  bool has_sections() const { return has_file() || info_.vdso || code_; }
  const elf::Image* sections_image() { return has_sections() ? table_image() : nullptr; }
  std::optional<elf::SymbolTable::Match> find_own_symbol(std::uint64_t address);
  const elf::Image* table_image();
  const elf::GoFunctions* go_functions();

  std::uint64_t number_;
  ModuleInfo info_;
  const AbiTraits& abi_;
  const FileOptions& files_;
  ByteSource& memory_;
  std::shared_ptr<const GeneratedCode> code_;
  elf::Symbol procedure_; ///< the only symbol of code_ if it has no image
  bool loaded_ = false;
  bool asked_ = false; ///< by queries other than find_definition() and is_image()
  bool file_missing_ = false;
  bool debug_tried_ = false;
  bool tables_used_ = false;
  Named named_ = Named::by_core; ///< the source of the file
  std::string problem_;
  static inline const std::string no_problem_;
  std::string file_path_; ///< as opened
  std::shared_ptr<ModuleParts> parts_;
  std::optional<elf::File> served_section_;   ///< .sframe, if there is no file
  bool file_tried_ = false;                   ///< the server was asked for the file
  std::shared_ptr<ModuleParts> before_file_;  ///< what parts_ was before the server's file: still referred to
  const elf::SymbolTable* symbols_ = nullptr; ///< of parts_ or of the separate debug file
  std::optional<ModuleParts*> debug_parts_;   ///< with .debug_info; nullptr if there are none
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
