// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Formatter prints one value by following the entries of its type: print() decides by the tag, after
// typedefs and qualifiers (plain()). An example, for struct { int n; const char* name; } and for an array:
//
//   {n = 3, name = 0x55d0c0de2004 "abc"}        {1, 2, 0 <repeats 98 times>}
//
// Everything is limited: the depth, the elements and the characters by Settings, the types that are followed
// by most_qualifiers, the entries of the debug information by the budget. Text that is full ends in "..."; a
// part that cannot be read is <why>, and the others are printed.

#include "format.h"

#include "sframe/base/printable.h"
#include "sframe/base/problem.h"
#include "sframe/base/text.h"
#include "sframe/modules/symbols.h"
#include "sframe/unwind/abi.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace sframe::variables {

namespace {

using namespace llvm::dwarf;

constexpr unsigned most_qualifiers = 32;        ///< of a type, typedefs included
constexpr std::size_t most_name = 200;          ///< bytes of a name in a value
constexpr std::uint32_t fewest_repeats = 10;    ///< of an element, that are shown as a number
constexpr std::uint32_t most_repeats = 100'000; ///< that are looked for

template <class... Arguments> std::string formatted(const char* format, Arguments... arguments) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), format, arguments...);
  return text.data();
}

std::string decimal(std::uint64_t value, bool is_signed) {
  return is_signed ? std::to_string(static_cast<std::int64_t>(value)) : std::to_string(value);
}

/// As gdb: enough digits to tell all numbers apart. Not by llvm::APFloat, which rounds ties away from zero:
/// the last digit of 2^-13 would be another one.
std::string floating(double value, int digits, std::uint64_t fraction) {
  if (std::isnan(value)) return (std::signbit(value) ? "-nan(" : "nan(") + hex(fraction) + ")";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return formatted("%.*g", digits, value);
}

/// The formats of floating-point numbers that have one meaning on all machines here: binary32 and binary64.
std::optional<std::string> floating(std::uint64_t bits, std::size_t size) {
  if (size == 4)
    return floating(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))), 9,
                    bits & 0x7f'ffff);
  if (size == 8) return floating(std::bit_cast<double>(bits), 17, bits & 0xf'ffff'ffff'ffff);
  return std::nullopt;
}

/// binary128, if this machine can compute with the value exactly.
std::optional<std::string> quadruple(std::uint64_t high, std::uint64_t low) {
  const int exponent = static_cast<int>(high >> 48 & 0x7fff);
  const std::uint64_t fraction = high & 0xffff'ffff'ffff;
  if (exponent == 0x7fff) return fraction || low ? "nan" : high >> 63 ? "-inf" : "inf";
  const std::uint64_t top = fraction | (exponent ? std::uint64_t{1} << 48 : 0);
  if (std::numeric_limits<long double>::digits < 113 && low << 15) return std::nullopt;
  const int scale = (exponent ? exponent : 1) - 16383 - 112;
  const long double value = std::ldexp(static_cast<long double>(top), scale + 64) +
                            std::ldexp(static_cast<long double>(low), scale);
  return formatted("%.36Lg", high >> 63 ? -value : value);
}

/// One character of a string or constant, escaped as in C; `quote` is the character around it. Bytes that are
/// no ASCII are octal.
std::string escaped(std::uint8_t character, char quote) {
  switch (character) {
  case '\a': return "\\a";
  case '\b': return "\\b";
  case '\f': return "\\f";
  case '\n': return "\\n";
  case '\r': return "\\r";
  case '\t': return "\\t";
  case '\v': return "\\v";
  default: break;
  }
  if (character == static_cast<std::uint8_t>(quote) || character == '\\')
    return {'\\', static_cast<char>(character)};
  if (character >= 0x20 && character < 0x7f) return {static_cast<char>(character)};
  return formatted("\\%03o", unsigned{character});
}

std::string wide_character(std::uint64_t code, std::string_view prefix) {
  std::string text(prefix);
  text += '\'';
  if (code < 0x80)
    text += escaped(static_cast<std::uint8_t>(code), '\'');
  else
    text += formatted("\\x%" PRIx64, code);
  return text + '\'';
}

std::uint64_t extended(std::uint64_t value, std::uint64_t bits) {
  if (bits == 0 || bits >= 64) return value;
  const auto unused = static_cast<unsigned>(64 - bits);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
}

bool is_signed_encoding(std::uint64_t encoding) {
  return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

} // namespace

/// The offset of a member in its structure; nullopt where it depends on the object.
std::optional<std::uint64_t> fixed_offset(const llvm::DWARFDie& member) {
  const auto location = member.find(DW_AT_data_member_location);
  if (location && block_of(*location)) return std::nullopt;
  return location ? number_of(*location).value_or(0) : 0;
}

std::string_view name_of(Missing missing) {
  switch (missing) {
  case Missing::none: return "";
  case Missing::optimized_out: return "optimized out";
  case Missing::unreadable: return "cannot read memory";
  case Missing::not_available: return "not available";
  case Missing::synthetic_pointer: return "synthetic pointer";
  case Missing::not_supported: return "not supported";
  }
  return "";
}

void Formatter::put(std::string_view text) {
  if (full_) return;
  const std::size_t left = settings_.text - text_.size();
  if (text.size() <= left) {
    text_ += text;
    return;
  }
  text_ += text.substr(0, left);
  text_ += "...";
  full_ = true;
}

void Formatter::put_name(const DebugEntry& entry, std::string_view otherwise) {
  const auto entries = values_.reader().follow_origins(entry);
  const char* name = nullptr;
  for (const DebugEntry& one : entries.value_or(std::vector<DebugEntry>()))
    if (!name) name = values_.reader().text_of(one, DW_AT_name);
  if (!name) return put(otherwise);
  const std::size_t length = ::strnlen(name, most_name + 1);
  if (!values_.reader().take(Resource::name_bytes, length)) return;
  put(std::string_view(name, std::min(length, most_name)));
  if (length > most_name) put("...");
}

void Formatter::print_missing(const Absence& absence) {
  put("<");
  put(name_of(absence.why));
  if (absence.why == Missing::unreadable) put(" at " + hex(absence.address));
  put(">");
}

std::uint64_t Formatter::number(std::span<const std::byte> bytes, bool is_signed) const {
  const std::uint64_t value = extract(bytes, 0, bytes.size() * 8, values_.order());
  return is_signed ? extended(value, bytes.size() * 8) : value;
}

// Types.

/// No entry: void, or it cannot be read.
DebugEntry Formatter::type_of(const DebugEntry& entry) {
  if (!step()) return {};
  return values_.reader().referred(entry, DW_AT_type).value_or(DebugEntry());
}

/// The type without qualifiers and typedefs. Chains that are longer than plausible end in no entry.
DebugEntry Formatter::plain(DebugEntry type) {
  for (unsigned i = 0; i < most_qualifiers && type.die; ++i) switch (type.die.getTag()) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
    case DW_TAG_packed_type:
    case DW_TAG_immutable_type:
    case DW_TAG_template_alias: type = type_of(type); break;
    default:
      // In a type unit.
      if (!type.die.find(DW_AT_signature)) return type;
      if (!step()) return {};
      type = values_.reader().referred(type, DW_AT_signature).value_or(DebugEntry());
    }
  return {};
}

/// True for the type definition wchar_t, and one of it.
bool Formatter::is_wide_character(DebugEntry type) {
  for (unsigned i = 0; i < most_qualifiers && type.die && type.die.getTag() != DW_TAG_base_type; ++i) {
    const char* const name = values_.reader().text_of(type, DW_AT_name);
    if (type.die.getTag() == DW_TAG_typedef && name && std::strcmp(name, "wchar_t") == 0) return true;
    type = type_of(type);
  }
  return false;
}

struct Formatter::Dimensions {
  DebugEntry element;
  std::uint64_t element_size = 0;
  std::vector<std::uint64_t> counts; ///< the outermost first
  std::uint64_t size_from(std::size_t level) const {
    std::uint64_t size = element_size;
    for (std::size_t i = level; i < counts.size(); ++i)
      if (__builtin_mul_overflow(size, counts[i], &size)) return std::numeric_limits<std::uint64_t>::max();
    return size;
  }
};

std::optional<std::uint64_t> Formatter::size_of(const DebugEntry& of, unsigned depth) {
  const DebugEntry type = plain(of);
  if (!type.die || depth > most_qualifiers) return std::nullopt;
  if (const auto size = values_.number(type.die, DW_AT_byte_size))
    return *size <= most_size ? size : std::nullopt;
  switch (type.die.getTag()) {
  case DW_TAG_pointer_type:
  case DW_TAG_reference_type:
  case DW_TAG_rvalue_reference_type: return 8;
  case DW_TAG_unspecified_type: return 8; // decltype(nullptr)
  case DW_TAG_enumeration_type: return size_of(type_of(type), depth + 1);
  case DW_TAG_ptr_to_member_type: {
    const DebugEntry target = plain(type_of(type));
    return target.die && target.die.getTag() == DW_TAG_subroutine_type ? 16 : 8;
  }
  case DW_TAG_array_type: break;
  default: return std::nullopt;
  }
  std::uint64_t size = size_of(type_of(type), depth + 1).value_or(0);
  for (const llvm::DWARFDie& child : type.die.children()) {
    if (!values_.reader().visit(child)) return std::nullopt;
    if (child.getTag() != DW_TAG_subrange_type) continue;
    if (__builtin_mul_overflow(size, count_of({child, type.in}), &size) || size > most_size)
      return std::nullopt;
  }
  return size;
}

/// Of one dimension of an array; 0 if it is unknown. The number may be a constant, an expression, or a
/// variable (arrays of variable length).
std::uint64_t Formatter::count_of(const DebugEntry& range) {
  const auto bound = [&](llvm::dwarf::Attribute attribute) -> std::optional<std::uint64_t> {
    if (const auto value = values_.number(range.die, attribute)) return value;
    const auto variable = values_.reader().referred(range, attribute);
    if (!variable || !variable->die) return std::nullopt;
    const auto entries = values_.reader().follow_origins(*variable);
    const auto size = entries ? size_of(type_of(*variable)) : std::nullopt;
    if (!size || *size == 0 || *size > 8) return std::nullopt;
    const Object object = values_.locate(*entries, *size);
    std::array<std::byte, 8> bytes;
    const auto word = std::span(bytes).first(*size);
    return read({&object, 0}, values_.memory(), word).why == Missing::none ? std::optional(number(word, true))
                                                                           : std::nullopt;
  };
  if (const auto count = bound(DW_AT_count)) return *count;
  const auto last = bound(DW_AT_upper_bound);
  const std::uint64_t first = values_.number(range.die, DW_AT_lower_bound).value_or(0);
  return last && static_cast<std::int64_t>(*last - first) >= 0 ? *last - first + 1 : 0;
}

bool Formatter::is_character(const DebugEntry& of) {
  const DebugEntry type = plain(of);
  if (!type.die || type.die.getTag() != DW_TAG_base_type) return false;
  const std::uint64_t encoding = number_of(type.die, DW_AT_encoding).value_or(0);
  return number_of(type.die, DW_AT_byte_size) == 1 &&
         (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char || encoding == DW_ATE_UTF);
}

// Values.

Variable Formatter::variable(std::span<const DebugEntry> entries) {
  Variable variable;
  text_.clear();
  full_ = false;
  elements_ = 0;
  DebugEntry type;
  for (const DebugEntry& entry : entries)
    if (!type.die) type = type_of(entry);
  const auto size = size_of(type);
  const Object object = values_.locate(entries, size.value_or(0));
  Absence whole{object.whole, object.unreadable_address};
  const DebugEntry stripped = plain(type);
  if (!stripped.die) {
    if (whole.why == Missing::none) whole.why = Missing::not_supported;
  } else if (object.address && size.value_or(0)) {
    std::byte first;
    whole = read({&object, 0}, values_.memory(), std::span(&first, 1));
  } else if (!object.missing.empty() && std::ranges::all_of(object.missing, [&](Missing why) {
               return why != Missing::none && why == object.missing.front();
             })) {
    whole = {object.missing.front(), object.unreadable_address};
  }
  variable.missing = whole.why;
  if (whole.why != Missing::none)
    print_missing(whole);
  else
    print(type, {&object, 0}, 0);
  variable.value = std::move(text_);
  return variable;
}

void Formatter::print(const DebugEntry& of, const Place& place, unsigned depth) {
  if (full_) return;
  if (is_full() || !step()) return put("...");
  const DebugEntry type = plain(of);
  if (!type.die) return put("<not supported>");
  const auto tag = type.die.getTag();
  if (number_of(type.die, DW_AT_declaration).value_or(0)) return put("<incomplete type>");
  switch (tag) {
  case DW_TAG_structure_type:
  case DW_TAG_class_type:
  case DW_TAG_union_type:
    return depth >= settings_.depth ? put("{...}") : print_structure(type, place, depth);
  case DW_TAG_array_type: return depth >= settings_.depth ? put("{...}") : print_array(type, place, depth);
  default: break;
  }
  ++elements_;
  const auto size = size_of(type);
  std::array<std::byte, 16> bytes;
  if (!size || *size == 0 || *size > bytes.size()) return put("<not supported>");
  const auto value = std::span(bytes).first(*size);
  if (const Absence absence = read(place, values_.memory(), value); absence.why != Missing::none)
    return print_missing(absence);
  switch (tag) {
  case DW_TAG_base_type: return print_base(type, of, value);
  case DW_TAG_enumeration_type: return print_enumeration(type, value);
  case DW_TAG_pointer_type:
    return *size <= 8 ? print_pointer(type, number(value, false)) : put("<not supported>");
  case DW_TAG_reference_type:
  case DW_TAG_rvalue_reference_type:
    return *size <= 8 ? print_reference(type, number(value, false), depth) : put("<not supported>");
  case DW_TAG_unspecified_type: return put(hex(number(value, false)));
  case DW_TAG_ptr_to_member_type:
    put(hex(number(value.first(8), false)));
    if (*size == 16) put(", adjusted by " + decimal(number(value.last(8), true), true));
    return;
  default: return put("<not supported>");
  }
}

void Formatter::print_base(const DebugEntry& type, const DebugEntry& named,
                           std::span<const std::byte> bytes) {
  const std::uint64_t encoding = number_of(type.die, DW_AT_encoding).value_or(0);
  const char* const name = values_.reader().text_of(type, DW_AT_name);
  const std::string_view called = name ? std::string_view(name, ::strnlen(name, 16)) : std::string_view();
  if (bytes.size() > 8) return print_large(encoding, called, bytes);
  if (encoding == DW_ATE_float)
    return put(floating(number(bytes, false), bytes.size()).value_or("<not supported>"));
  if (encoding == DW_ATE_complex_float && bytes.size() == 8)
    return put(*floating(number(bytes.first(4), false), 4) + " + " +
               *floating(number(bytes.last(4), false), 4) + "i");
  const bool is_integer = encoding == DW_ATE_signed || encoding == DW_ATE_unsigned;
  const bool is_wide = is_integer && bytes.size() == 4 && is_wide_character(named);
  print_number(encoding, is_wide ? "wchar_t" : called, number(bytes, is_signed_encoding(encoding)),
               bytes.size());
}

void Formatter::print_number(std::uint64_t encoding, std::string_view name, std::uint64_t value,
                             std::size_t size) {
  switch (encoding) {
  case DW_ATE_boolean: return put(value == 0 ? "false" : value == 1 ? "true" : decimal(value, false));
  case DW_ATE_signed:
  case DW_ATE_unsigned:
    put(decimal(value, encoding == DW_ATE_signed));
    if (name == "wchar_t") put(" " + wide_character(value, "L"));
    return;
  case DW_ATE_signed_char:
  case DW_ATE_unsigned_char:
    put(decimal(value, encoding == DW_ATE_signed_char));
    if (size == 1) put(" '" + escaped(static_cast<std::uint8_t>(value), '\'') + "'");
    return;
  case DW_ATE_UTF:
    put(decimal(value, false));
    return put(" " + wide_character(value, size == 1 ? "" : size == 2 ? "u" : "U"));
  case DW_ATE_address: return put(hex(value));
  default: return put(decimal(value, false));
  }
}

/// Numbers of 9 to 16 bytes: integers, and floating-point numbers of the formats that the machines have.
void Formatter::print_large(std::uint64_t encoding, std::string_view name, std::span<const std::byte> bytes) {
  if (encoding == DW_ATE_complex_float && bytes.size() == 16)
    return put(*floating(number(bytes.first(8), false), 8) + " + " +
               *floating(number(bytes.last(8), false), 8) + "i");
  if (bytes.size() != 16) return put("<not supported>");
  const auto half = [&](bool high) {
    const bool first = high == (values_.order() == ByteOrder::big);
    return number(first ? bytes.first(8) : bytes.last(8), false);
  };
  if (encoding == DW_ATE_signed || encoding == DW_ATE_unsigned) {
    __extension__ using Wide = unsigned __int128;
    Wide value = static_cast<Wide>(half(true)) << 64 | half(false);
    const bool negative = encoding == DW_ATE_signed && half(true) >> 63;
    if (negative) value = -value;
    std::string digits;
    do digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
    while (value /= 10);
    return put(negative ? "-" + digits : digits);
  }
  const unwind::UnwindAbi* const abi = unwind::find_unwind_abi(values_.surroundings().space.abi().id);
  const bool has_x87 = abi && abi->long_double == unwind::LongDouble::x87;
  if (encoding == DW_ATE_float && name == "long double" && has_x87) {
    const std::uint64_t mantissa = number(bytes.first(8), false);
    const std::uint64_t top = number(bytes.subspan(8, 2), false);
    const int exponent = static_cast<int>(top & 0x7fff);
    if (exponent == 0x7fff) return put(mantissa << 1 ? "nan" : top >> 15 ? "-inf" : "inf");
    const long double value =
        std::ldexp(static_cast<long double>(mantissa), (exponent ? exponent : 1) - 16383 - 63);
    return put(formatted("%.18Lg", top >> 15 ? -value : value));
  }
  if (encoding == DW_ATE_float && !has_x87)
    if (const auto text = quadruple(half(true), half(false))) return put(*text);
  put("0x");
  for (std::size_t i = 0; i < bytes.size(); ++i)
    put(formatted("%02x", std::to_integer<unsigned>(
                              bytes[values_.order() == ByteOrder::big ? i : bytes.size() - 1 - i])));
}

void Formatter::print_enumeration(const DebugEntry& type, std::span<const std::byte> bytes) {
  if (bytes.size() > 8) return put("<not supported>");
  print_enumerator(type, number(bytes, false), bytes.size() * 8);
}

/// The enumerator's name; of an enumeration of bits, all that are set.
void Formatter::print_enumerator(const DebugEntry& type, std::uint64_t value, std::uint64_t bits) {
  const std::uint64_t mask = bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  bool are_bits = true, is_signed = false;
  std::vector<std::pair<std::uint64_t, llvm::DWARFDie>> parts;
  for (const llvm::DWARFDie& child : type.die.children()) {
    if (!values_.reader().visit(child)) return put("...");
    if (child.getTag() != DW_TAG_enumerator) continue;
    const auto full = number_of(child, DW_AT_const_value);
    if (!full) continue;
    const std::uint64_t constant = *full & mask;
    if (constant == value) return put_name({child, type.in}, "?");
    is_signed |= static_cast<std::int64_t>(*full) < 0;
    are_bits &= std::popcount(constant) <= 1;
    if (constant & value) parts.emplace_back(constant, child);
  }
  if (!are_bits || is_signed || value == 0)
    return put(decimal(is_signed ? extended(value, bits) : value, is_signed));
  put("(");
  std::string_view before;
  for (const auto& [constant, child] : parts) {
    if (!(value & constant)) continue;
    value &= ~constant;
    put(std::exchange(before, " | "));
    put_name({child, type.in}, "?");
  }
  if (value) put(before), put("unknown: " + hex(value));
  put(")");
}

void Formatter::print_pointer(const DebugEntry& type, std::uint64_t value) {
  put(hex(value));
  if (value == 0) return;
  const DebugEntry target = type_of(type);
  if (is_character(target)) {
    put(" ");
    if (!print_string_at(value)) print_missing({Missing::unreadable, value});
    return;
  }
  const DebugEntry stripped = plain(target);
  if (stripped.die && stripped.die.getTag() == DW_TAG_subroutine_type) print_symbol(value);
}

/// The name of the function at an address.
void Formatter::print_symbol(std::uint64_t address) {
  modules::Module* const module = values_.surroundings().space.module_at(address);
  if (!module) return;
  modules::ElfSymbols symbols;
  const auto name = symbols.find(*module, address, address);
  if (!name || !values_.reader().take(Resource::name_bytes, name->name.size())) return;
  put(" <");
  put(std::string_view(name->name).substr(0, most_name));
  if (name->offset) put("+" + std::to_string(name->offset));
  put(">");
}

void Formatter::print_reference(const DebugEntry& type, std::uint64_t value, unsigned depth) {
  put("@" + hex(value));
  if (depth > 0) return; // as gdb: what a member refers to need not be a part of the structure
  put(": ");
  const Object target = Object::at(value);
  print(type_of(type), {&target, 0}, depth + 1);
}

// Strings.

void Formatter::print_quoted(std::span<const std::byte> bytes, bool more) {
  std::string text = "\"";
  const std::string_view characters = as_text(bytes);
  for (std::size_t i = 0; i < characters.size();) {
    const TextPiece piece = first_piece(characters.substr(i));
    if (piece.size > 1 && piece.is_utf8 && piece.is_printable) {
      text += characters.substr(i, piece.size);
      i += piece.size;
    } else {
      text += escaped(static_cast<std::uint8_t>(characters[i++]), '"');
    }
  }
  text += more ? "\"..." : "\"";
  put(text);
}

/// The string that ends with a zero. False if not one byte can be read.
bool Formatter::print_string_at(std::uint64_t address) {
  std::vector<std::byte> bytes(settings_.string + 1);
  std::size_t count = 0, length = 0; // read, and up to the zero
  while (length == count && count < bytes.size()) {
    const auto rest = std::span(bytes).subspan(count);
    const std::size_t got = values_.memory().space().read(address + count, rest);
    if (got == 0) break;
    count += got;
    while (length < count && bytes[length] != std::byte(0)) ++length;
  }
  if (count == 0) return false;
  const std::size_t shown = std::min<std::size_t>(length, settings_.string);
  print_quoted(std::span(bytes).first(shown), shown < length);
  if (length == count && shown == length) {
    put(" ");
    print_missing({Missing::unreadable, address + count});
  }
  return true;
}

/// An array of characters: up to the zeros at its end. False if not all can be read.
bool Formatter::print_characters(const Place& place, std::uint64_t count) {
  const std::uint64_t shown = std::min<std::uint64_t>(count, settings_.string);
  std::vector<std::byte> bytes(shown);
  if (const Absence absence = read(place, values_.memory(), bytes); absence.why != Missing::none)
    return false;
  ++elements_;
  const auto zero = std::ranges::find(bytes, std::byte(0));
  const bool rest_is_zero = std::all_of(zero, bytes.end(), [](std::byte b) { return b == std::byte(0); });
  if (zero != bytes.end() && rest_is_zero)
    print_quoted(std::span(bytes.begin(), zero), false);
  else
    print_quoted(bytes, shown < count);
  return true;
}

/// A string of Go: a pointer and a length (its runtime's stringStruct). False if the type is another one, or
/// the text cannot be read.
bool Formatter::print_go_string(const DebugEntry& type, const Place& place) {
  constexpr std::string_view members[] = {"str", "len"};
  const char* const name = values_.reader().text_of(type, DW_AT_name);
  if (!name || std::string_view(name) != "string") return false;
  std::size_t count = 0;
  for (const llvm::DWARFDie& child : type.die.children()) {
    if (child.getTag() != DW_TAG_member || !values_.reader().visit(child)) continue;
    const char* const member = values_.reader().text_of({child, type.in}, DW_AT_name);
    if (count == std::size(members) || !member || members[count++] != member) return false;
  }
  std::array<std::byte, 16> words{};
  if (count != std::size(members) || read(place, values_.memory(), words).why != Missing::none) return false;
  const std::uint64_t address = number(std::span(words).first(8), false),
                      length = number(std::span(words).last(8), false);
  std::vector<std::byte> bytes(std::min<std::uint64_t>(length, settings_.string));
  if (values_.memory().space().read(address, bytes) != bytes.size()) return false;
  print_quoted(bytes, bytes.size() < length);
  return true;
}

// Structures and arrays.

void Formatter::print_structure(const DebugEntry& type, const Place& place, unsigned depth) {
  if (print_go_string(type, place)) return;
  if (const llvm::DWARFDie first = type.die.getFirstChild(); first && first.getTag() == DW_TAG_variant_part)
    return print_variant({first, type.in}, place, depth);
  put("{");
  std::string_view before;
  bool any = false;
  for (const llvm::DWARFDie& child : type.die.children()) {
    if (!values_.reader().visit(child)) return put("...}");
    const auto tag = child.getTag();
    const DebugEntry member{child, type.in};
    if (tag == DW_TAG_variant_part) {
      put(std::exchange(before, ", "));
      print_variant(member, place, depth);
      any = true;
      continue;
    }
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) continue;
    if (child.find(DW_AT_external) || child.find(DW_AT_declaration)) continue; // static
    any = true;
    put(std::exchange(before, ", "));
    if (is_full()) {
      put("...");
      break;
    }
    print_member(member, place, depth);
  }
  put(any ? "}" : "<no data fields>}");
}

/// The one of the variants (DWARF 5, 5.7.10) that the object has: "Some {__0 = 5}". Rust's enumerations are
/// such.
void Formatter::print_variant(const DebugEntry& part, const Place& place, unsigned depth) {
  std::optional<std::uint64_t> chosen;
  std::uint64_t size = 0;
  if (const llvm::DWARFDie member = part.die.getAttributeValueAsReferencedDie(DW_AT_discr)) {
    size = size_of(type_of({member, part.in})).value_or(0);
    const auto offset = fixed_offset(member);
    if (size == 0 || size > 8 || !offset) return put("<not supported>");
    std::array<std::byte, 8> bytes{};
    const Absence absence = read(place + *offset, values_.memory(), std::span(bytes).first(size));
    if (absence.why != Missing::none) return print_missing(absence);
    chosen = number(std::span(bytes).first(size), false);
  }
  llvm::DWARFDie found;
  for (const llvm::DWARFDie& child : part.die.children()) {
    if (!values_.reader().visit(child)) return put("...");
    if (child.getTag() != DW_TAG_variant) continue;
    if (child.find(DW_AT_discr_list)) return put("<not supported>");
    const auto value = child.find(DW_AT_discr_value);
    if (!value || !chosen) { // the default one, or the only one
      if (!found) found = child;
      continue;
    }
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * size);
    if (const auto wanted = number_of(*value); wanted && ((*wanted ^ *chosen) & mask) == 0) {
      found = child;
      break;
    }
  }
  if (!found) return put("<not supported>");
  for (const llvm::DWARFDie& child : found.children()) {
    if (!values_.reader().visit(child)) return put("...");
    if (child.getTag() != DW_TAG_member) continue;
    const DebugEntry member{child, part.in};
    const DebugEntry type = type_of(member);
    put_name(type, "?");
    bool has_fields = false;
    for (const llvm::DWARFDie& field : type.die.children()) has_fields |= field.getTag() == DW_TAG_member;
    if (!has_fields) return;
    const auto offset = fixed_offset(child);
    put(" ");
    if (!offset) return put("<not supported>");
    // A step further in, since a damaged variant may be of its own type.
    return print(type, place + *offset, depth + 1);
  }
  put("<not supported>");
}

void Formatter::print_member(const DebugEntry& member, const Place& place, unsigned depth) {
  const DebugEntry type = type_of(member);
  if (member.die.getTag() == DW_TAG_inheritance) {
    put("<");
    put_name(plain(type), "base");
    put("> = ");
  } else if (member.die.find(DW_AT_name)) {
    put_name(member, "?");
    put(" = ");
  }
  auto offset = fixed_offset(member.die);
  if (!offset) { // as that of a virtual base
    const auto start = place.address();
    const auto address = start ? values_.number(member.die, DW_AT_data_member_location, start) : std::nullopt;
    if (!address) return put("<not supported>");
    offset = *address - *start;
  }
  if (*offset > most_size && !place.address()) return put("<not supported>");
  if (const auto bits = number_of(member.die, DW_AT_bit_size))
    return print_bits(member, type, place + *offset, *bits);
  print(type, place + *offset, depth + 1);
}

void Formatter::print_bits(const DebugEntry& member, const DebugEntry& of, const Place& place,
                           std::uint64_t bits) {
  const DebugEntry type = plain(of);
  if (!type.die || bits == 0 || bits > 64) return put("<not supported>");
  ++elements_;
  std::uint64_t first = 0;
  if (const auto offset = number_of(member.die, DW_AT_data_bit_offset)) {
    first = *offset;
  } else if (const auto left = number_of(member.die, DW_AT_bit_offset)) {
    // From the highest bit of a storage unit.
    const std::uint64_t size = number_of(member.die, DW_AT_byte_size).value_or(size_of(type).value_or(0));
    if (size > 16 || *left > size * 8 || size * 8 - *left < bits) return put("<not supported>");
    first = values_.order() == ByteOrder::big ? *left : size * 8 - *left - bits;
  }
  if (first > 8 * most_size) return put("<not supported>");
  std::uint64_t value = 0;
  if (const Absence absence = read_bits(place, first, bits, values_.memory(), value);
      absence.why != Missing::none)
    return print_missing(absence);
  if (type.die.getTag() == DW_TAG_enumeration_type) return print_enumerator(type, value, bits);
  if (type.die.getTag() != DW_TAG_base_type) return put("<not supported>");
  const std::uint64_t encoding = number_of(type.die, DW_AT_encoding).value_or(0);
  print_number(encoding, {}, is_signed_encoding(encoding) ? extended(value, bits) : value,
               size_of(type).value_or(0));
}

void Formatter::print_array(const DebugEntry& type, const Place& place, unsigned depth) {
  Dimensions dimensions;
  dimensions.element = type_of(type);
  dimensions.element_size = size_of(dimensions.element).value_or(0);
  for (const llvm::DWARFDie& child : type.die.children()) {
    if (!values_.reader().visit(child) || dimensions.counts.size() == most_qualifiers)
      return put("<not supported>");
    if (child.getTag() == DW_TAG_subrange_type) dimensions.counts.push_back(count_of({child, type.in}));
  }
  if (dimensions.counts.empty() || type.die.find(DW_AT_byte_stride) || type.die.find(DW_AT_data_location))
    return put("<not supported>");
  if (dimensions.size_from(0) > most_size) return put("<not supported>");
  print_elements(dimensions, 0, place, depth);
}

void Formatter::print_elements(const Dimensions& dimensions, std::size_t level, const Place& place,
                               unsigned depth) {
  const std::uint64_t count = dimensions.counts[level];
  const bool last = level + 1 == dimensions.counts.size();
  if (last && count && is_character(dimensions.element) && print_characters(place, count)) return;
  const std::uint64_t size = dimensions.size_from(level + 1);
  if (depth > settings_.depth) return put("{...}");
  put("{");
  std::string_view before;
  for (std::uint64_t i = 0; i < count && !full_;) {
    put(std::exchange(before, ", "));
    if (is_full() || size == 0) {
      put("...");
      break;
    }
    const Place element = place + i * size;
    if (last)
      print(dimensions.element, element, depth + 1);
    else
      print_elements(dimensions, level + 1, element, depth + 1);
    const std::uint64_t same = repeats(element, size, count - i);
    if (same < fewest_repeats) {
      ++i;
      continue;
    }
    put(" <repeats " + std::to_string(same) + " times>");
    i += same;
  }
  put("}");
}

/// How many elements from this one on, of at most `most`, have the same bytes.
std::uint64_t Formatter::repeats(const Place& first, std::uint64_t size, std::uint64_t most) {
  std::array<std::byte, 64> value, next;
  if (size > value.size()) return 1;
  const auto bytes = std::span(value).first(size), other = std::span(next).first(size);
  const Missing missing = read(first, values_.memory(), bytes).why;
  std::uint64_t count = 1;
  for (; count < std::min<std::uint64_t>(most, most_repeats) && step(); ++count) {
    if (read(first + count * size, values_.memory(), other).why != missing) break;
    if (missing == Missing::none ? !std::ranges::equal(bytes, other) : missing == Missing::unreadable) break;
  }
  return count;
}

} // namespace sframe::variables
