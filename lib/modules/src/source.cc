// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source positions from LLVM's DWARF reader, which is used in this file only.

#include "sframe/modules/source.h"

#include "sframe/elf/llvm_input.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ELFTypes.h>
#include <llvm/Object/ObjectFile.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <unordered_map>

namespace sframe::modules {

namespace {

/// A module's debug information; `dwarf` is null if it has none that can be read.
struct Debug {
  std::uint64_t module = 0;     ///< its number
  std::vector<std::byte> plain; ///< the file's debug sections, if they are compressed there
  std::unique_ptr<llvm::object::ObjectFile> object;
  std::unique_ptr<llvm::DWARFContext> dwarf;
};

bool is_debug(const elf::Section& section) {
  return section.name.starts_with(".debug_");
}

/// LLVM decompresses any section with the flag, regardless of its name.
bool is_compressed(const elf::Section& section) {
  return section.flags & elf::shf_compressed;
}

/// Calls `f` with an object of LLVM's type family for ELF files of that byte order.
template <class F> auto with_types(ByteOrder order, F&& f) {
  return order == ByteOrder::little ? f(llvm::object::ELF64LE()) : f(llvm::object::ELF64BE());
}

/// An ELF file with the debug sections of `image`, uncompressed. LLVM trusts the decompressed size in the
/// file and ends the program if it cannot allocate it. Its data structures for debug information are many
/// times as large, so the size limit is lower here than elsewhere.
Result<std::vector<std::byte>> without_compression(const elf::Image& image, bool unlimited) {
  constexpr std::uint64_t least = std::uint64_t{2} << 20, times = 8;
  std::uint64_t left = least + times * image.bytes().size();
  if (unlimited) left = std::numeric_limits<std::uint64_t>::max();
  constexpr int most_sections = 64; // DWARF has less than 20
  int count = 0;
  for (const elf::Section& section : image.sections()) {
    if (!is_debug(section)) continue;
    constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();
    const std::uint64_t size =
        is_compressed(section) ? elf::claimed_size(image, section).value_or(unknown) : section.size;
    if (size > left || ++count > most_sections)
      return fail("implausible decompressed size: no source lines", section.name);
    left -= size;
  }
  return with_types(image.byte_order(), [&]<class Types>(Types) -> Result<std::vector<std::byte>> {
    using Header = typename Types::Ehdr;
    using SectionHeader = typename Types::Shdr;
    std::vector<std::byte> out(sizeof(Header));
    std::vector<SectionHeader> headers(1);
    std::memset(headers.data(), 0, sizeof(SectionHeader));
    std::string names(1, '\0');
    const auto add = [&](std::string_view name, std::uint32_t type, std::span<const std::byte> bytes) {
      SectionHeader header;
      std::memset(&header, 0, sizeof header);
      header.sh_name = static_cast<std::uint32_t>(names.size());
      header.sh_type = type;
      header.sh_offset = out.size();
      header.sh_size = bytes.size();
      header.sh_addralign = 1;
      headers.push_back(header);
      names.append(name).push_back('\0');
      out.insert(out.end(), bytes.begin(), bytes.end());
    };
    for (const elf::Section& section : image.sections()) {
      if (!is_debug(section)) continue;
      const auto contents = image.contents(section);
      if (!contents) return std::unexpected(contents.error());
      add(section.name, elf::sht_progbits, contents->bytes());
    }
    constexpr std::string_view of_names = ".shstrtab";
    const std::size_t names_size = names.size() + of_names.size() + 1;
    add(of_names, elf::sht_strtab, {});
    headers.back().sh_offset = out.size();
    headers.back().sh_size = names_size;
    const auto text = std::as_bytes(std::span(names));
    out.insert(out.end(), text.begin(), text.end());
    out.resize((out.size() + 7) & ~std::size_t{7});
    Header header;
    std::memset(&header, 0, sizeof header);
    std::memcpy(&header, image.bytes().data(), llvm::ELF::EI_NIDENT);
    header.e_type = llvm::ELF::ET_EXEC;
    header.e_machine = image.machine();
    header.e_version = llvm::ELF::EV_CURRENT;
    header.e_ehsize = sizeof header;
    header.e_shoff = out.size();
    header.e_shentsize = sizeof(SectionHeader);
    header.e_shnum = static_cast<std::uint16_t>(headers.size());
    header.e_shstrndx = static_cast<std::uint16_t>(headers.size() - 1);
    std::memcpy(out.data(), &header, sizeof header);
    const auto table = std::as_bytes(std::span(headers));
    out.insert(out.end(), table.begin(), table.end());
    return out;
  });
}

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

Debug open(Module& module) {
  Debug debug;
  const elf::Image* image = module.debug_image();
  if (!image) return debug;
  const FileOptions& files = module.file_options();
  std::span<const std::byte> from = image->bytes();
  if (std::ranges::any_of(image->sections(), is_compressed)) {
    // Relocations would be needed, too; JIT compilers do not compress sections.
    auto plain = image->relocatable()
                     ? fail("compressed debug information in a relocatable object is not supported: no source lines")
                     : without_compression(*image, files.budget && files.budget->limits() == Limits::off);
    if (!plain) {
      module.add_problem(plain.error().text());
      return debug;
    }
    from = debug.plain = std::move(*plain);
  } else if (!elf::is_fit_for_llvm_dwarf(*image)) {
    return debug;
  }
  // If all files are trusted, those named in the debug information are read, too.
  const std::string package = files.trust == FileTrust::all ? std::string() : empty_package();
  if (package.empty() && files.trust != FileTrust::all) return debug;
  const llvm::StringRef bytes(reinterpret_cast<const char*>(from.data()), from.size());
  auto object =
      llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, module.info().path));
  if (!object) {
    llvm::consumeError(object.takeError());
    return debug;
  }
  debug.object = std::move(*object);
  // Damaged parts leave gaps that are not reported.
  const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  using Relocations = llvm::DWARFContext::ProcessDebugRelocations;
  debug.dwarf = llvm::DWARFContext::create(*debug.object,
                                           image->relocatable() ? Relocations::Process : Relocations::Ignore,
                                           nullptr, package, ignore, ignore);
  return debug;
}

/// In an object loaded by a JIT compiler, LLVM needs the section as well.
llvm::object::SectionedAddress place_of(Module& module, std::uint64_t lookup_pc) {
  const std::uint64_t address = lookup_pc - module.bias();
  std::uint64_t section = llvm::object::SectionedAddress::UndefSection;
  if (const elf::Image* image = module.debug_image(); image && image->relocatable())
    for (const elf::Section& candidate : image->sections())
      if (candidate.executable() && address - candidate.address < candidate.size) section = candidate.index;
  return {address, section};
}

SourceLine line_of(const llvm::DILineInfo& info) {
  if (info.FileName == llvm::DILineInfo::BadString) return {{}, info.Line};
  return {info.FileName, info.Line};
}

/// Empty if the name is in a file that is not read, such as dwz's alternate debug file.
std::string function_of(const llvm::DILineInfo& info) {
  return info.FunctionName == llvm::DILineInfo::BadString ? std::string() : elf::demangle(info.FunctionName);
}

} // namespace

struct DwarfSource::Contexts {
  std::unordered_map<const Module*, Debug> by_module;
};

DwarfSource::DwarfSource() : contexts_(std::make_unique<Contexts>()) {}
DwarfSource::~DwarfSource() = default;

std::optional<SourcePlace> DwarfSource::find(Module& module, std::uint64_t lookup_pc) {
  Debug& debug = contexts_->by_module[&module];
  if (debug.module != module.number()) { // the first one, or a module at the place of a former one
    // Destroy first what refers to the object.
    debug.dwarf.reset();
    debug = open(module);
    debug.module = module.number();
  }
  llvm::DWARFContext* dwarf = debug.dwarf.get();
  if (!dwarf) return std::nullopt;
  const llvm::object::SectionedAddress address = place_of(module, lookup_pc);
  // LLVM also looks for the function in a unit without entries, and crashes there.
  llvm::DWARFCompileUnit* const unit = dwarf->getCompileUnitForCodeAddress(address.Address);
  if (unit && !unit->getUnitDIE(false).isValid()) return std::nullopt;
  using Specifier = llvm::DILineInfoSpecifier;
  const llvm::DIInliningInfo info = dwarf->getInliningInfoForAddress(
      address, Specifier(Specifier::FileLineInfoKind::AbsoluteFilePath, llvm::DINameKind::LinkageName));
  const std::uint32_t count = info.getNumberOfFrames();
  if (count == 0) return std::nullopt;
  SourcePlace place;
  for (std::uint32_t i = 0; i + 1 < count; ++i) {
    const llvm::DILineInfo& inlined = info.getFrame(i);
    place.inlined.push_back({function_of(inlined), line_of(inlined)});
  }
  place.at = line_of(info.getFrame(count - 1));
  if (place.at.file.empty() && place.inlined.empty()) return std::nullopt;
  return place;
}

} // namespace sframe::modules
