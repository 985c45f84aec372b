// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbols by link address, from the first that has a full table: the image, its separate debug file; else
// from the image's dynamic symbols and .gnu_debugdata, whichever has the nearer symbol. A function of Go's
// table is taken where it is nearer than all of them, and the name of a stub where there is nothing else.
// Tables are made at the first question, and shared by the modules of all processes that map the image.

#include "sframe/modules/module_symbols.h"

#include "image_data.h"

#include <algorithm>
#include <iterator>

namespace sframe::modules {

namespace {

bool has_full_symbols(const elf::Image* image) {
  return image && std::ranges::any_of(image->sections(), [](const elf::SectionHeader& s) {
           return s.type == elf::sht_symtab && s.size;
         });
}

Result<elf::Unpacked> unpack_debugdata(const elf::Image& image, const elf::SectionHeader& section,
                                       Budget* budget) {
  const auto packed = image.contents(section);
  // Real ones expand to three to five times their size.
  constexpr std::uint64_t least = std::uint64_t{8} << 20, times = 16;
  const std::uint64_t most = least + (packed ? times * packed->bytes().size() : 0);
  const std::uint64_t left = budget ? budget->left(Resource::unpacked_bytes) : most;
  elf::UnpackLimits limits;
  if (!budget || budget->limits() != Limits::off)
    limits = {.size = std::min(most, left), .memory = std::min(most, left), .expansion = 0};
  auto unpacked = packed ? elf::unpack(packed->bytes(), limits) : unexpected(packed.error());
  // Without names, frames are still found: the budget does not end.
  if (budget && packed)
    (void)budget->take(Resource::unpacked_bytes, unpacked ? unpacked->bytes().size() : std::min(most, left));
  if (unpacked && unpacked->damaged()) return fail("damaged");
  return unpacked;
}

/// `own`: the budget of the image's file. There may be many images in memory, which have that of the process,
/// `shared`.
DebugData load_debugdata(const elf::Image* image, const AbiTraits& abi, Budget* own, Budget* shared) {
  DebugData data;
  const elf::SectionHeader* const section = image ? image->find_section(".gnu_debugdata") : nullptr;
  if (!section) return data;
  auto unpacked = unpack_debugdata(*image, *section, own ? own : shared);
  if (!unpacked) {
    data.problem = unpacked.error().text();
    return data;
  }
  data.contents = std::move(*unpacked);
  const auto inner = elf::Image::parse(data.contents->bytes(), own);
  if (inner && inner->abi() == &abi) data.symbols = elf::SymbolTable::load(*inner);
  return data;
}

std::vector<const elf::SectionHeader*> sections_in_memory(const elf::Image& image) {
  std::vector<const elf::SectionHeader*> sections;
  for (const elf::SectionHeader& section : image.sections())
    if (section.allocated() && section.size) sections.push_back(&section);
  std::ranges::stable_sort(sections, {}, &elf::SectionHeader::address);
  return sections;
}

std::optional<ModuleSymbols::Match> find_in_plt(ModuleFile& file, LinkAddress address) {
  files::SharedImage& own = file.use();
  const elf::Image* const image = file.with_sections(own);
  if (!image || image->relocatable()) return std::nullopt;
  return data_of(own).plt.get([&] { return PltNames::load(*image); }).find(address.value);
}

} // namespace

const elf::SymbolTable& ModuleSymbols::table() {
  return *table_.get([&] { return &load_table(); });
}

const elf::SymbolTable& ModuleSymbols::load_table() {
  static const elf::SymbolTable none;
  files::SharedImage& own = file_.use();
  const elf::Image* const image = file_.with_sections(own);
  if (has_full_symbols(image)) return symbols_of(own);
  files::SharedImage* const separate = debug_.separate();
  if (separate && has_full_symbols(separate->image())) return symbols_of(*separate);
  read_debugdata();
  return image ? symbols_of(own) : none;
}

void ModuleSymbols::read_debugdata() {
  files::SharedImage& own = file_.use();
  const DebugData& data = data_of(own).debugdata.get([&] {
    return load_debugdata(file_.with_sections(own), file_.abi(), own.budget(), file_.access().budget());
  });
  if (!data.problem.empty())
    file_.add_problem(file_.mapping().info().path + ": .gnu_debugdata: " + data.problem);
}

std::optional<ModuleSymbols::Match> ModuleSymbols::find_in_table(LinkAddress address) {
  const std::uint64_t into = address.value - procedure_.address;
  if (procedure_.size && into < procedure_.size) return Match{&procedure_, into};
  const elf::Image* const image = file_.image();
  return image && image->relocatable() ? find_in_object(*image, address) : table().find(address.value);
}

/// In an object loaded by a JIT compiler, sections have addresses and symbols have offsets in them.
std::optional<ModuleSymbols::Match> ModuleSymbols::find_in_object(const elf::Image& object,
                                                                  LinkAddress address) {
  const auto& sections = data_of(file_.use()).loaded_sections.get([&] { return sections_in_memory(object); });
  const auto after = std::ranges::upper_bound(sections, address.value, {}, &elf::SectionHeader::address);
  if (after == sections.begin()) return std::nullopt;
  const elf::SectionHeader& section = **std::prev(after);
  const std::uint64_t offset = address.value - section.address;
  return offset < section.size ? table().find(section.index, offset) : std::nullopt;
}

/// Of two tables, the nearest symbol.
std::optional<ModuleSymbols::Match> ModuleSymbols::find_in_files(LinkAddress address) {
  (void)table(); // reads .gnu_debugdata, if that is needed
  const auto match = find_in_table(address);
  const DebugData* const data = data_of(file_.use()).debugdata.made();
  const auto more = data ? data->symbols.find(address.value) : std::nullopt;
  return !match || (more && more->offset < match->offset) ? more : match;
}

std::optional<ModuleSymbols::Match> ModuleSymbols::find(LinkAddress address) {
  const auto match = find_in_files(address);
  if (match && match->offset < match->symbol->size) return match;
  const elf::GoFunctions* const go = go_functions();
  const auto function = go ? go->find(address.value) : std::nullopt;
  if (!function || function->name.empty()) return match ? match : find_in_plt(file_, address);
  const std::uint64_t start = function->extent.start, into = address.value - start;
  if (match && match->offset <= into) return match;
  constexpr std::uint8_t type_function = 2;
  const elf::Symbol symbol{
      .address = start, .size = function->extent.size, .name = function->name, .type = type_function};
  return Match{&data_of(file_.use()).go_symbols.emplace(start, symbol).first->second, into};
}

std::optional<Address> ModuleSymbols::find_definition(std::string_view name) {
  files::SharedImage& own = file_.look();
  const elf::Image* const image = file_.with_sections(own);
  if (!image) return std::nullopt;
  auto& definitions = data_of(own).definitions;
  auto known = definitions.find(name);
  if (known == definitions.end()) known = definitions.emplace(name, elf::find_definition(*image, name)).first;
  const auto& found = known->second;
  return found ? std::optional(to_process(LinkAddress(*found), file_.mapping().bias())) : std::nullopt;
}

const elf::GoFunctions* ModuleSymbols::go_functions() {
  files::SharedImage& own = file_.use();
  const auto& found = data_of(own).go.get([&] {
    const elf::Image* const image = file_.with_sections(own);
    return image ? elf::GoFunctions::open(*image) : std::nullopt;
  });
  return found ? &*found : nullptr;
}

std::optional<elf::GoFunctions::Line> ModuleSymbols::find_go_line(LinkAddress address) {
  const elf::GoFunctions* const go = go_functions();
  const auto function = go ? go->find(address.value) : std::nullopt;
  return function ? go->line(*function, address.value, file_.access().budget()) : std::nullopt;
}

ModuleSymbols::Source ModuleSymbols::source() {
  (void)table();
  files::SharedImage& own = file_.use();
  const elf::Image* const image = file_.with_sections(own);
  const files::SharedImage* const separate = own.known_debug();
  if (procedure_.size || has_full_symbols(image) || (separate && has_full_symbols(separate->image())))
    return Source::full;
  const DebugData* const data = data_of(own).debugdata.made();
  if (data && data->contents) return Source::debugdata;
  return image && image->find_section(".dynsym") ? Source::dynamic : Source::none;
}

} // namespace sframe::modules
