// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "pointer.h"

namespace sframe::cfi {
namespace {

constexpr std::uint8_t form_mask = 0x0f;

std::uint64_t read_form(DwarfReader& reader, std::uint8_t form, std::uint8_t address_size) {
  if (form == pe_uleb128) return reader.uleb();
  if (form == pe_sleb128) return static_cast<std::uint64_t>(reader.sleb());
  const std::uint8_t width = pointer_width(form, address_size);
  if (!width) return reader.fail(ErrorKind::bad_pointer_encoding);
  const std::uint64_t value = reader.number(width);
  return form & pe_signed ? sign_extended(value, width) : value;
}

std::uint64_t cut(std::uint64_t value, std::uint8_t address_size) {
  return address_size == 4 ? static_cast<std::uint32_t>(value) : value;
}

} // namespace

std::uint8_t pointer_width(std::uint8_t encoding, std::uint8_t address_size) {
  switch (encoding & form_mask) {
  case pe_absptr:
  case pe_signed: return address_size;
  case pe_udata2:
  case pe_sdata2: return 2;
  case pe_udata4:
  case pe_sdata4: return 4;
  case pe_udata8:
  case pe_sdata8: return 8;
  default: return 0;
  }
}

bool pointer_encoding_known(std::uint8_t encoding) {
  const std::uint8_t form = encoding & form_mask, relation = encoding & relation_mask;
  if (encoding == pe_omit || relation > pe_aligned) return false;
  // pe_aligned cannot be combined with another form.
  if (relation == pe_aligned) return form == pe_absptr;
  return form == pe_uleb128 || form == pe_sleb128 || pointer_width(encoding, 8) != 0;
}

RawPointer read_raw_pointer(DwarfReader& reader, std::uint8_t encoding, const PointerContext& context) {
  RawPointer raw;
  raw.indirect = encoding & pe_indirect;
  if (!pointer_encoding_known(encoding)) {
    reader.fail(ErrorKind::bad_pointer_encoding);
    return raw;
  }
  switch (encoding & relation_mask) {
  case pe_pcrel: raw.base = context.section_address + reader.at(); break;
  case pe_textrel: raw.base = context.bases.text; break;
  case pe_datarel: raw.base = context.bases.data; break;
  case pe_funcrel:
    if (!context.function) {
      reader.fail(ErrorKind::bad_pointer_encoding);
      return raw;
    }
    raw.base = *context.function;
    break;
  case pe_aligned: {
    const std::uint64_t here = context.section_address + reader.at();
    reader.skip(-here & (context.address_size - 1));
    break;
  }
  default: break;
  }
  raw.number = read_form(reader, encoding & form_mask, context.address_size);
  return raw;
}

Pointer read_pointer(DwarfReader& reader, std::uint8_t encoding, const PointerContext& context) {
  const RawPointer raw = read_raw_pointer(reader, encoding, context);
  return {cut(raw.base + raw.number, context.address_size), raw.indirect};
}

std::optional<Pointer> read_optional_pointer(DwarfReader& reader, std::uint8_t encoding,
                                             const PointerContext& context) {
  const RawPointer raw = read_raw_pointer(reader, encoding, context);
  if (raw.number == 0) return std::nullopt;
  return Pointer{cut(raw.base + raw.number, context.address_size), raw.indirect};
}

} // namespace sframe::cfi
