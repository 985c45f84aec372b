// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The format of `objdump --sframe`, byte for byte: sframe/listing/gnu.h has the versions and the notation.
// Objdump does not apply the relocations of version 1. It stops after the first of concatenated sections.

#include "formats.h"

#include <sframe/base/printable.h>
#include <sframe/listing/gnu.h>

namespace sframe::dump {

namespace {

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

  bool needs_raw_bytes(std::uint8_t version) const override { return version == old_version; }
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
  tool::Output& out_;
  std::string section_wanted_;
  bool header_only_;
  std::string_view section_name_;
  std::optional<listing::GnuListing> listing_;
};

void GnuDumper::begin_part(const Part& part) {
  out_ << "Contents of the SFrame section " << gnu_text(section_name_) << ":";
  listing_.emplace(part.section, [this](std::string_view text) { out_ << text; });
  listing_->header();
  if (!header_only_) listing_->index_heading();
}

std::optional<Error> GnuDumper::function(const EncodedFde& fde, const FunctionLocation&, RowCursor& rows) {
  return listing_->function(fde, rows);
}

} // namespace

std::unique_ptr<Dumper> make_gnu_dumper(const DumperContext& context) {
  return std::make_unique<GnuDumper>(context);
}

} // namespace sframe::dump
