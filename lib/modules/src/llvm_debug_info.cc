// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which debug information belongs to an address: that of the module or its debug file; the package (NAME.dwp)
// with it; for a unit whose split file is not in a package, that file; and the alternate file, which dwz
// makes, for what several files share. LLVM never opens a file by a name in the debug information: where
// there is no package it gets an empty one. Each file is checked before LLVM reads it, and each step that
// LLVM takes for a question is charged to the budget before it is taken.

#include "sframe/modules/llvm_debug_info.h"

#include "sframe/files/debug_file.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/DebugInfo/DWARF/DWARFTypeUnit.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>

namespace sframe::modules {

namespace {

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

/// A descriptor of a file with split debug information that LLVM may read; nullptr if it is none. Sets `size`
/// and `steps`.
std::shared_ptr<const int> open_package(Module& module, const elf::File& file, std::uint64_t& size,
                                        std::uint64_t& steps) {
  const auto image = elf::Image::parse(file.bytes());
  if (!image || elf::has_compressed_sections(*image)) return nullptr;
  if (!elf::is_fit_for_llvm_dwarf(*image, &steps)) {
    module.add_problem(file.path() + ": split debug information is malformed: not used");
    return nullptr;
  }
  size = file.bytes().size();
  file.accept();
  const int fd = file.reopen(); // the file that was checked
  if (fd < 0) return nullptr;
  return {new int(fd), [](const int* opened) {
            ::close(*opened);
            delete opened;
          }};
}

/// `split`: the file of split debug information to use; nullptr: the package with the file's name and ".dwp".
DebugInfo open(Module& module, const elf::Image& image, bool is_alternate = false,
               const elf::File* split = nullptr) {
  DebugInfo debug;
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
    if (!elf::steps_to_find_unit(image)) module.add_problem(elf::all_lines_cost_too_much);
    return debug;
  }
  std::uint64_t package_size = 0;
  const auto use = [&](const elf::File& file) {
    debug.package = open_package(module, file, package_size, debug.package_steps);
    return debug.package != nullptr;
  };
  if (split && !use(*split)) return debug;
  if (!split && !is_alternate)
    (void)std::ranges::any_of(module.debug().beside(std::string(module.name()) + ".dwp"), use);
  const std::string package =
      debug.package ? "/proc/self/fd/" + std::to_string(*debug.package) : empty_package();
  if (package.empty()) return debug;
  using Relocations = elf::LlvmDwarf::Relocations;
  debug.dwarf = elf::LlvmDwarf::open(from, image.relocatable() ? Relocations::Process : Relocations::Ignore,
                                     module.info().path, package);
  if (!debug.dwarf) return debug;
  if (!debug.package) package_size = 0;
  // Images in memory may be many.
  Budget* const shared = module.file().path().empty() ? files.budget.get() : nullptr;
  debug.check = std::make_unique<elf::DebugCheck>(debug.dwarf->context(), image.bytes().size() + package_size,
                                                  files.limits() == Limits::off, shared);
  if (is_alternate) return debug; // entries are found by their offsets
  if (!debug.check->can_find_units()) {
    module.add_problem(elf::all_lines_cost_too_much);
    debug.check.reset();
    debug.dwarf.reset();
  }
  return debug;
}

bool is_in_alternate(llvm::dwarf::Form form) {
  using namespace llvm::dwarf;
  return form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8;
}

} // namespace

llvm::object::SectionedAddress DebugReader::location_of(std::uint64_t lookup_pc) const {
  const std::uint64_t address = lookup_pc - module_.bias();
  std::uint64_t section = llvm::object::SectionedAddress::UndefSection;
  if (const elf::Image* image = module_.debug().image(); image && image->relocatable())
    for (const elf::SectionHeader& candidate : image->sections())
      if (candidate.executable() && candidate.memory().contains(address)) section = candidate.index;
  return {address, section};
}

/// False, with a message, for a unit made to cost too much.
bool DebugReader::can_look_up(llvm::DWARFUnit& unit) {
  if (debug_.check->can_look_up(unit)) return true;
  module_.add_problem(elf::lines_cost_too_much);
  return false;
}

bool DebugReader::visit(const llvm::DWARFDie& die) const {
  constexpr std::uint64_t bytes_per_step = 128;
  const auto* const abbreviation = die.getAbbreviationDeclarationPtr();
  llvm::DWARFUnit* const unit = die.getDwarfUnit();
  if (!budget_ || !abbreviation || !unit) return true;
  const unsigned next = unit->getDIEIndex(die) + 1;
  const std::uint64_t end =
      next < unit->getNumDIEs() ? unit->getDIEAtIndex(next).getOffset() : unit->getNextUnitOffset();
  return budget_->take(Resource::debug_steps,
                       1 + abbreviation->getNumAttributes() + (end - die.getOffset()) / bytes_per_step);
}

llvm::DWARFCompileUnit* DebugReader::find_unit(std::uint64_t address) {
  if (is_out_of_steps()) return nullptr;
  llvm::DWARFCompileUnit* const unit = debug_.dwarf->context().getCompileUnitForCodeAddress(address);
  return unit && can_look_up(*unit) ? unit : nullptr;
}

std::optional<DebugReader::SplitFile> DebugReader::missing_split(llvm::DWARFUnit& unit) {
  const DebugEntry entry{unit.getUnitDIE(false), &debug_};
  if (!entry.die.isValid() || !visit(entry.die)) return {};
  const char* text = text_of(entry, llvm::dwarf::DW_AT_dwo_name);
  if (!text) text = text_of(entry, llvm::dwarf::DW_AT_GNU_dwo_name);
  if (!text || *text == 0 || full_unit(unit) != &unit) return {};
  const char* const folder = *text == '/' ? nullptr : text_of(entry, llvm::dwarf::DW_AT_comp_dir);
  SplitFile file{text, folder ? std::string(folder) + '/' + text : text};
  if (file.path.size() >= PATH_MAX) return {};
  return file;
}

/// Charges what it costs LLVM to look for a unit in the package.
bool DebugReader::take_search() {
  constexpr std::uint64_t steps_per_unit = 8;
  return take(Resource::debug_steps, 1 + steps_per_unit * debug_.package_steps);
}

/// The split unit of a skeleton unit, other units themselves; nullptr if the budget does not suffice.
llvm::DWARFUnit* DebugReader::full_unit(llvm::DWARFUnit& unit) {
  if (const auto known = debug_.full_units.find(&unit); known != debug_.full_units.end())
    return known->second;
  if (unit.getDWOId() && !take_search()) return nullptr;
  llvm::DWARFUnit* const found = unit.getNonSkeletonUnitDIE().getDwarfUnit();
  return debug_.full_units.emplace(&unit, found ? found : &unit).first->second;
}

DebugReader::Chain DebugReader::find_chain(std::uint64_t address) {
  Chain chain;
  if (is_out_of_names()) return chain;
  llvm::DWARFCompileUnit* const unit = find_unit(address);
  if (!unit) return chain;
  // Without entries, LLVM looks for the function there, too, and crashes. It goes through the unit's entry
  // for each address.
  if (const llvm::DWARFDie entry = unit->getUnitDIE(false); !entry.isValid() || !visit(entry)) return chain;
  llvm::DWARFUnit* const full = full_unit(*unit);
  if (!full) return chain;
  if (full != unit && (!debug_.check->can_read_split(*unit, *full) || !can_look_up(*full))) return chain;
  if (debug_.check->has_functions(*full)) {
    if (full == unit && unit->getDWOId() && !take_search()) return chain;
    unit->getInlinedChainForAddress(address, chain.entries);
  }
  // The way to the function leads through all entries around it.
  std::uint64_t levels = 1;
  for (llvm::DWARFDie at = chain.entries.empty() ? llvm::DWARFDie() : chain.entries.front(); at;
       at = at.getParent())
    ++levels;
  if (take(Resource::debug_steps, levels)) chain.unit = unit;
  return chain;
}

/// The debug information that this one shares with other files; nullptr, with a message, if it is missing.
DebugInfo* DebugReader::alternate() {
  if (!debug_.alternate) {
    debug_.alternate.emplace();
    if (const elf::Image* const image = module_.debug().alternate_image()) {
      auto opened = std::make_unique<DebugInfo>(open(module_, *image, true));
      if (opened->dwarf) *debug_.alternate = std::move(opened);
    }
    if (!*debug_.alternate) {
      const elf::Image* const image = module_.debug().image();
      const auto link = image ? files::alternate_link(*image) : std::nullopt;
      module_.add_problem(
          "alternate debug file " +
          (link ? link->name + " (build ID " + elf::to_hex(link->build_id) + ")" : std::string()) +
          " not found: some names are left out");
    }
  }
  return debug_.alternate->get();
}

/// LLVM does not follow references into another file.
std::optional<DebugEntry> DebugReader::find_origin(const DebugEntry& from, const llvm::DWARFFormValue& value,
                                                   llvm::dwarf::Attribute attribute) {
  if (is_in_alternate(value.getForm())) {
    DebugInfo* const other = from.in == &debug_ ? alternate() : nullptr;
    if (!other) return DebugEntry();
    const std::uint64_t offset = value.getRawUValue();
    llvm::DWARFUnit* const unit = other->dwarf->context().getUnitForOffset(offset);
    if (!unit) return DebugEntry();
    if (!other->check->can_list(*unit)) return std::nullopt;
    return DebugEntry{other->dwarf->context().getDIEForOffset(offset), other};
  }
  llvm::DWARFUnit* unit = from.die.getDwarfUnit();
  if (const auto signature = value.getAsSignatureReference()) {
    llvm::DWARFTypeUnit* const types =
        from.in->dwarf->context().getTypeUnitForHash(*signature, unit->isDWOUnit());
    if (!types) return DebugEntry();
    if (!from.in->check->can_list(*types)) return std::nullopt;
    return DebugEntry{from.die.getAttributeValueAsReferencedDie(attribute), from.in};
  }
  if (const auto offset = value.getAsDebugInfoReference()) // else it is in the same unit
    unit = unit->isDWOUnit() ? nullptr : from.in->dwarf->context().getUnitForOffset(*offset);
  if (unit && !from.in->check->can_list(*unit)) return std::nullopt;
  return DebugEntry{from.die.getAttributeValueAsReferencedDie(attribute), from.in};
}

std::optional<DebugEntry> DebugReader::referred(const DebugEntry& from, llvm::dwarf::Attribute attribute) {
  const auto value = from.die.find(attribute);
  if (!value) return DebugEntry();
  constexpr std::uint64_t steps_per_reference = 2; // LLVM searches for the entry
  auto target = find_origin(from, *value, attribute);
  if (target && target->die && !(visit(target->die) && take(Resource::debug_steps, steps_per_reference)))
    return std::nullopt;
  return target;
}

std::optional<std::vector<DebugEntry>> DebugReader::follow_origins(const DebugEntry& entry) {
  constexpr std::size_t most = 16;
  std::vector<DebugEntry> entries{entry};
  for (std::size_t i = 0; i < entries.size(); ++i)
    for (const auto attribute : {llvm::dwarf::DW_AT_abstract_origin, llvm::dwarf::DW_AT_specification}) {
      const auto target = referred(entries[i], attribute);
      if (!target) return std::nullopt;
      if (!target->die) continue;
      if (entries.size() == most) return std::nullopt;
      entries.push_back(*target);
    }
  return entries;
}

const char* DebugReader::text_of(const DebugEntry& entry, llvm::dwarf::Attribute attribute) {
  const auto value = entry.die.find(attribute);
  if (!value) return nullptr;
  const bool is_shared = value->getForm() == llvm::dwarf::DW_FORM_GNU_strp_alt ||
                         value->getForm() == llvm::dwarf::DW_FORM_strp_sup;
  DebugInfo* const in = !is_shared ? entry.in : entry.in == &debug_ ? alternate() : nullptr;
  if (!in) return nullptr;
  const llvm::DWARFContext& context = in->dwarf->context();
  const llvm::DataExtractor strings =
      is_shared ? context.getStringExtractor() : entry.die.getDwarfUnit()->getStringExtractor();
  const char* text = nullptr;
  if (!is_shared)
    text = llvm::dwarf::toString(value, nullptr);
  else if (std::uint64_t offset = value->getRawUValue(); offset < strings.size())
    text = strings.getCStr(&offset);
  // The end of one that has none was looked for in all of a section.
  constexpr std::size_t bytes_per_step = 256;
  const std::size_t read =
      text ? std::strlen(text) : std::max(strings.size(), context.getLineStringExtractor().size());
  return take(Resource::debug_steps, read / bytes_per_step) ? text : nullptr;
}

namespace {

/// The image with this file of split debug information, which is opened once, whatever its names; nullptr if
/// it has none that can be read, or too many were opened.
DebugInfo* open_split(Module& module, const elf::Image& image, DebugInfo& debug, const elf::File& file) {
  constexpr std::size_t most_files = 64; // each has the units of the image
  const auto known = debug.split_files.find(file.id());
  if (known != debug.split_files.end()) return known->second.get();
  if (debug.split_files.size() == most_files) return nullptr;
  std::unique_ptr<DebugInfo>& place = debug.split_files[file.id()];
  auto opened = std::make_unique<DebugInfo>(open(module, image, false, &file));
  if (opened->dwarf) place = std::move(opened);
  return place.get();
}

/// The image with a file of split debug information that has the unit of this skeleton; LLVM compares the
/// unit's ID. nullptr if it is not found.
DebugInfo* find_split(Module& module, const elf::Image& image, DebugInfo& debug, std::uint64_t address,
                      const DebugReader::SplitFile& missing) {
  const auto& [name, path] = missing;
  const auto [place, added] = debug.splits.try_emplace(path, nullptr);
  if (!added) return place->second;
  std::vector<elf::File> candidates = module.debug().beside(name.substr(name.rfind('/') + 1));
  if (name.find('/') != name.npos)
    for (elf::File& more : module.debug().beside(name)) candidates.push_back(std::move(more));
  if (auto named = module.debug().of_build(path)) candidates.push_back(std::move(*named));
  for (const elf::File& candidate : candidates) {
    DebugInfo* const split = open_split(module, image, debug, candidate);
    if (!split) continue;
    DebugReader reader(module, *split);
    if (llvm::DWARFUnit* const unit = reader.find_unit(address); unit && reader.missing_split(*unit))
      continue;
    return place->second = split;
  }
  return nullptr;
}

/// That of the unit of the address; nullptr if it has none.
DebugInfo* split_of(Module& module, const elf::Image& image, DebugInfo& debug, std::uint64_t lookup_pc) {
  const std::uint64_t address = lookup_pc - module.bias();
  DebugReader reader(module, debug);
  llvm::DWARFUnit* const unit = reader.find_unit(address);
  if (!unit) return nullptr;
  if (const auto known = debug.split_units.find(unit); known != debug.split_units.end()) return known->second;
  const auto missing = reader.missing_split(*unit);
  DebugInfo* const found = missing ? find_split(module, image, debug, address, *missing) : nullptr;
  if (!reader.is_out_of_steps()) debug.split_units.emplace(unit, found);
  return found;
}

} // namespace

struct DebugInfoCache::Images {
  std::unordered_map<const elf::Image*, DebugInfo> by_image;
};

DebugInfoCache::DebugInfoCache() : images_(std::make_unique<Images>()) {}
DebugInfoCache::~DebugInfoCache() = default;

DebugInfo* find_debug_info(Module& module, DebugInfoCache& cache, std::uint64_t lookup_pc) {
  const elf::Image* const image = module.debug().image();
  if (!image) return nullptr;
  DebugInfo& debug = cache.images_->by_image[image];
  if (debug.image !=
      module.debug().image_number()) { // the first one, or an image at the place of a former one
    debug.alternate.reset();
    debug.split_units.clear();
    debug.splits.clear();
    debug.split_files.clear();
    debug.check.reset(); // refers to `dwarf`
    debug.dwarf.reset(); // refers to `plain`
    debug = open(module, *image);
    debug.image = module.debug().image_number();
  }
  if (!debug.dwarf) return nullptr;
  DebugInfo* const split = split_of(module, *image, debug, lookup_pc);
  return split ? split : &debug;
}

} // namespace sframe::modules
