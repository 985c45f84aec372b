// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From top to bottom: the files of all modules (OpenFiles, ModuleParts), which file may be opened and whether
// it is the one that was mapped, separate debug files and sidecars, tables and symbols, and the questions.
// Files are opened at the first question that needs them. A ModuleParts is shared by the modules of all
// processes that map the file.

#include "sframe/modules/module.h"

#include "sframe/elf/sidecar.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

namespace sframe::modules {

namespace {

/// ".build-id/xx/yyyy.debug" in a folder; empty without a folder or a build ID.
std::string by_build_id(const std::string& dir, std::span<const std::byte> id, std::string_view extension) {
  const std::string path = elf::build_id_path(id, extension);
  return path.empty() || dir.empty() ? std::string() : dir + '/' + path;
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::ranges::equal(a, b);
}

bool has_full_symbols(const elf::Image& image) {
  return std::ranges::any_of(image.sections(),
                             [](const elf::SectionHeader& s) { return s.type == elf::sht_symtab && s.size; });
}

} // namespace

/// What could not be read is kept as text, because each module of the file reports it.
struct ModuleParts {
  const std::uint64_t number = next_number();
  std::unique_ptr<Budget> budget;  ///< of the file, by its own size; the image takes from it
  std::optional<elf::File> file;   ///< if the image is not in memory
  std::optional<elf::Image> image; ///< of the file or of memory
  std::string image_problem;       ///< of the file
  std::optional<elf::BiasFinder> bias_finder;
  std::optional<AddressSet> code; ///< executable segments
  std::optional<std::vector<const elf::SectionHeader*>> loaded_sections;
  std::optional<elf::SymbolTable> symbols;
  std::map<std::string, std::optional<std::uint64_t>, std::less<>> definitions; ///< by name

  bool alternate_tried = false;
  std::shared_ptr<ModuleParts> alternate; ///< that the debug information refers to

  bool debug_tried = false;
  bool debug_frame_tried = false;     ///< .debug_frame of `debug` is among `tables`, or there is none
  std::shared_ptr<ModuleParts> debug; ///< of the separate debug file, which has none itself
  std::string debug_problem;

  std::unique_ptr<Budget> sidecar_budget;
  std::optional<elf::File> sidecar;
  std::optional<elf::Image> sidecar_image;
  std::string sidecar_problem;
  std::unique_ptr<UnwindTables> tables;

  bool go_tried = false;
  std::optional<elf::GoFunctions> go;
  std::map<std::uint64_t, elf::Symbol> go_symbols; ///< of the functions asked for, by address

  bool debugdata_tried = false;
  std::optional<elf::Unpacked> debugdata; ///< contents of .gnu_debugdata, an ELF file
  elf::SymbolTable more_symbols;          ///< of debugdata
  std::string debugdata_problem;

  std::optional<std::string> former_limit; ///< reached before the last refill()

  /// The limit that the file or the sidecar has reached, and its path; nothing if there is none.
  std::optional<std::string> reached_limit() const {
    if (former_limit) return former_limit;
    const auto text = [](const std::unique_ptr<Budget>& of, const std::optional<elf::File>& in) {
      const auto problem = of ? of->problem() : std::nullopt;
      return problem ? std::optional(in->path() + ": " + problem->text()) : std::nullopt;
    };
    const auto own = text(budget, file);
    return own ? own : text(sidecar_budget, sidecar);
  }
  bool has_reached_limit() const { return reached_limit() || (debug && debug->reached_limit()); }

  void refill() {
    former_limit = reached_limit();
    if (budget) budget->refill(file->bytes().size());
    if (sidecar_budget) sidecar_budget->refill(sidecar->bytes().size());
    if (debug) debug->refill();
  }

  /// Those of an object that are in memory; there may be very many.
  const std::vector<const elf::SectionHeader*>& sections_by_address() {
    if (!loaded_sections) {
      loaded_sections.emplace();
      for (const elf::SectionHeader& section : image->sections())
        if (section.allocated() && section.size) loaded_sections->push_back(&section);
      std::ranges::stable_sort(*loaded_sections, {}, &elf::SectionHeader::address);
    }
    return *loaded_sections;
  }

  const elf::SymbolTable& symbol_table() {
    if (!symbols) symbols = image ? elf::SymbolTable::load(*image) : elf::SymbolTable();
    return *symbols;
  }
};

std::shared_ptr<ModuleParts> OpenFiles::add(elf::File file, Role role, Limits limits) {
  std::shared_ptr<ModuleParts>& known = files_[{file.id(), role}];
  if (known && known->file->is_same(file)) {
    // Used by an address space that is gone: each has the same limits. After one has reached them, something
    // may not have been read.
    const bool is_unused = known.use_count() == 1;
    if (!is_unused || !known->has_reached_limit()) {
      if (is_unused) known->refill();
      return known;
    }
  }
  auto parts = known = std::make_shared<ModuleParts>();
  parts->file = std::move(file);
  parts->budget = std::make_unique<Budget>(limits, parts->file->bytes().size());
  auto parsed = elf::Image::parse(parts->file->bytes(), parts->budget.get());
  if (parsed)
    parts->image = std::move(*parsed);
  else
    parts->image_problem = parsed.error().text();
  if (files_.size() > most_) remove_unused();
  return parts;
}

void OpenFiles::refill() {
  for (const auto& [id, parts] : files_) parts->refill();
}

/// A running process may load and unload libraries for a long time.
void OpenFiles::remove_unused() {
  // Debug files are used by other entries.
  for (std::size_t before = 0; before != files_.size();) {
    before = files_.size();
    std::erase_if(files_, [](const auto& file) { return file.second.use_count() == 1; });
  }
  most_ = std::max<std::size_t>(least_, 2 * files_.size());
}

void ModuleInfo::set_path(std::string_view written) {
  constexpr std::string_view mark = " (deleted)";
  deleted = written.ends_with(mark);
  if (deleted) written.remove_suffix(mark.size());
  path = written;
}

Module::Module(ModuleInfo info, const AbiTraits& abi, const FileOptions& files, ByteSource& memory)
    : number_(next_number()), info_(std::move(info)), abi_(abi), files_(files), memory_(memory),
      parts_(std::make_shared<ModuleParts>()) {}

Module::Module(ModuleInfo info, const AbiTraits& abi, const FileOptions& files, ByteSource& memory,
               std::shared_ptr<const GeneratedCode> code)
    : Module(std::move(info), abi, files, memory) {
  code_ = std::move(code);
}

std::string_view Module::name() const {
  const std::string_view path = info_.path;
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

void Module::load() {
  const bool first = !std::exchange(asked_, true);
  open();
  if (first && file_missing_) fetch_missing();
}

/// A file from a server has only its build ID to tie it to the process.
Result<elf::File> Module::fetch(ServedFile what, std::span<const std::byte> id, std::string_view name) {
  if (!files_.server || !files_.open_files || info_.vdso || id.empty()) return fail("not fetched");
  if (files_.budget && !files_.budget->take(Resource::files)) return fail("not fetched: too many files");
  const auto path = files_.server->fetch(what, id, name);
  return path ? elf::File::open_regular(*path) : unexpected(path.error());
}

/// Of a missing file, the SFrame section is enough for walks, and much smaller.
void Module::fetch_missing() {
  if (info_.vdso || code_ || info_.build_id.empty() || info_.build_id_cut || !files_.server) return;
  if (!fetch_section() && !fetch_file()) return;
  problem_.clear();
  file_missing_ = false;
}

/// The bytes are mapped, but the kernel did not write them into the core. The image's headers do have their
/// address and size; a section has no build ID, so the size is all there is to check.
bool Module::fetch_section() {
  const elf::Image* const image = table_image();
  const elf::Segment* const segment = image ? image->find_segment(elf::pt_gnu_sframe) : nullptr;
  if (!segment || segment->file_size == 0) return false;
  auto file = fetch(ServedFile::section, info_.build_id, ".sframe");
  if (!file || file->bytes().size() != segment->file_size) return false;
  served_section_ = std::move(*file);
  return true;
}

bool Module::fetch_file() {
  if (std::exchange(file_tried_, true)) return false;
  auto file = fetch(ServedFile::executable, info_.build_id);
  if (!file) return false;
  auto parts = opened().add(std::move(*file), OpenFiles::Role::module, files_.limits());
  const std::optional<elf::Image>& image = parts->image;
  if (!image || image->abi() != &abi_ || !has_right_id(*image)) {
    problem_ += "; the file from the server has another build ID";
    return false;
  }
  named_ = Named::by_server;
  file_path_ = parts->file->path();
  parts_ = std::move(parts);
  find_mappings();
  return true;
}

void Module::open() {
  if (loaded_) return;
  loaded_ = true;
  if (code_) return open_generated();
  const bool named = info_.main && !files_.executable.empty();
  if (info_.assumed && !named) {
    problem_ = "cannot tell the executable from the core; pass EXECUTABLE";
    file_missing_ = true;
  }
  if (!info_.vdso && files_.open_files && (named || !info_.path.empty())) {
    // If the user names a different build, the file named by the core may still match.
    const auto open_named = [&] {
      if (open_file(files_.executable, Named::by_user)) return true;
      const std::string problem = problem_;
      const bool found = !info_.assumed && info_.path != files_.executable && open_own();
      problem_ = found ? problem + "; using " + info_.path : problem;
      return found;
    };
    if (named ? open_named() : open_own()) return find_mappings();
    file_missing_ = true;
  }
  parts_ = std::make_shared<ModuleParts>();
  use_memory();
}

/// After all, more than the SFrame section is needed. Callers may refer to the tables that were made before.
void Module::fetch_file_late() {
  auto before = parts_;
  if (!fetch_file()) return;
  problem_.clear();
  before_file_ = std::move(before);
  parts_->debug = before_file_->debug;
  parts_->debug_tried = before_file_->debug_tried;
  parts_->debug_problem = before_file_->debug_problem;
  symbols_ = nullptr;
  debug_parts_.reset();
  tables_used_ = false;
}

/// What follows from the file that was opened.
void Module::find_mappings() {
  if (info_.placed) locate_by_segments();
  if (!info_.bias) info_.bias = bias_by_mappings();
}

/// By the file that was opened.
std::optional<std::uint64_t> Module::bias_by_mappings() {
  std::vector<elf::Mapping> mappings;
  for (const ModuleMapping& m : info_.mappings)
    if (!m.moved) mappings.push_back({.start = m.start, .end = m.end, .file_offset = m.file_offset});
  if (!parts_->bias_finder) parts_->bias_finder.emplace(*parts_->image);
  return parts_->bias_finder->find(mappings);
}

/// Everything was copied when the module was made.
void Module::open_generated() {
  if (code_->procedure && !code_->function.empty())
    procedure_ = {
        .address = info_.start, .size = info_.end - info_.start, .name = code_->function, .type = 2};
  if (code_->image.empty()) return;
  auto image = elf::Image::parse(code_->image, files_.budget.get());
  if (image && image->abi() == &abi_)
    parts_->image = std::move(*image);
  else
    problem_ = info_.path + ": " + (image ? "wrong machine" : image.error().text());
}

/// The file named by the process.
bool Module::open_own() {
  if (info_.path.empty()) return false;
  if (!info_.file.empty()) return open_file(info_.file, Named::by_kernel);
  if (info_.path.contains('/') || !info_.folders || info_.build_id.empty())
    return open_file(info_.path, Named::by_core);
  std::string other;
  for (const std::string& folder : *info_.folders) {
    file_path_.clear();
    if (open_file(folder + '/' + info_.path, Named::by_core)) {
      problem_.clear();
      return true;
    }
    if (!file_path_.empty() && other.empty()) other = problem_;
  }
  if (may_open("/" + info_.path, Named::by_core))
    problem_ = info_.path + ": not found in the library folders; the core has no path";
  if (!other.empty()) problem_ = other;
  return false;
}

/// True if the file has the build IDs that are in the process, as far as both have those of the same origin.
bool Module::has_right_id(const elf::Image& file) const {
  if (!info_.build_id_cut) {
    bool found = false;
    const auto differ = [&](std::span<const std::byte> a, std::span<const std::byte> b) {
      const bool both = !a.empty() && !b.empty();
      found |= both;
      return both && !same(a, b);
    };
    const auto of_linker = [](std::span<const std::byte> id, std::span<const std::byte> go_id) {
      return same(id, go_id) ? std::span<const std::byte>() : id;
    };
    return !differ(info_.go_build_id, file.go_build_id()) &&
           !differ(of_linker(info_.build_id, info_.go_build_id),
                   of_linker(file.build_id(), file.go_build_id())) &&
           found;
  }
  const auto id = file.build_id();
  const std::size_t size = std::min(id.size(), info_.build_id.size());
  const auto is_zero = [](std::byte byte) { return byte == std::byte{}; };
  return size != 0 && same(id.first(size), std::span(info_.build_id).first(size)) &&
         std::ranges::all_of(std::span(info_.build_id).subspan(size), is_zero);
}

/// True if the process's memory has all code of the image and, unless only that is asked, it is equal to that
/// of the file: then the file is the right one, whatever its build ID.
bool Module::has_code(const elf::Image& image, std::uint64_t bias, bool equal) {
  std::uint64_t size = 0;
  for (const elf::CodeRange& range : image.executable_ranges()) {
    size += range.size;
    for (std::uint64_t at = range.start; at != range.end();) {
      const auto memory = memory_.memory_at(at + bias);
      const std::uint64_t part = std::min<std::uint64_t>(memory.size(), range.end() - at);
      if (part == 0) return false;
      const auto file = equal ? image.read(at, part) : std::nullopt;
      if (equal && !(file && same(*file, memory.first(part)))) return false;
      at += part;
    }
  }
  constexpr std::uint64_t least = 64; // less is in many files
  return size >= least;
}

/// As has_code(), before there is a file: by the headers in memory.
bool Module::has_code_in_memory() {
  const auto bytes =
      info_.header_address ? memory_.memory_at(info_.header_address) : std::span<const std::byte>{};
  const auto image = elf::Image::parse(bytes);
  return image && info_.bias && has_code(*image, *info_.bias, false);
}

/// Whether the code in memory shows that the file is the one that was mapped.
bool Module::has_right_code(const elf::Image& file) {
  if (!info_.bias) return false;
  Budget* const budget = files_.budget.get();
  std::uint64_t size = 0;
  for (const elf::CodeRange& range : file.executable_ranges()) size += range.size;
  return (!budget || budget->take(Resource::section_bytes, size)) && has_code(file, *info_.bias, true);
}

/// True if code in memory, as far as it is there, shows that the file is not the one that was mapped.
/// Debuggers and others change single instructions.
bool Module::has_other_code(const elf::Image& file) {
  const auto bias = info_.bias ? info_.bias : bias_by_mappings();
  Budget* const budget = files_.budget.get();
  std::uint64_t compared = 0, different = 0;
  for (const elf::CodeRange& range : file.executable_ranges()) {
    if (!bias || (budget && !budget->take(Resource::section_bytes, range.size))) return false;
    for (std::uint64_t at = range.start; at != range.end();) {
      const auto stored = file.bytes_at(at), memory = memory_.memory_at(at + *bias);
      if (stored.empty()) break;
      const std::uint64_t to_page_end = smallest_page - (at + *bias) % smallest_page;
      std::uint64_t part = std::min<std::uint64_t>({to_page_end, range.end() - at, stored.size()});
      if (!memory.empty()) {
        part = std::min<std::uint64_t>(part, memory.size());
        compared += part;
        for (std::size_t i = 0; i < part; ++i) different += stored[i] != memory[i];
      }
      at += part;
    }
  }
  constexpr std::uint64_t least = 16, share = 256;
  return different > least + compared / share;
}

/// A core can name any file. Without a build ID to compare, the file's bytes would be taken for the
/// process's memory.
bool Module::may_open(const std::string& path, Named named) {
  if (named != Named::by_core) return true;
  const char* const other_way =
      info_.main ? "; pass EXECUTABLE" : "; pass --sysroot for the files of another machine";
  if (!path.starts_with('/')) {
    problem_ = path + ": not opened: the core has only a relative path" + other_way;
  } else if (files_.trust == FileTrust::none && files_.sysroot.empty()) {
    problem_ = path + ": not opened: named only by the core (--trust=none)" + other_way;
  } else if (info_.build_id.empty() && has_code_in_memory()) {
    return true;
  } else if (info_.deleted && info_.build_id.empty()) {
    problem_ = path + ": the mapped file was deleted, and its build ID is unknown";
  } else if (files_.trust != FileTrust::all && info_.build_id.empty()) {
    problem_ = path + ": not opened: the core has no build ID to verify it";
    problem_ +=
        info_.main ? "; pass EXECUTABLE or --trust=all" : "; pass --trust=all to use it without verification";
  } else {
    return true;
  }
  return false;
}

/// A name that the user did not give is below the sysroot.
Result<elf::File> Module::open_counted(const std::string& path, bool user_named) {
  if (files_.budget && !files_.budget->take(Resource::files)) return fail("not opened: too many files");
  if (user_named) return elf::File::open_found(path);
  // A folder named by the user may be on any file system.
  const bool network = files_.trust == FileTrust::all || !files_.sysroot.empty();
  return elf::File::open_named(path, {.root = files_.sysroot, .network = network});
}

bool Module::open_file(const std::string& path, Named named) {
  if (!open_and_check(path, named)) return false;
  parts_->file->accept();
  return true;
}

/// Opens the file and checks that it is the one that was mapped. Sets problem_.
bool Module::open_and_check(const std::string& path, Named named) {
  if (!may_open(path, named)) return false;
  auto file = open_counted(path, named != Named::by_core);
  const std::string shown = named == Named::by_core ? elf::path_in_root(files_.sysroot, path) : path;
  if (!file) {
    problem_ = shown + ": " + file.error().text();
    return false;
  }
  file_path_ = file->path();
  parts_ = opened().add(std::move(*file), OpenFiles::Role::module, files_.limits());
  named_ = named;
  const std::optional<elf::Image>& image = parts_->image;
  if (!image || image->abi() != &abi_) {
    problem_ = shown + ": " + (image ? "wrong machine" : parts_->image_problem);
    return false;
  }
  if (named == Named::by_kernel) return true;
  if (has_right_id(*image) || has_right_code(*image)) {
    info_.build_id.assign(image->build_id().begin(), image->build_id().end());
    info_.go_build_id.assign(image->go_build_id().begin(), image->go_build_id().end());
    info_.build_id_cut = false;
    return true;
  }
  if (!info_.build_id.empty()) {
    problem_ = shown + ": build ID mismatch: core " + elf::to_hex(info_.build_id) + ", file ";
    // Nothing is shown of a file that only the core names and that does not belong to the process.
    if (image->build_id().empty())
      problem_ += "has none";
    else if (named == Named::by_user)
      problem_ += elf::to_hex(image->build_id());
    else
      problem_ += "has another";
    return false;
  }
  if (info_.deleted) {
    problem_ = shown + ": the mapped file was deleted, and its build ID is unknown";
    return false;
  }
  if (named == Named::by_core && files_.trust != FileTrust::all) {
    problem_ = shown + ": not used: its code is not that in the core, which has no build ID to verify it";
    return false;
  }
  if (has_other_code(*image)) {
    problem_ = shown + ": not used: its code is not that in the core";
    return false;
  }
  problem_ = shown + ": used without verification: the core has no build ID for it";
  return true;
}

/// Only one address ties the file to the process, possibly only the entry point; the others follow from its
/// segments.
void Module::locate_by_segments() {
  const elf::Image& image = *parts_->image;
  if (!info_.bias && info_.entry) info_.bias = *info_.entry - image.entry();
  if (!info_.bias && !info_.assumed) info_.bias = bias_by_mappings();
  const std::uint64_t bias = info_.bias.value_or(0);
  info_.bias = bias;
  if (info_.path.empty()) info_.path = file_path_;
  info_.mappings.clear();
  for (const elf::Segment& s : image.segments()) {
    const std::uint64_t into_page = s.address % smallest_page;
    if (s.type != elf::pt_load || s.file_size == 0 || s.offset < into_page) continue;
    const std::uint64_t start = s.address - into_page + bias;
    info_.mappings.push_back({start, start + into_page + s.file_size, s.offset - into_page});
  }
  std::ranges::sort(info_.mappings, {}, &ModuleMapping::start);
  // Two segments may share a page; it belongs to the first.
  std::uint64_t end = 0;
  std::erase_if(info_.mappings, [&](ModuleMapping& m) {
    const std::uint64_t start = std::max(m.start, end);
    if (start >= m.end) return true;
    m.file_offset += start - m.start;
    m.start = start;
    end = m.end;
    return false;
  });
}

/// Uses the image in the process's memory: all of the vdso, usually only the headers of others.
void Module::use_memory() {
  const auto bytes =
      info_.header_address ? memory_.memory_at(info_.header_address) : std::span<const std::byte>{};
  Budget* const budget = files_.budget.get();
  if (bytes.empty() || (budget && budget->is_used_up(Resource::section_bytes))) return;
  auto image = elf::Image::parse(bytes, budget);
  if (!image || image->abi() != &abi_) return;
  // Many modules may have the same bytes as their headers.
  const std::uint64_t headers =
      image->segments().size() * sizeof(elf::Segment) + image->sections().size() * sizeof(elf::SectionHeader);
  if (!budget || budget->take(Resource::section_bytes, headers)) parts_->image = std::move(*image);
}

bool Module::has_file() const {
  return parts_->file.has_value();
}

const elf::Image* Module::table_image() {
  return parts_->image ? &*parts_->image : nullptr;
}

std::uint64_t Module::bias() {
  if (!info_.bias) load();
  return info_.bias.value_or(info_.start);
}

std::span<const std::byte> Module::file_bytes_at(std::uint64_t address) {
  load();
  // A walk by the section needs no code, except where it has no row. Bytes near one are read only to exclude
  // that a trampoline follows the function.
  const auto is_near_row = [&] {
    for (std::uint64_t after = 0; after < 10; ++after)
      if (find_sframe(address - 1 + after)) return true;
    return false;
  };
  if (served_section_ && !file_tried_ && !(tables_used_ && is_near_row())) fetch_file_late();
  if (!has_file() || file_missing_) return {};
  const ModuleMapping* const mapping = last_not_above(info_.mappings, address, &ModuleMapping::start);
  if (!mapping || address >= mapping->end) return {};
  const ModuleMapping& m = *mapping;
  // The file's own segments come first: a tool may have moved them in the file without changing the build ID.
  if (info_.bias)
    if (const auto held = parts_->image->bytes_at(address - *info_.bias); !held.empty())
      return held.first(std::min<std::uint64_t>(held.size(), m.end - address));
  const auto bytes = parts_->file->bytes();
  const std::uint64_t into = address - m.start;
  if (m.moved || m.file_offset > bytes.size() || into >= bytes.size() - m.file_offset) return {};
  const auto rest = bytes.subspan(m.file_offset + into);
  return rest.first(std::min<std::uint64_t>(rest.size(), m.end - address));
}

bool Module::is_code(std::uint64_t address) {
  load();
  const elf::Image* const image = table_image();
  if (!image) return false;
  const std::uint64_t link = address - bias();
  if (!parts_->code) {
    std::vector<AddressRange> ranges;
    for (const elf::Segment& s : image->segments())
      if (s.type == elf::pt_load && s.flags & elf::pf_x) ranges.push_back(s.memory());
    parts_->code.emplace(std::move(ranges));
  }
  return parts_->code->contains(link);
}

bool Module::is_writable(std::uint64_t address) {
  load();
  const elf::Image* const image = table_image();
  if (!image) return false;
  const std::uint64_t link = address - bias();
  return std::ranges::any_of(image->segments(), [&](const elf::Segment& s) {
    return s.type == elf::pt_load && s.flags & elf::pf_w && s.memory().contains(link);
  });
}

const elf::Image* Module::image() {
  load();
  return table_image();
}

bool Module::is_image() {
  open();
  return parts_->image.has_value();
}

std::span<const std::byte> Module::build_id() {
  if (!info_.build_id.empty()) return info_.build_id;
  load();
  return has_file() && parts_->image ? parts_->image->build_id() : std::span<const std::byte>{};
}

const std::string& Module::problem() {
  load();
  return problem_;
}

bool Module::file_missing() {
  load();
  return file_missing_;
}

/// The root of a process that has another one than this program, in a container: the file's path has two
/// parts then. Empty for others.
std::string Module::root_of_process() const {
  if (named_ != Named::by_kernel || info_.file.size() <= info_.path.size() ||
      !info_.file.ends_with(info_.path))
    return {};
  return info_.file.substr(0, info_.file.size() - info_.path.size());
}

std::vector<std::string> Module::debug_folders() const {
  std::vector<std::string> folders = files_.more_debug_dirs;
  if (files_.debug_dir.empty()) return folders;
  if (!files_.sysroot.empty()) folders.push_back(elf::path_in_root(files_.sysroot, files_.debug_dir));
  if (files_.sysroot.empty() && files_.trust != FileTrust::none) {
    if (const std::string root = root_of_process(); !root.empty()) folders.push_back(root + files_.debug_dir);
    folders.push_back(files_.debug_dir);
  }
  return folders;
}

/// Below a root, links are those of the machine that the files come from, whoever named the folder. In other
/// folders, or next to a file, that the user named, links are followed; elsewhere they count as named by the
/// core.
Result<elf::File> Module::open_debug_candidate(const std::string& path) {
  if (!files_.sysroot.empty()) {
    std::error_code error; // the path may be absolute already
    const std::string root = std::filesystem::absolute(files_.sysroot, error).string();
    for (const std::string& start : {files_.sysroot, root})
      if (path.starts_with(start) && path.size() > start.size() &&
          (start.ends_with('/') || path[start.size()] == '/'))
        return open_counted((path[start.size()] == '/' ? "" : "/") + path.substr(start.size()), false);
  }
  const auto is_below = [&](const std::string& folder) {
    return !folder.empty() && path.starts_with(folder) &&
           (folder.ends_with('/') || path[folder.size()] == '/');
  };
  if (std::ranges::any_of(files_.more_debug_dirs, is_below)) return open_counted(path, true);
  if (!files_.sysroot.empty())
    return has_file() && named_ == Named::by_user ? open_counted(path, true) : fail("outside the sysroot");
  if (const std::string root = root_of_process(); !root.empty() && path.starts_with(root)) {
    if (files_.budget && !files_.budget->take(Resource::files)) return fail("not opened: too many files");
    return elf::File::open_named(path.substr(root.size()), {.root = root, .network = true});
  }
  if (has_file() && named_ != Named::by_core) return open_counted(path, true);
  return open_counted(path, false);
}

void Module::open_debug_file() {
  if (debug_tried_) return;
  debug_tried_ = true;
  if (code_ || !files_.open_files) return;
  if (!std::exchange(parts_->debug_tried, true)) find_debug_file();
  if (problem_.empty()) problem_ = parts_->debug_problem;
}

/// By build ID and debug link of the file, if there is one, else by the build ID in the process.
void Module::find_debug_file() {
  find_local_debug_file();
  if (!parts_->debug) fetch_debug_file();
}

void Module::fetch_debug_file() {
  auto file = fetch(ServedFile::debug_file, build_id());
  if (!file) return; // servers do not have all files
  auto parts = opened().add(std::move(*file), OpenFiles::Role::debug_file, files_.limits());
  if (!parts->image || parts->image->abi() != &abi_ || !same(parts->image->build_id(), build_id())) {
    if (parts_->debug_problem.empty())
      parts_->debug_problem = info_.path + ": the debug file from the server has another build ID";
    return;
  }
  use_debug_file(std::move(parts));
  parts_->debug_problem.clear();
}

void Module::find_local_debug_file() {
  const std::vector<std::string> folders = debug_folders();
  const auto open_candidate = [&](const std::string& path) { return open_debug_candidate(path); };
  if (has_file()) {
    std::vector<elf::Rejected> rejected;
    auto found =
        elf::find_debug_file(*parts_->image, file_path_, folders, files_.limits(), &rejected, open_candidate);
    if (!found && !root_of_process().empty()) // .gnu_debuglink below the debug folder of its root
      found =
          elf::find_debug_file(*parts_->image, info_.path, folders, files_.limits(), nullptr, open_candidate);
    if (found)
      use_debug_file(opened().add(std::move(found->file), OpenFiles::Role::debug_file, files_.limits()));
    else if (!rejected.empty())
      parts_->debug_problem = rejected.front().path + ": debug file not used: " + rejected.front().why;
    return;
  }
  for (const std::string& folder : folders) {
    const std::string path = by_build_id(folder, build_id(), ".debug");
    auto file = path.empty() ? fail("") : open_candidate(path);
    if (!file) continue; // most files have none: no problem
    auto parts = opened().add(std::move(*file), OpenFiles::Role::debug_file, files_.limits());
    if (!parts->image || parts->image->abi() != &abi_ || !same(parts->image->build_id(), build_id()))
      continue;
    use_debug_file(std::move(parts));
    return;
  }
}

/// `parts` are of a file whose build ID or checksum was compared.
void Module::use_debug_file(std::shared_ptr<ModuleParts> parts) {
  parts->file->accept();
  parts_->debug = std::move(parts);
}

ModuleParts* Module::separate_parts() {
  open_debug_file();
  ModuleParts* const debug = parts_->debug.get();
  return debug && debug->image->abi() == &abi_ ? debug : nullptr;
}

void Module::find_sidecar() {
  const std::string path =
      files_.open_files ? by_build_id(files_.sframe_dir, build_id(), ".sframe") : std::string();
  if (path.empty()) return;
  auto file = open_counted(path, true);
  if (!file) return; // not every module has one
  parts_->sidecar = std::move(*file);
  parts_->sidecar_budget = std::make_unique<Budget>(files_.limits(), parts_->sidecar->bytes().size());
  auto image = elf::Image::parse(parts_->sidecar->bytes(), parts_->sidecar_budget.get());
  if (!image || image->abi() != &abi_)
    parts_->sidecar_problem = path + ": " + (image ? "wrong machine" : image.error().text());
  else if (!same(image->build_id(), build_id()))
    parts_->sidecar_problem = path + ": build ID mismatch";
  else {
    parts_->sidecar->accept();
    parts_->sidecar_image = std::move(*image);
  }
}

/// Of the sidecar, the separate debug file or the module's own image.
const std::string& Module::path_of(const elf::Image* image) const {
  if (parts_->sidecar_image && image == &*parts_->sidecar_image) return parts_->sidecar->path();
  if (parts_->debug && parts_->debug->image && image == &*parts_->debug->image)
    return parts_->debug->file->path();
  return info_.path;
}

UnwindTables& Module::tables() {
  if (tables_used_) return *parts_->tables;
  load();
  // Only missing .eh_frame is a reason to look for a separate file before an address is asked for.
  const elf::Image* const image = sections_image();
  ModuleParts* const separate = image && !image->find_section(".eh_frame") ? separate_parts() : nullptr;
  if (!parts_->tables) {
    make_tables(separate ? &*separate->image : nullptr);
    parts_->debug_frame_tried = separate != nullptr;
  }
  parts_->tables->set_budget(files_.budget.get()); // they may have been made for another process
  tables_used_ = true;
  if (!parts_->sidecar_problem.empty()) problem_ = parts_->sidecar_problem;
  if (problem_.empty() && !parts_->tables->problems().empty()) {
    const TableProblem& first = parts_->tables->problems().front();
    problem_ = path_of(first.image) + ": " + first.text;
  }
  return *parts_->tables;
}

void Module::make_tables(const elf::Image* separate) {
  find_sidecar();
  const TableSources sources = {
      .image = table_image(),
      .image_is_memory = !has_sections(),
      .memory = &memory_,
      .bias = bias(),
      .section = served_section_ ? served_section_->bytes() : std::span<const std::byte>{},
      .sidecar = parts_->sidecar_image ? &*parts_->sidecar_image : nullptr,
      .debug = separate,
      .code = code_.get(),
      .generate = files_.generate_sframe && !code_,
      .budget = files_.budget.get(),
  };
  parts_->tables = std::make_unique<UnwindTables>(sources, abi_);
}

std::vector<std::byte> Module::converted_sidecar() {
  if (!parts_->tables || !parts_->tables->converted()) return {};
  const elf::Image& image = *parts_->image;
  return elf::make_sidecar({.machine = image.machine(),
                            .byte_order = image.byte_order(),
                            .type = image.type(),
                            .flags = image.flags(),
                            .build_id = build_id(),
                            .section = parts_->tables->converted()->bytes,
                            .section_address = parts_->tables->converted()->address});
}

/// Symbols from .gnu_debugdata: an xz-compressed ELF file with the stripped symbols that are not in .dynsym.
void Module::open_debugdata() {
  if (!std::exchange(parts_->debugdata_tried, true)) load_debugdata();
  if (problem_.empty() && !parts_->debugdata_problem.empty())
    problem_ = info_.path + ": .gnu_debugdata: " + parts_->debugdata_problem;
}

void Module::load_debugdata() {
  const elf::Image* image = sections_image();
  const elf::SectionHeader* section = image ? image->find_section(".gnu_debugdata") : nullptr;
  if (!section) return;
  const auto packed = image->contents(*section);
  // Real ones expand to three to five times their size.
  constexpr std::uint64_t least = std::uint64_t{8} << 20, times = 16;
  const std::uint64_t most = least + (packed ? times * packed->bytes().size() : 0);
  // There may be many images in memory, which have the budget of the process.
  Budget* const budget = parts_->budget ? parts_->budget.get() : files_.budget.get();
  const std::uint64_t left = budget ? budget->left(Resource::unpacked_bytes) : most;
  elf::UnpackLimits limits;
  if (!budget || budget->limits() != Limits::off)
    limits = {.size = std::min(most, left), .memory = std::min(most, left), .expansion = 0};
  auto unpacked = packed ? elf::unpack(packed->bytes(), limits) : unexpected(packed.error());
  // Without names, frames are still found: the budget does not end.
  if (budget && packed)
    (void)budget->take(Resource::unpacked_bytes, unpacked ? unpacked->bytes().size() : std::min(most, left));
  if (unpacked && unpacked->damaged()) unpacked = fail("damaged");
  if (!unpacked) {
    parts_->debugdata_problem = unpacked.error().text();
    return;
  }
  parts_->debugdata = std::move(*unpacked);
  const auto inner = elf::Image::parse(parts_->debugdata->bytes(), parts_->budget.get());
  if (inner && inner->abi() == &abi_) parts_->more_symbols = elf::SymbolTable::load(*inner);
}

void Module::load_symbols() {
  load();
  static const elf::SymbolTable none;
  const elf::Image* image = sections_image();
  ModuleParts* from = image ? parts_.get() : nullptr;
  if (!image || !has_full_symbols(*image)) {
    ModuleParts* const separate = separate_parts();
    if (separate && has_full_symbols(*separate->image))
      from = separate;
    else
      open_debugdata();
  }
  symbols_ = from ? &from->symbol_table() : &none;
}

bool Module::has_reached_limit() const {
  return parts_->has_reached_limit();
}

const std::string& Module::problem_so_far() {
  if (!asked_) return no_problem_;
  if (auto reached = parts_->reached_limit())
    problem_ = std::move(*reached);
  else if (auto of_debug = parts_->debug ? parts_->debug->reached_limit() : std::nullopt)
    problem_ = std::move(*of_debug);
  return problem_;
}

/// In an object loaded by a JIT compiler, sections have addresses and symbols have offsets in them.
std::optional<elf::SymbolTable::Match> Module::find_own_symbol(std::uint64_t address) {
  if (procedure_.size && address - procedure_.address < procedure_.size)
    return elf::SymbolTable::Match{&procedure_, address - procedure_.address};
  const elf::Image* const image = table_image();
  if (!image || !image->relocatable()) return symbols_->find(address);
  const auto& sections = parts_->sections_by_address();
  const auto after = std::ranges::upper_bound(sections, address, {}, &elf::SectionHeader::address);
  if (after == sections.begin()) return std::nullopt;
  const elf::SectionHeader& section = **std::prev(after);
  if (address - section.address >= section.size) return std::nullopt;
  return symbols_->find(section.index, address - section.address);
}

std::optional<elf::SymbolTable::Match> Module::find_symbol(std::uint64_t address) {
  if (!symbols_) load_symbols();
  auto match = find_own_symbol(address);
  const auto more = parts_->more_symbols.find(address);
  if (!match || (more && more->offset < match->offset)) match = more;
  if (match && match->offset < match->symbol->size) return match;
  const elf::GoFunctions* const go = go_functions();
  const auto function = go ? go->find(address) : std::nullopt;
  if (!function || function->name.empty()) return match;
  const std::uint64_t start = function->extent.start;
  if (match && match->offset <= address - start) return match;
  constexpr std::uint8_t type_function = 2;
  const elf::Symbol symbol{
      .address = start, .size = function->extent.size, .name = function->name, .type = type_function};
  return elf::SymbolTable::Match{&parts_->go_symbols.emplace(start, symbol).first->second, address - start};
}

/// nullptr if the module has no table of Go's.
const elf::GoFunctions* Module::go_functions() {
  load();
  if (!std::exchange(parts_->go_tried, true))
    if (const elf::Image* const image = sections_image()) parts_->go = elf::GoFunctions::open(*image);
  return parts_->go ? &*parts_->go : nullptr;
}

std::optional<elf::GoFunctions::Line> Module::find_go_line(std::uint64_t address) {
  const elf::GoFunctions* const go = go_functions();
  const auto function = go ? go->find(address) : std::nullopt;
  return function ? go->line(*function, address, files_.budget.get()) : std::nullopt;
}

std::optional<std::uint64_t> Module::find_definition(std::string_view name) {
  open();
  const elf::Image* image = sections_image();
  if (!image) return std::nullopt;
  auto known = parts_->definitions.find(name);
  if (known == parts_->definitions.end())
    known = parts_->definitions.emplace(name, elf::find_definition(*image, name)).first;
  const auto& found = known->second;
  return found ? std::optional(*found + info_.bias.value_or(info_.start)) : std::nullopt;
}

std::optional<elf::PackageNote> Module::package() {
  open();
  return parts_->image ? elf::package_note(*parts_->image) : std::nullopt;
}

std::string Module::verified_path() {
  open();
  const bool is_local = named_ == Named::by_core || named_ == Named::by_user;
  return has_file() && is_local && !info_.build_id.empty() ? file_path_ : std::string();
}

std::optional<elf::File> Module::file_of_build(const std::string& path) {
  if (files_.trust != FileTrust::all || !files_.open_files) return std::nullopt;
  auto file = open_counted(path, false);
  return file ? std::optional(std::move(*file)) : std::nullopt;
}

std::vector<elf::File> Module::files_beside(std::string_view name) {
  namespace fs = std::filesystem;
  std::vector<elf::File> found;
  const fs::path relative{name};
  const bool leaves = std::ranges::any_of(relative, [](const fs::path& part) { return part == ".."; });
  if (relative.empty() || relative.is_absolute() || leaves || !files_.open_files) return found;
  std::vector<std::string> folders;
  for (const std::string& file : {has_file() ? file_path_ : std::string(), debug_file_path()})
    if (!file.empty()) folders.push_back(fs::path(file).parent_path().string());
  folders.insert(folders.end(), files_.more_debug_dirs.begin(), files_.more_debug_dirs.end());
  for (const std::string& folder : folders)
    if (auto file = open_debug_candidate((fs::path(folder) / relative).string()))
      found.push_back(std::move(*file));
  return found;
}

ModuleParts* Module::debug_parts() {
  if (debug_parts_) return *debug_parts_;
  load();
  const elf::Image* image = sections_image();
  ModuleParts* found = parts_.get();
  if (!image || !image->find_section(".debug_info")) {
    ModuleParts* const separate = separate_parts();
    found = separate && separate->image->find_section(".debug_info") ? separate : nullptr;
  }
  debug_parts_ = found;
  return found;
}

const elf::Image* Module::debug_image() {
  ModuleParts* const parts = debug_parts();
  return parts ? &*parts->image : nullptr;
}

/// Found as the debug file names it, in a copy of the debug folders, by its build ID, or on the server. Any
/// of these must have the build ID.
void Module::find_alternate(ModuleParts& debug) {
  const auto link = debug.image ? elf::alternate_link(*debug.image) : std::nullopt;
  if (!link || !debug.file || !files_.open_files) return;
  const std::vector<std::string> folders = debug_folders();
  std::vector<std::string> candidates;
  const std::string& base = debug.file->path();
  if (!link->name.starts_with('/'))
    candidates.push_back(base.substr(0, base.rfind('/') + 1) + link->name); // npos + 1 is 0
  else if (files_.sysroot.empty())
    candidates.push_back(link->name);
  else
    candidates.push_back(elf::path_in_root(files_.sysroot, link->name));
  // Debian has them in .dwz below the debug folder.
  const std::size_t shared = link->name.rfind("/.dwz/");
  for (const std::string& folder : folders) {
    if (shared != link->name.npos) candidates.push_back(folder + link->name.substr(shared));
    candidates.push_back(by_build_id(folder, link->build_id, ".debug"));
  }
  const auto use = [&](Result<elf::File> file) {
    if (!file) return false;
    auto parts = opened().add(std::move(*file), OpenFiles::Role::debug_file, files_.limits());
    if (!parts->image || parts.get() == &debug || !elf::is_linked(*link, *parts->image)) return false;
    parts->file->accept();
    debug.alternate = std::move(parts);
    return true;
  };
  for (const std::string& path : candidates)
    if (!path.empty() && use(open_debug_candidate(path))) return;
  use(fetch(ServedFile::debug_file, link->build_id));
}

const elf::Image* Module::alternate_image() {
  ModuleParts* const debug = debug_parts();
  if (!debug) return nullptr;
  if (!std::exchange(debug->alternate_tried, true)) find_alternate(*debug);
  return debug->alternate ? &*debug->alternate->image : nullptr;
}

std::string Module::file_path() {
  load();
  return has_file() && !file_missing_ ? file_path_ : std::string();
}

std::string Module::debug_file_path() {
  load();
  ModuleParts* const separate = separate_parts();
  return separate && separate->file ? separate->file->path() : std::string();
}

Module::Names Module::names() {
  if (!symbols_) load_symbols();
  const auto is_full = [&](const ModuleParts* parts) {
    return parts && parts->image && has_full_symbols(*parts->image);
  };
  if (procedure_.size || (has_sections() && is_full(parts_.get())) || is_full(parts_->debug.get()))
    return Names::full;
  if (parts_->debugdata) return Names::debugdata;
  const elf::Image* const image = sections_image();
  return image && image->find_section(".dynsym") ? Names::dynamic : Names::none;
}

std::uint64_t Module::debug_image_number() {
  ModuleParts* const parts = debug_parts();
  return parts ? parts->number : 0;
}

std::optional<unwind::SframeMatch> Module::find_sframe(std::uint64_t address) {
  return tables().find_sframe(address - bias());
}

bool Module::find_cfi(std::uint64_t address, unwind::CfiMatch& answer) {
  const std::uint64_t link_address = address - bias();
  if (tables().find_cfi(link_address, answer)) return true;
  return add_debug_frame() && tables().find_cfi(link_address, answer);
}

std::optional<UnwindTables::FoundFde> Module::find_fde(std::uint64_t address) {
  const std::uint64_t link_address = address - bias();
  if (auto found = tables().find_fde(link_address)) return found;
  return add_debug_frame() ? tables().find_fde(link_address) : std::nullopt;
}

/// Adds .debug_frame of the separate debug file to the tables, where they do not suffice. True if there is
/// one that was not there before.
bool Module::add_debug_frame() {
  if (std::exchange(parts_->debug_frame_tried, true)) return false;
  ModuleParts* const separate = separate_parts();
  return separate && parts_->tables->add_debug(*separate->image);
}

std::optional<unwind::GoMatch> Module::find_go(std::uint64_t address) {
  using Kind = unwind::GoMatch::Kind;
  const std::uint64_t link_address = address - bias();
  const elf::GoFunctions* const go = go_functions();
  const auto function = go && go->has_frames() ? go->find(link_address) : std::nullopt;
  if (!function) return std::nullopt;
  const auto size = go->frame_size(*function, link_address, files_.budget.get());
  // The table marks the signal handler, too, but a signal frame follows it.
  const bool is_top = function->is_top && function->name != "runtime.sigtramp";
  if (!size && !is_top) return std::nullopt;
  unwind::GoMatch match{.start = function->extent.start + bias(),
                        .frame_size = size.value_or(0),
                        .sets_sp = function->sets_sp,
                        .is_assembly = function->is_assembly};
  // The table's numbers of these functions differ between versions, their names do not.
  if (is_top)
    match.kind = Kind::top;
  else if (function->name == "runtime.systemstack" && function->sets_sp)
    match.kind = Kind::system_stack;
  else if (function->name == "runtime.mcall" && function->sets_sp)
    match.kind = Kind::no_return;
  else if (function->name == "runtime.sigpanic" || function->name == "runtime.asyncPreempt")
    match.kind = Kind::interrupted;
  return match;
}

std::optional<AddressRange> Module::find_function(std::uint64_t address) {
  auto found = tables().function_at(address - bias());
  if (found) found->start += bias();
  return found;
}

std::optional<AddressRange> Module::find_symbol_extent(std::uint64_t address) {
  const auto match = find_symbol(address - bias());
  if (!match) return std::nullopt;
  return AddressRange{address - match->offset, match->symbol->size};
}

/// The C code of such a file has tables.
bool Module::calls_keep_no_registers() {
  return image() && elf::has_go_code(*image());
}

} // namespace sframe::modules
