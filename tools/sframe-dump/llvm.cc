// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The format of `llvm-readobj --sframe`, byte for byte: of LLVM 22, which reads version 2. It shows the
// encoding: data words by their position in a row rather than their meaning, and in a relocatable object the
// relocation of each function's start. Determined by running the program; the names of values come from
// LLVM's own tables, the layout from its ScopedPrinter.

#include "formats.h"
#include "stream.h"

#include <sframe/base/printable.h>
#include <sframe/bytes.h>

#include <llvm/BinaryFormat/SFrame.h>
#include <llvm/Object/ELF.h>
#include <llvm/Support/ScopedPrinter.h>

namespace sframe::dump {

namespace {

constexpr std::uint8_t readable_version = 2;

/// DT_SONAME, which llvm-readobj prints for every file.
std::string_view load_name(const elf::Image& image) {
  constexpr std::uint64_t dt_null = 0, dt_strtab = 5, dt_soname = 14;
  constexpr std::string_view none = "<Not found>";
  const elf::Segment* segment = image.find_segment(elf::pt_dynamic);
  if (!segment) return none;
  const auto contents = image.contents(*segment);
  if (!contents) return none;
  const auto entries = contents->bytes();
  std::uint64_t strings = 0, name = 0;
  for (std::size_t at = 0; at + 16 <= entries.size(); at += 16) {
    const std::uint64_t tag = load<std::uint64_t>(&entries[at], image.byte_order());
    const std::uint64_t value = load<std::uint64_t>(&entries[at + 8], image.byte_order());
    if (tag == dt_null) break;
    if (tag == dt_strtab) strings = value;
    if (tag == dt_soname) name = value;
  }
  if (!strings || !name) return none;
  const auto bytes = image.bytes_at(strings + name);
  const void* end = bytes.empty() ? nullptr : std::memchr(bytes.data(), 0, bytes.size());
  if (!end) return none;
  const char* text = reinterpret_cast<const char*>(bytes.data());
  return {text, static_cast<std::size_t>(static_cast<const char*>(end) - text)};
}

class LlvmDumper final : public Dumper {
public:
  explicit LlvmDumper(const DumperContext& context)
      : stream_(context.out), printer_(stream_), header_only_(context.header_only) {}

  bool named_sections_only() const override { return true; }
  bool first_part_only() const override { return true; }

  std::optional<std::string> refuses(const Part& part) const override {
    const unsigned version = part.section.header().version;
    if (version == readable_version) return std::nullopt;
    return "format llvm cannot show version " + std::to_string(version) +
           " (llvm-readobj reads version 2 only)";
  }

  void begin_object(const Object& object) override;
  void end_object() override { stream_.flush(); }
  void empty_section(const Object& object, const ObjectSection& section) override {
    begin_section(object, section);
    end_section();
  }
  void begin_section(const Object& object, const ObjectSection& section) override {
    image_ = object.image;
    printer_.objectBegin(to_ref("SFrame section '" + printable(section.name) + "'"));
  }
  void end_section() override { printer_.objectEnd(); }
  void begin_part(const Part& part) override;
  void end_part(const Problem*) override {
    if (!header_only_) printer_.arrayEnd();
  }
  std::optional<Error> function(const EncodedFde& fde, const FunctionLocation& location,
                                RowCursor& rows) override;

private:
  std::uint64_t print_start(const EncodedFde& fde, const FunctionLocation& location);
  void print_info(const EncodedFde& fde);
  void print_row(const EncodedRow& row, std::uint64_t start);

  OutputStream stream_;
  llvm::ScopedPrinter printer_;
  bool header_only_;
  const elf::Image* image_ = nullptr;
  const Section* section_ = nullptr;
};

void LlvmDumper::begin_object(const Object& object) {
  printer_.startLine() << '\n';
  printer_.printString("File", object.path == "-" ? "<stdin>" : printable(object.name()));
  if (!object.image) return;
  const AbiTraits* abi = object.image->abi();
  printer_.printString("Format", abi ? to_ref(abi->elf_format) : "elf64-unknown");
  printer_.printString("Arch", abi ? to_ref(abi->llvm_arch) : "unknown");
  printer_.printString("AddressSize", "64bit");
  printer_.printString("LoadName", printable(load_name(*object.image)));
}

/// LLVM decides by ABI whether the header's fixed offsets are used, not by their values.
bool has_fixed_ra(const AbiTraits& abi) {
  return abi.fixed_ra_offset != 0;
}

void LlvmDumper::begin_part(const Part& part) {
  section_ = &part.section;
  const Header& header = part.section.header();
  const bool fixed_ra = has_fixed_ra(part.section.abi());
  {
    llvm::DictScope scope(printer_, "Header");
    printer_.printHex("Magic", magic);
    printer_.printEnum("Version", static_cast<llvm::sframe::Version>(header.version),
                       llvm::sframe::getVersions());
    printer_.printFlags("Flags", static_cast<llvm::sframe::Flags>(header.flags), llvm::sframe::getFlags());
    printer_.printEnum("ABI", static_cast<llvm::sframe::ABI>(header.abi), llvm::sframe::getABIs());
    printer_.printNumber("CFA fixed FP offset (unused)", header.fixed_fp_offset);
    printer_.printNumber(fixed_ra ? "CFA fixed RA offset" : "CFA fixed RA offset (unused)",
                         header.fixed_ra_offset);
    printer_.printNumber("Auxiliary header length", header.aux_header_size);
    printer_.printNumber("Num FDEs", header.num_fdes);
    printer_.printNumber("Num FREs", header.num_fres);
    printer_.printNumber("FRE subsection length", header.fre_size);
    printer_.printNumber("FDE subsection offset", header.fde_offset);
    printer_.printNumber("FRE subsection offset", header.fre_offset);
    const auto aux = part.section.aux_header();
    printer_.printHexList("Auxiliary header",
                          llvm::ArrayRef(reinterpret_cast<const std::uint8_t*>(aux.data()), aux.size()));
  }
  if (!header_only_) printer_.arrayBegin("Function Index");
}

std::uint64_t LlvmDumper::print_start(const EncodedFde& fde, const FunctionLocation& location) {
  if (!location.relocation) {
    printer_.printHex("PC", fde.start);
    return fde.start;
  }
  llvm::DictScope scope(printer_, "PC");
  printer_.printString("Relocation",
                       llvm::object::getELFRelocationTypeName(image_->machine(), location.relocation->type));
  printer_.printString("Symbol Name", printable(location.relocation->symbol_name));
  const auto start = static_cast<std::uint64_t>(location.relocation->addend);
  printer_.printHex("Start Address", start);
  return start;
}

void LlvmDumper::print_info(const EncodedFde& fde) {
  llvm::DictScope scope(printer_, "Info");
  printer_.printEnum("FRE Type", static_cast<llvm::sframe::FREType>(fde.fre_type),
                     llvm::sframe::getFRETypes());
  printer_.printEnum("FDE Type", static_cast<llvm::sframe::FDEType>(fde.pc_type),
                     llvm::sframe::getFDETypes());
  if (section_->abi().signs_return_addresses)
    printer_.printEnum("PAuth Key", static_cast<llvm::sframe::AArch64PAuthKey>(fde.pauth_key),
                       llvm::sframe::getAArch64PAuthKeys());
  printer_.printHex("Raw", fde.info);
}

std::optional<Error> LlvmDumper::function(const EncodedFde& fde, const FunctionLocation& location,
                                          RowCursor& rows) {
  const bool mask = fde.pc_type == PcType::mask;
  llvm::DictScope scope(printer_, to_ref("FuncDescEntry [" + std::to_string(fde.number) + "]"));
  const std::uint64_t start = print_start(fde, location);
  printer_.printHex("Size", fde.size);
  printer_.printHex("Start FRE Offset", fde.fre_offset);
  printer_.printNumber("Num FREs", fde.num_fres);
  print_info(fde);
  printer_.printHex(mask ? "Repetitive block size" : "Repetitive block size (unused)", fde.rep_size);
  printer_.printHex("Padding2", fde.padding);
  llvm::ListScope list(printer_, "FREs");
  for (EncodedRow row; rows.next(row);) print_row(row, mask ? 0 : start);
  return rows.error();
}

void LlvmDumper::print_row(const EncodedRow& row, std::uint64_t start) {
  llvm::DictScope scope(printer_, "Frame Row Entry");
  printer_.printHex("Start Address", start + row.offset);
  printer_.printBoolean("Return Address Signed", row.ra_signed());
  printer_.printEnum("Offset Size", static_cast<llvm::sframe::FREOffset>(row.info >> 5 & 3),
                     llvm::sframe::getFREOffsets());
  printer_.printEnum("Base Register", static_cast<llvm::sframe::BaseReg>(row.sp_based()),
                     llvm::sframe::getBaseRegisters());
  const std::uint32_t count = row.word_count();
  std::uint32_t next = 0;
  if (next < count) printer_.printNumber("CFA Offset", row.word(next++));
  if (has_fixed_ra(section_->abi()))
    printer_.printNumber("RA Offset", section_->header().fixed_ra_offset);
  else if (next < count)
    printer_.printNumber("RA Offset", row.word(next++));
  if (next < count) printer_.printNumber("FP Offset", row.word(next++));
  llvm::SmallVector<std::int32_t, 16> extra;
  while (next < count) extra.push_back(row.word(next++));
  if (!extra.empty()) printer_.printList("Extra Offsets", llvm::ArrayRef<std::int32_t>(extra));
}

} // namespace

std::unique_ptr<Dumper> make_llvm_dumper(const DumperContext& context) {
  return std::make_unique<LlvmDumper>(context);
}

} // namespace sframe::dump
