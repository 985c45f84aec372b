// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source positions from LLVM's DWARF reader, which is used in this file only.

#include "sframe/modules/source.h"

#include "sframe/elf/llvm_dwarf.h"

#include <llvm/BinaryFormat/ELF.h>

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <unordered_map>

namespace sframe::modules {

namespace {

/// A module's debug information; `dwarf` is null if it has none that can be read.
struct Debug {
  std::uint64_t module = 0;     ///< its number
  std::vector<std::byte> plain; ///< the file's debug sections, if they are compressed there
  std::unique_ptr<elf::LlvmDwarf> dwarf;
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

Debug open(Module& module) {
  Debug debug;
  const elf::Image* image = module.debug_image();
  if (!image) return debug;
  const FileOptions& files = module.file_options();
  std::span<const std::byte> from = image->bytes();
  if (elf::has_compressed_sections(*image)) {
    // Relocations would be needed, too; JIT compilers do not compress sections.
    auto plain =
        image->relocatable()
            ? fail("compressed debug information in a relocatable object is not supported: no source lines")
            : elf::without_compression(*image, files.limits() == Limits::off);
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
  using Relocations = elf::LlvmDwarf::Relocations;
  debug.dwarf = elf::LlvmDwarf::open(from, image->relocatable() ? Relocations::Process : Relocations::Ignore,
                                     module.info().path, package);
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

std::optional<SourceLocation> DwarfSource::find(Module& module, std::uint64_t lookup_pc) {
  Debug& debug = contexts_->by_module[&module];
  if (debug.module != module.number()) { // the first one, or a module at the place of a former one
    debug.dwarf.reset();                 // refers to `plain`
    debug = open(module);
    debug.module = module.number();
  }
  const llvm::object::SectionedAddress address = location_of(module, lookup_pc);
  llvm::DWARFContext* const dwarf = debug.dwarf ? debug.dwarf->context_for(address.Address) : nullptr;
  if (!dwarf) return std::nullopt;
  using Specifier = llvm::DILineInfoSpecifier;
  const llvm::DIInliningInfo info = dwarf->getInliningInfoForAddress(
      address, Specifier(Specifier::FileLineInfoKind::AbsoluteFilePath, llvm::DINameKind::LinkageName));
  const std::uint32_t count = info.getNumberOfFrames();
  if (count == 0) return std::nullopt;
  SourceLocation location;
  for (std::uint32_t i = 0; i + 1 < count; ++i) {
    const llvm::DILineInfo& inlined = info.getFrame(i);
    location.inlined.push_back({function_of(inlined), line_of(inlined)});
  }
  location.at = line_of(info.getFrame(count - 1));
  if (location.at.file.empty() && location.inlined.empty()) return std::nullopt;
  return location;
}

} // namespace sframe::modules
