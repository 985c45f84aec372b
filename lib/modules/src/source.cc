// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source positions from LLVM's DWARF reader, as far as elf::DebugCheck permits.

#include "sframe/modules/source.h"

#include "sframe/elf/debug_file.h"
#include "sframe/elf/llvm_dwarf.h"
#include "sframe/elf/llvm_dwarf_check.h"

#include <llvm/BinaryFormat/ELF.h>

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sframe::modules {

namespace {

/// A function or an inlined call, as the entry has it.
struct Function {
  /// Demangled; nullptr if it has none that can be read. Empty: not looked up yet.
  std::optional<const std::string*> name;
  std::uint32_t call_file = 0, call_line = 0;
};

/// An image's debug information; `dwarf` is null if it has none that can be read. Keeps names, because each
/// may be used at many addresses and costs its length. A name that the budget did not suffice for is not
/// kept: each sample of a running process has a new one.
struct Debug {
  std::uint64_t image = 0;      ///< its number
  std::vector<std::byte> plain; ///< the file's debug sections, if they are compressed there
  std::unique_ptr<elf::LlvmDwarf> dwarf;
  std::unique_ptr<elf::DebugCheck> check; ///< refers to `dwarf`
  std::unique_ptr<Debug> alternate;       ///< of Module::alternate_image(); nullptr: not opened, or unusable
  bool alternate_tried = false;
  std::map<std::pair<const llvm::DWARFUnit*, std::uint64_t>, std::string>
      files;                                          ///< by number; empty: unknown
  std::unordered_map<const char*, std::string> names; ///< by place in the file
  std::unordered_map<const llvm::DWARFDebugInfoEntry*, Function> functions;
};

/// The path of an empty ELF file. LLVM looks for split debug information in any file named in the debug
/// information, unless it finds a package first: this one.
const std::string& empty_package() {
  static const std::string path = [] {
    const int fd = ::memfd_create("empty", MFD_CLOEXEC);
    llvm::ELF::Elf64_Ehdr header{};
    std::memcpy(header.e_ident, llvm::ELF::ElfMagic, 4);
    header.e_ident[llvm::ELF::EI_CLASS] = llvm::ELF::ELFCLASS64;
    header.e_ident[llvm::ELF::EI_DATA] =
        std::endian::native == std::endian::little ? llvm::ELF::ELFDATA2LSB : llvm::ELF::ELFDATA2MSB;
    header.e_ident[llvm::ELF::EI_VERSION] = llvm::ELF::EV_CURRENT;
    header.e_version = llvm::ELF::EV_CURRENT;
    header.e_type = llvm::ELF::ET_REL;
    header.e_machine = llvm::ELF::EM_X86_64;
    header.e_ehsize = sizeof header;
    if (fd < 0 || ::write(fd, &header, sizeof header) != sizeof header) return std::string();
    const std::string place = "/proc/self/fd/" + std::to_string(fd);
    return ::access(place.c_str(), R_OK) == 0 ? place : std::string();
  }();
  return path;
}

Debug open(Module& module, const elf::Image& image, bool is_alternate = false) {
  Debug debug;
  const FileOptions& files = module.file_options();
  std::span<const std::byte> from = image.bytes();
  if (elf::has_compressed_sections(image)) {
    // Relocations would be needed, too; JIT compilers do not compress sections.
    auto plain =
        image.relocatable()
            ? fail("compressed debug information in a relocatable object is not supported: no source lines")
            : elf::without_compression(image, files.limits() == Limits::off);
    if (!plain) {
      module.add_problem(plain.error().text());
      return debug;
    }
    from = debug.plain = std::move(*plain);
  } else if (!elf::is_fit_for_llvm_dwarf(image)) {
    return debug;
  }
  // If all files are trusted, those named in the debug information are read, too.
  const std::string package = files.trust == FileTrust::all ? std::string() : empty_package();
  if (package.empty() && files.trust != FileTrust::all) return debug;
  using Relocations = elf::LlvmDwarf::Relocations;
  debug.dwarf = elf::LlvmDwarf::open(from, image.relocatable() ? Relocations::Process : Relocations::Ignore,
                                     module.info().path, package);
  if (!debug.dwarf) return debug;
  debug.check =
      std::make_unique<elf::DebugCheck>(debug.dwarf->context(), from.size(), files.limits() == Limits::off);
  if (is_alternate) return debug; // entries are found by their offsets
  if (!debug.check->can_find_units()) {
    module.add_problem(elf::all_lines_cost_too_much);
    debug.check.reset();
    debug.dwarf.reset();
  }
  return debug;
}

/// In an object loaded by a JIT compiler, LLVM needs the section as well.
llvm::object::SectionedAddress location_of(Module& module, std::uint64_t lookup_pc) {
  const std::uint64_t address = lookup_pc - module.bias();
  std::uint64_t section = llvm::object::SectionedAddress::UndefSection;
  if (const elf::Image* image = module.debug_image(); image && image->relocatable())
    for (const elf::SectionHeader& candidate : image->sections())
      if (candidate.executable() && candidate.memory().contains(address)) section = candidate.index;
  return {address, section};
}

/// Looks up one address.
class Lookup {
public:
  Lookup(Module& module, Debug& debug, const llvm::object::SectionedAddress& address)
      : module_(module), debug_(debug), address_(address), budget_(module.file_options().budget.get()) {}

  std::optional<SourceLocation> find();

private:
  static constexpr std::size_t most_inlined = 1024;
  bool take(Resource resource, std::uint64_t amount) { return !budget_ || budget_->take(resource, amount); }
  bool can_look_up(llvm::DWARFUnit& unit);
  /// An entry, and the debug information that it is in.
  struct Entry {
    llvm::DWARFDie die;
    Debug* in = nullptr;
  };
  std::optional<std::vector<Entry>> follow_origins(const llvm::DWARFDie& entry);
  std::optional<Entry> origin_of(const Entry& from, const llvm::DWARFFormValue& value,
                                 llvm::dwarf::Attribute attribute);
  Debug* alternate();
  const char* text_of(const Entry& entry, llvm::dwarf::Attribute attribute);
  bool is_out_of_names() const { return budget_ && budget_->is_used_up(Resource::name_bytes); }
  const Function& function(const llvm::DWARFDie& entry);
  std::optional<const std::string*> name_of(const llvm::DWARFDie& entry);
  std::string file(std::uint64_t number);
  SourceLine line(std::uint64_t file_number, std::uint32_t number);
  SourceLine line_of_address();

  Module& module_;
  Debug& debug_;
  const llvm::object::SectionedAddress address_;
  Budget* const budget_;
  llvm::DWARFCompileUnit* unit_ = nullptr;
  const llvm::DWARFDebugLine::LineTable* lines_ = nullptr;
};

/// False, with a message, for a unit made to cost too much.
bool Lookup::can_look_up(llvm::DWARFUnit& unit) {
  if (debug_.check->can_look_up(unit)) return true;
  module_.add_problem(elf::lines_cost_too_much);
  return false;
}

std::optional<SourceLocation> Lookup::find() {
  if (is_out_of_names() || (budget_ && budget_->is_used_up(Resource::debug_steps))) return std::nullopt;
  unit_ = debug_.dwarf->context().getCompileUnitForCodeAddress(address_.Address);
  if (!unit_ || !can_look_up(*unit_)) return std::nullopt;
  // Without entries, LLVM looks for the function there, too, and crashes.
  if (!unit_->getUnitDIE(false).isValid()) return std::nullopt;
  llvm::DWARFUnit* const split = unit_->getNonSkeletonUnitDIE().getDwarfUnit();
  if (split && split != unit_ && !can_look_up(*split)) return std::nullopt;
  llvm::SmallVector<llvm::DWARFDie, 4> chain; // innermost first
  if (debug_.check->has_functions(split ? *split : *unit_))
    unit_->getInlinedChainForAddress(address_.Address, chain);
  // The way to the function leads through all entries around it.
  std::uint64_t levels = 1;
  for (llvm::DWARFDie at = chain.empty() ? llvm::DWARFDie() : chain.front(); at; at = at.getParent())
    ++levels;
  if (!take(Resource::debug_steps, levels)) return std::nullopt;

  lines_ = debug_.dwarf->context().getLineTableForUnit(unit_);
  SourceLocation location{{}, line_of_address()};
  if (chain.empty()) return location.at.file.empty() ? std::nullopt : std::optional(std::move(location));
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    if (i == most_inlined) {
      module_.add_problem("too many inlined calls at one address: some are left out");
      break;
    }
    const Function& inlined = function(chain[i]);
    const std::string* const name = inlined.name.value_or(nullptr);
    InlinedCall call{name ? *name : std::string(), std::move(location.at)};
    location.at = line(inlined.call_file, inlined.call_line);
    const bool paid = take(Resource::name_bytes, call.function.size());
    location.inlined.push_back(std::move(call));
    if (!paid) break;
  }
  if (location.at.file.empty() && location.inlined.empty()) return std::nullopt;
  return location;
}

/// The debug information that this one shares with other files; nullptr, with a message, if it is missing.
Debug* Lookup::alternate() {
  if (!std::exchange(debug_.alternate_tried, true)) {
    if (const elf::Image* const image = module_.alternate_image()) {
      auto opened = std::make_unique<Debug>(open(module_, *image, true));
      if (opened->dwarf) debug_.alternate = std::move(opened);
    }
    if (!debug_.alternate) {
      const elf::Image* const image = module_.debug_image();
      const auto link = image ? elf::alternate_link(*image) : std::nullopt;
      module_.add_problem(
          "alternate debug file " +
          (link ? link->name + " (build ID " + elf::to_hex(link->build_id) + ")" : std::string()) +
          " not found: some names are left out");
    }
  }
  return debug_.alternate.get();
}

bool is_in_alternate(llvm::dwarf::Form form) {
  using namespace llvm::dwarf;
  return form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8;
}

/// The entry that an attribute refers to. LLVM does not follow references into another file.
std::optional<Lookup::Entry> Lookup::origin_of(const Entry& from, const llvm::DWARFFormValue& value,
                                               llvm::dwarf::Attribute attribute) {
  if (is_in_alternate(value.getForm())) {
    Debug* const other = from.in == &debug_ ? alternate() : nullptr;
    if (!other) return Entry();
    const std::uint64_t offset = value.getRawUValue();
    llvm::DWARFUnit* const unit = other->dwarf->context().getUnitForOffset(offset);
    if (!unit) return Entry();
    if (!other->check->can_read(*unit)) return std::nullopt;
    return Entry{other->dwarf->context().getDIEForOffset(offset), other};
  }
  llvm::DWARFUnit* unit = from.die.getDwarfUnit();
  if (const auto offset = value.getAsDebugInfoReference()) // else it is in the same unit
    unit = unit->isDWOUnit() ? nullptr : from.in->dwarf->context().getUnitForOffset(*offset);
  if (unit && !from.in->check->can_read(*unit)) return std::nullopt;
  return Entry{from.die.getAttributeValueAsReferencedDie(attribute), from.in};
}

/// The entry and those that it refers to for its name. References form chains of at most two in real files.
/// Nothing if there are more than is plausible.
std::optional<std::vector<Lookup::Entry>> Lookup::follow_origins(const llvm::DWARFDie& entry) {
  constexpr std::size_t most = 16;
  std::vector<Entry> entries{{entry, &debug_}};
  for (std::size_t i = 0; i < entries.size(); ++i)
    for (const auto attribute : {llvm::dwarf::DW_AT_abstract_origin, llvm::dwarf::DW_AT_specification}) {
      const auto value = entries[i].die.find(attribute);
      if (!value) continue;
      const auto target = origin_of(entries[i], *value, attribute);
      if (!target) return std::nullopt;
      if (!target->die) continue;
      if (entries.size() == most) return std::nullopt;
      entries.push_back(*target);
    }
  return entries;
}

/// The string of an attribute; nullptr if there is none. Strings may be in the alternate file, too.
const char* Lookup::text_of(const Entry& entry, llvm::dwarf::Attribute attribute) {
  const auto value = entry.die.find(attribute);
  if (!value) return nullptr;
  if (value->getForm() == llvm::dwarf::DW_FORM_GNU_strp_alt ||
      value->getForm() == llvm::dwarf::DW_FORM_strp_sup) {
    Debug* const other = entry.in == &debug_ ? alternate() : nullptr;
    if (!other) return nullptr;
    const llvm::DataExtractor strings = other->dwarf->context().getStringExtractor();
    std::uint64_t offset = value->getRawUValue();
    return offset < strings.size() ? strings.getCStr(&offset) : nullptr;
  }
  auto text = value->getAsCString();
  if (!text) llvm::consumeError(text.takeError());
  return text ? *text : nullptr;
}

const Function& Lookup::function(const llvm::DWARFDie& entry) {
  const auto [at, added] = debug_.functions.try_emplace(entry.getDebugInfoEntry());
  Function& function = at->second;
  std::uint32_t column = 0, discriminator = 0;
  if (added) entry.getCallerFrame(function.call_file, function.call_line, column, discriminator);
  if (!function.name) function.name = name_of(entry);
  return function;
}

/// nullptr if it has none, or it is in a file that is not found. Empty if the budget does not suffice.
std::optional<const std::string*> Lookup::name_of(const llvm::DWARFDie& entry) {
  const auto entries = follow_origins(entry);
  if (!entries) {
    module_.add_problem(elf::lines_cost_too_much);
    return nullptr;
  }
  const char* name = nullptr;
  using namespace llvm::dwarf;
  for (const auto attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name})
    for (const Entry& one : *entries)
      if (!name) name = text_of(one, attribute);
  if (!name) return nullptr;
  if (const auto known = debug_.names.find(name); known != debug_.names.end()) return &known->second;
  if (!take(Resource::name_bytes, std::strlen(name))) return std::nullopt;
  std::string demangled = elf::demangle(name, budget_);
  if (is_out_of_names()) return std::nullopt;
  return &debug_.names.emplace(name, std::move(demangled)).first->second;
}

std::string Lookup::file(std::uint64_t number) {
  const std::pair<const llvm::DWARFUnit*, std::uint64_t> key(unit_, number);
  if (const auto known = debug_.files.find(key); known != debug_.files.end()) return known->second;
  if (is_out_of_names()) return {};
  std::string name;
  using Kind = llvm::DILineInfoSpecifier::FileLineInfoKind;
  if (!lines_ ||
      !lines_->getFileNameByIndex(number, unit_->getCompilationDir(), Kind::AbsoluteFilePath, name))
    name.clear();
  if (!take(Resource::name_bytes, name.size())) return {};
  debug_.files.emplace(key, name);
  return name;
}

SourceLine Lookup::line(std::uint64_t file_number, std::uint32_t number) {
  std::string name = file(file_number);
  if (!take(Resource::name_bytes, name.size())) name.clear();
  return {std::move(name), number};
}

/// Empty if the unit's line table lacks the address.
SourceLine Lookup::line_of_address() {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max(); // UnknownRowIndex
  const std::uint32_t row = lines_ ? lines_->lookupAddress(address_) : none;
  if (row == none) return {};
  SourceLine found = line(lines_->Rows[row].File, lines_->Rows[row].Line);
  return found.file.empty() ? SourceLine() : found;
}

} // namespace

struct DwarfSource::Contexts {
  std::unordered_map<const elf::Image*, Debug> by_image;
};

DwarfSource::DwarfSource() : contexts_(std::make_unique<Contexts>()) {}
DwarfSource::~DwarfSource() = default;

std::optional<SourceLocation> DwarfSource::find(Module& module, std::uint64_t lookup_pc) {
  const elf::Image* const image = module.debug_image();
  if (!image) return std::nullopt;
  Debug& debug = contexts_->by_image[image];
  if (debug.image != module.debug_image_number()) { // the first one, or an image at the place of a former one
    debug.alternate.reset();
    debug.check.reset(); // refers to `dwarf`
    debug.dwarf.reset(); // refers to `plain`
    debug = open(module, *image);
    debug.image = module.debug_image_number();
  }
  if (!debug.dwarf) return std::nullopt;
  return Lookup(module, debug, location_of(module, lookup_pc)).find();
}

} // namespace sframe::modules
