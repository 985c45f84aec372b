// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of both kinds of section. They differ in three respects only: the mark of a CIE, the base of the
// CIE pointer, and that a zero length ends .eh_frame. In the 64-bit format the CIE pointer has 8 bytes in
// .debug_frame (DWARF 5, section 7.4) and 4 in .eh_frame (Linux Standard Base 5.0, section 10.6.1).

#include "sframe/cfi/section.h"

#include "pointer.h"
#include "sframe/base/text.h"
#include "sframe/cfi/reader.h"

#include <string_view>

namespace sframe::cfi {
namespace {

constexpr std::uint32_t extended_length = 0xffffffff;
constexpr std::uint32_t first_reserved_length = 0xfffffff0;
/// Real augmentations have up to six letters; a limit keeps the cost of parsing a CIE constant.
constexpr std::uint32_t max_augmentation = 32;

/// The bounds of an entry.
struct Extent {
  std::uint64_t offset = 0;    ///< of the length field
  std::uint64_t id_offset = 0; ///< after it: the CIE id or pointer
  std::uint64_t end = 0;
  bool dwarf64 = false;

  bool empty() const { return id_offset == end; }
};

/// The field after the length: a CIE's mark, or an FDE's reference to its CIE.
struct Id {
  bool is_cie = false;
  std::uint64_t cie_offset = 0;
  std::uint64_t body = 0; ///< offset of what follows
};

DwarfReader reader_at(const CfiSection& section, std::uint64_t at, std::uint64_t limit) {
  return {section.bytes(), at, limit, section.abi().byte_order};
}

expected<Extent, Error> read_extent(const CfiSection& section, std::uint64_t offset) {
  DwarfReader reader = reader_at(section, offset, section.bytes().size());
  Extent extent{.offset = offset};
  std::uint64_t length = reader.fixed<std::uint32_t>();
  extent.dwarf64 = length == extended_length;
  if (extent.dwarf64)
    length = reader.fixed<std::uint64_t>();
  else if (length >= first_reserved_length)
    return unexpected(Error{ErrorKind::bad_length, offset});
  if (reader.failed()) return unexpected(reader.error());
  if (length > reader.left()) return unexpected(Error{ErrorKind::bad_length, offset});
  extent.id_offset = reader.at();
  extent.end = reader.at() + length;
  return extent;
}

expected<Id, Error> read_id(const CfiSection& section, const Extent& extent) {
  DwarfReader reader = reader_at(section, extent.id_offset, extent.end);
  Id id;
  if (section.kind() == SectionKind::eh_frame) {
    const std::uint32_t back = reader.fixed<std::uint32_t>();
    id.is_cie = back == 0;
    if (!reader.failed() && back > extent.id_offset)
      return unexpected(Error{ErrorKind::bad_cie_pointer, extent.id_offset});
    id.cie_offset = extent.id_offset - back;
  } else if (extent.dwarf64) {
    id.cie_offset = reader.fixed<std::uint64_t>();
    id.is_cie = id.cie_offset == ~std::uint64_t{0};
  } else {
    id.cie_offset = reader.fixed<std::uint32_t>();
    id.is_cie = id.cie_offset == 0xffffffff;
  }
  if (reader.failed()) return unexpected(reader.error());
  id.body = reader.at();
  return id;
}

/// The letters of an augmentation after 'z' (or all of them without 'z'), with their data.
void read_augmentation(const CfiSection& section, std::string_view letters, DwarfReader& reader, Cie& cie) {
  const PointerContext context{section.address(), section.bases(), std::nullopt, cie.address_size};
  for (const char letter : letters) {
    switch (letter) {
    case 'R': cie.fde_encoding = reader.u8(); break;
    case 'L': cie.lsda_encoding = reader.u8(); break;
    case 'P': {
      const std::uint8_t encoding = reader.u8();
      if (encoding != pe_omit) cie.personality = read_optional_pointer(reader, encoding, context);
      break;
    }
    case 'S': cie.signal_frame = true; break;
    case 'B': cie.b_key = true; break;
    case 'G': cie.tagged_stack = true; break;
    default: cie.unknown_augmentation = true; return;
    }
  }
}

std::string_view read_letters(DwarfReader& reader, const CfiSection& section, Cie& cie) {
  const std::uint64_t begin = reader.at();
  while (reader.u8() != 0) {
    if (reader.at() - begin > max_augmentation) reader.fail(ErrorKind::unknown_augmentation);
  }
  if (reader.failed()) return {};
  cie.augmentation = section.bytes().subspan(begin, reader.at() - begin - 1);
  return as_text(cie.augmentation);
}

void read_sizes(DwarfReader& reader, Cie& cie) {
  cie.address_size = reader.u8();
  cie.segment_size = reader.u8();
  const bool sound = (cie.address_size == 4 || cie.address_size == 8) && cie.segment_size <= 8;
  if (!sound) reader.fail(ErrorKind::bad_address_size);
}

void read_return_register(DwarfReader& reader, Cie& cie) {
  const std::uint64_t number = cie.version == 1 ? reader.u8() : reader.uleb();
  if (number > 0xffffffff) reader.fail(ErrorKind::bad_register);
  cie.return_register = static_cast<std::uint32_t>(number);
}

expected<Cie, Error> parse_cie(const CfiSection& section, const Extent& extent, std::uint64_t body) {
  DwarfReader reader = reader_at(section, body, extent.end);
  Cie cie;
  cie.offset = extent.offset;
  cie.version = reader.u8();
  if (!reader.failed() && cie.version != 1 && cie.version != 3 && cie.version != 4)
    return unexpected(Error{ErrorKind::bad_version, body});
  std::string_view letters = read_letters(reader, section, cie);
  if (cie.version == 4) read_sizes(reader, cie);
  if (reader.failed()) return unexpected(reader.error());
  // GCC 2's "eh": a pointer to exception data precedes the alignment factors.
  if (letters.starts_with("eh")) {
    reader.skip(cie.address_size);
    letters.remove_prefix(2);
  }
  cie.code_alignment = reader.uleb();
  cie.data_alignment = reader.sleb();
  read_return_register(reader, cie);
  if (letters.starts_with('z')) {
    cie.has_augmentation_data = true;
    const std::uint64_t size = reader.uleb();
    const std::uint64_t data = reader.at();
    reader.skip(size);
    if (reader.failed()) return unexpected(reader.error());
    DwarfReader inner = reader_at(section, data, data + size);
    read_augmentation(section, letters.substr(1), inner, cie);
    if (inner.failed()) return unexpected(inner.error());
  } else {
    read_augmentation(section, letters, reader, cie);
    if (cie.unknown_augmentation) reader.fail(ErrorKind::unknown_augmentation);
  }
  if (!reader.failed() && !pointer_encoding_known(cie.fde_encoding))
    reader.fail(ErrorKind::bad_pointer_encoding);
  if (reader.failed()) return unexpected(reader.error());
  cie.instructions_offset = reader.at();
  cie.instructions = section.bytes().subspan(reader.at(), reader.left());
  return cie;
}

/// Start and size. The size has the form of the start but no base, and is never negative: the sign bit of a
/// fixed form is part of the number.
bool read_range(DwarfReader& reader, const PointerContext& context, const Cie& cie, Fde& fde) {
  const Pointer start = read_pointer(reader, cie.fde_encoding, context);
  if (start.indirect) reader.fail(ErrorKind::indirect_start);
  fde.start = start.value;
  const std::uint8_t form = cie.fde_encoding & 0x0f;
  if (form == pe_sleb128 || form == pe_uleb128)
    fde.size = read_pointer(reader, form, context).value;
  else
    fde.size = reader.number(pointer_width(form, cie.address_size));
  if (fde.start + fde.size < fde.start) reader.fail(ErrorKind::range_overflow);
  return !reader.failed();
}

void read_fde_augmentation(DwarfReader& reader, const CfiSection& section, PointerContext context, Fde& fde) {
  const std::uint64_t size = reader.uleb();
  const std::uint64_t data = reader.at();
  reader.skip(size);
  if (reader.failed() || size == 0 || fde.cie.lsda_encoding == pe_omit) return;
  context.function = fde.start;
  DwarfReader inner = reader_at(section, data, data + size);
  fde.lsda = read_optional_pointer(inner, fde.cie.lsda_encoding, context);
  if (inner.failed()) reader.fail(inner.kind());
}

/// Reads an FDE with the CIE fde.cie.
expected<void, Error> parse_fde(const CfiSection& section, const Extent& extent, std::uint64_t body,
                                Fde& fde) {
  DwarfReader reader = reader_at(section, body, extent.end);
  const Cie& cie = fde.cie;
  fde.offset = extent.offset;
  fde.lsda.reset();
  reader.skip(cie.segment_size);
  const PointerContext context{section.address(), section.bases(), std::nullopt, cie.address_size};
  if (!read_range(reader, context, cie, fde)) return unexpected(reader.error());
  if (cie.has_augmentation_data) read_fde_augmentation(reader, section, context, fde);
  if (reader.failed()) return unexpected(reader.error());
  fde.instructions_offset = reader.at();
  fde.instructions = section.bytes().subspan(reader.at(), reader.left());
  return {};
}

} // namespace

FdeCursor CfiSection::fdes() const {
  return FdeCursor(*this);
}

std::vector<std::uint64_t> CfiSection::parts(std::uint64_t part_size) const {
  std::vector<std::uint64_t> starts = {0};
  for (std::uint64_t at = 0; at < bytes_.size();) {
    const auto extent = read_extent(*this, at);
    if (!extent) break; // the last part's cursor reaches it
    if (at - starts.back() >= part_size) starts.push_back(at);
    at = extent->end;
  }
  return starts;
}

expected<Cie, Error> CfiSection::cie(std::uint64_t offset) const {
  const auto extent = read_extent(*this, offset);
  if (!extent || extent->empty()) return unexpected(Error{ErrorKind::bad_cie_pointer, offset});
  const auto id = read_id(*this, *extent);
  if (!id) return unexpected(id.error());
  if (!id->is_cie) return unexpected(Error{ErrorKind::bad_cie_pointer, offset});
  return parse_cie(*this, *extent, id->body);
}

expected<Fde, Error> CfiSection::fde(std::uint64_t offset) const {
  const auto extent = read_extent(*this, offset);
  if (!extent) return unexpected(extent.error());
  const auto id = read_id(*this, *extent);
  if (!id) return unexpected(id.error());
  if (id->is_cie) return unexpected(Error{ErrorKind::bad_cie_pointer, offset});
  const auto its_cie = cie(id->cie_offset);
  if (!its_cie) return unexpected(its_cie.error());
  Fde fde;
  fde.cie = *its_cie;
  if (const auto parsed = parse_fde(*this, *extent, id->body, fde); !parsed)
    return unexpected(parsed.error());
  return fde;
}

expected<const Fde*, Error> FdeCursor::next() {
  while (at_ < end_) {
    const auto extent = read_extent(section_, at_);
    if (!extent) {
      at_ = end_;
      return unexpected(extent.error());
    }
    at_ = extent->end;
    if (extent->empty()) {
      terminated_ |= section_.kind() == SectionKind::eh_frame;
      continue;
    }
    const auto id = read_id(section_, *extent);
    if (!id) return unexpected(id.error());
    if (id->is_cie) continue;
    if (!cie_known_ || fde_.cie.offset != id->cie_offset) {
      cie_known_ = false;
      const auto cie = section_.cie(id->cie_offset);
      if (!cie) return unexpected(cie.error());
      fde_.cie = *cie;
      cie_known_ = true;
    }
    if (const auto parsed = parse_fde(section_, *extent, id->body, fde_); !parsed)
      return unexpected(parsed.error());
    fde_.after_terminator = terminated_;
    return &fde_;
  }
  return nullptr;
}

} // namespace sframe::cfi
