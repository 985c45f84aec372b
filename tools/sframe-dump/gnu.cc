// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The format of `objdump --sframe`, byte for byte: of GNU binutils 2.47 for versions 2 and 3, of 2.40, the
// last one that supported it, for version 1. Determined by running these programs. Notation:
//
//    CFA  sp+16    register and offset              (fp-8)  the value stored there (flexible FDEs)
//    FP   u        unchanged    c-16  stored at CFA - 16, or (of a flexible FDE) CFA - 16 itself
//    RA   f        at the header's fixed offset     u  not saved     U  the row has a padding word for it
//    r10+0 the value of register 10; r16 the same in version 2, s390x      [s] the return address is signed
//
// Version 1 prints `u` for every fixed offset, omits the fixed offsets from the header and does not apply
// relocations. Both programs stop after the first of concatenated sections.

#include "formats.h"
#include "line.h"

#include <sframe/base/printable.h>

namespace sframe::dump {

namespace {

using Kind = Rule::Kind;

constexpr std::uint8_t old_version = 1;

/// A name as objdump prints it: "^A" for control characters up to U+001F. objdump prints other unsafe
/// characters as they are (DEL with an invalid byte); here these become "\xNN" as in the other formats.
std::string gnu_text(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const TextPiece piece = first_piece(name);
    if (piece.code < 0x20)
      text += {'^', static_cast<char>(name[0] + '@')};
    else
      append_printable(text, name.substr(0, piece.size));
    name.remove_prefix(piece.size);
  }
  return text;
}

/// BFD's name for the object's format. Machines that BFD does not know have generic names.
std::string_view format_name(const Object& object) {
  if (!object.image) return "binary";
  if (const AbiTraits* abi = object.image->abi()) return abi->elf_format;
  return object.image->byte_order() == ByteOrder::little ? "elf64-little" : "elf64-big";
}

class GnuDumper final : public Dumper {
public:
  explicit GnuDumper(const DumperContext& context)
      : out_(context.out), section_wanted_(context.section), header_only_(context.header_only) {}

  bool wants_raw_bytes(std::uint8_t version) const override { return version == old_version; }
  bool first_part_only() const override { return true; }
  bool named_sections_only() const override { return true; }
  bool first_section_only() const override { return true; }

  void begin_archive(const std::string& path) override { out_ << "In archive " << gnu_text(path) << ":\n"; }

  void begin_object(const Object& object) override {
    const std::string name = object.kind == Object::Kind::archive_member ? object.member : object.name();
    out_ << "\n" << gnu_text(name) << ":     file format " << format_name(object) << "\n\n";
  }

  void no_section(const Object&) override {
    out_ << "No " << gnu_text(section_wanted_) << " section present\n\n";
  }
  /// objdump prints this for objects only; for linked files it prints only an error message.
  void empty_section(const Object& object, const ObjectSection&) override {
    if (object.relocatable()) out_ << "\nCan't get contents for section ''.\n";
  }
  void begin_section(const Object&, const ObjectSection& section) override { section_name_ = section.name; }

  void begin_part(const Part& part) override;
  std::optional<Error> function(const EncodedFde& fde, const FunctionLocation& location,
                                RowCursor& rows) override;

private:
  void print_flags(std::uint8_t flags);
  void function_heading(const EncodedFde& fde);
  void row(const EncodedFde& fde, const EncodedRow& encoded, const FrameRow& row);
  void append_register(std::uint16_t reg);
  void append_located(const Rule& rule);
  void append_cfa(const Rule& rule);
  void append_fp(const Rule& rule);
  void append_ra(const Rule& rule, bool padded);

  tool::Output& out_;
  std::string section_wanted_;
  bool header_only_;
  std::string_view section_name_;
  const Header* header_ = nullptr;
  const AbiTraits* abi_ = nullptr;
  bool old_ = false;  ///< version 1
  bool flex_ = false; ///< the current function is of the flexible type
  Line line_;
};

/// objdump's table of names does not depend on the section's version.
std::string_view flag_name(unsigned bit) {
  for (const VersionTraits* version : all_versions())
    for (const FlagTraits& flag : version->flag_names)
      if (flag.bit == bit) return flag.gnu_name;
  return {};
}

void GnuDumper::print_flags(std::uint8_t flags) {
  if (old_ && flags & flag_frame_pointer) flags = flag_frame_pointer; // objdump 2.40 shows only one flag
  out_ << "    Flags: ";
  bool first = true;
  for (unsigned bit = 1; bit <= flags; bit <<= 1) {
    const std::string_view name = flag_name(bit);
    if (!(flags & bit) || name.empty()) continue;
    if (!first) out_ << ",\n           ";
    out_ << name;
    first = false;
  }
  out_ << (first ? "NONE\n" : "\n");
}

/// objdump prints counts and sizes as signed numbers.
std::int32_t as_signed(std::uint32_t value) {
  return static_cast<std::int32_t>(value);
}

void GnuDumper::begin_part(const Part& part) {
  header_ = &part.section.header();
  abi_ = &part.section.abi();
  old_ = header_->version == old_version;
  out_ << "Contents of the SFrame section " << gnu_text(section_name_) << ":\n  Header :\n\n";
  line_.clear();
  out_ << line_.text("    Version: SFRAME_VERSION_").number(header_->version).put('\n').view();
  print_flags(header_->flags);
  line_.clear();
  if (!old_ && header_->fixed_fp_offset)
    line_.text("    CFA fixed FP offset: ").number(header_->fixed_fp_offset).put('\n');
  if (!old_ && header_->fixed_ra_offset)
    line_.text("    CFA fixed RA offset: ").number(header_->fixed_ra_offset).put('\n');
  line_.text("    Num FDEs: ").number(as_signed(header_->num_fdes));
  line_.text("\n    Num FREs: ").number(as_signed(header_->num_fres)).put('\n');
  out_ << line_.view();
  if (!header_only_) out_ << "\n  Function Index :\n";
}

void GnuDumper::function_heading(const EncodedFde& fde) {
  line_.clear();
  line_.text("\n    func idx [").number(fde.number).text("]: pc = 0x").hex(fde.start);
  line_.text(", size = ").number(as_signed(fde.size)).text(" bytes");
  if (fde.signal_frame || flex_) {
    line_.text(", attr = \"").text(fde.signal_frame ? "S" : "").text(flex_ ? "F" : "").put('"');
  }
  if (abi_->signs_return_addresses && fde.pauth_key == PauthKey::b) line_.text(", pauth = B key");
  line_.text(fde.pc_type == PcType::mask ? "\n    STARTPC[m]      " : "\n    STARTPC         ");
  line_.text("CFA       FP        RA           \n");
  out_ << line_.view();
}

std::optional<Error> GnuDumper::function(const EncodedFde& fde, const FunctionLocation&, RowCursor& rows) {
  flex_ = fde.fde_type == FdeType::flex;
  function_heading(fde);
  for (EncodedRow encoded; rows.next(encoded);) {
    const auto decoded = rows.decode(encoded);
    if (!decoded) return decoded.error();
    row(fde, encoded, *decoded);
  }
  return rows.error();
}

/// True if the row has a word of 0 for RA instead of a rule.
bool has_padded_ra(const EncodedRow& row, bool flex) {
  const std::uint32_t place = flex ? 2 : 1;
  return row.word_count() > place && row.control(place) == 0;
}

void GnuDumper::row(const EncodedFde& fde, const EncodedRow& encoded, const FrameRow& row) {
  constexpr std::size_t cfa_at = 22, rule_width = 10,
                        ra_width = 13; // a longer rule shifts the rest to the right
  line_.clear();
  line_.text("    ").hex16(row.offset + (fde.pc_type == PcType::mask ? 0 : fde.start)).text("  ");
  if (row.is_outermost()) {
    out_ << line_.text("RA undefined\n").view();
    return;
  }
  append_cfa(row.cfa);
  line_.pad_to(cfa_at + rule_width);
  const std::size_t fp_at = line_.size();
  append_fp(row.fp);
  line_.pad_to(fp_at + rule_width);
  const std::size_t ra_at = line_.size();
  append_ra(row.ra, has_padded_ra(encoded, flex_));
  line_.text(row.ra_signed ? "[s]" : "   "); // before the padding, so a long rule has it too
  line_.pad_to(ra_at + ra_width).put('\n');
  out_ << line_.view();
}

void GnuDumper::append_register(std::uint16_t reg) {
  if (reg == abi_->sp)
    line_.text("sp");
  else if (reg == abi_->fp)
    line_.text("fp");
  else
    line_.put('r').number(reg);
}

/// A rule with base and offset.
void GnuDumper::append_located(const Rule& rule) {
  if (rule.base == Rule::cfa_base) {
    line_.put('c').offset(rule.offset);
    return;
  }
  if (rule.kind == Kind::value && !flex_) {
    line_.put('r').number(rule.base);
    return;
  }
  if (rule.kind == Kind::stored) line_.put('(');
  append_register(rule.base);
  line_.offset(rule.offset);
  if (rule.kind == Kind::stored) line_.put(')');
}

void GnuDumper::append_cfa(const Rule& rule) {
  if (flex_) return append_located(rule);
  append_register(rule.base);
  line_.put('+').number(rule.offset); // a negative offset is printed as "sp+-8"
}

void GnuDumper::append_fp(const Rule& rule) {
  if (rule.kind == Kind::fixed && !old_ && !flex_)
    line_.put('c').offset(header_->fixed_fp_offset);
  else if (rule.kind == Kind::same || rule.kind == Kind::fixed)
    line_.put('u');
  else
    append_located(rule);
}

void GnuDumper::append_ra(const Rule& rule, bool padded) {
  const bool fixed = rule.kind == Kind::fixed;
  if (old_ && fixed)
    line_.put('u');
  else if (padded && (flex_ || !fixed))
    line_.text(old_ ? "c+0" : "U");
  else if (fixed)
    line_.put('f');
  else if (rule.kind == Kind::same)
    line_.put('u');
  else
    append_located(rule);
}

} // namespace

std::unique_ptr<Dumper> make_gnu_dumper(const DumperContext& context) {
  return std::make_unique<GnuDumper>(context);
}

} // namespace sframe::dump
