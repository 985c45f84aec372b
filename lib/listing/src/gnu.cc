// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines are made in fixed buffers and written in blocks. A row's rules are text only once for equal rows of a
// section (RowTexts), since most rows occur many times.

#include "sframe/listing/gnu.h"

#include <utility>

namespace sframe::listing {

namespace {

using Kind = Rule::Kind;

constexpr std::uint8_t old_version = 1;

/// objdump's table of names does not depend on the section's version.
std::string_view flag_name(unsigned bit) {
  for (const VersionTraits* version : all_versions())
    for (const FlagTraits& flag : version->flag_names)
      if (flag.bit == bit) return flag.gnu_name;
  return {};
}

/// objdump prints counts and sizes as signed numbers.
std::int32_t as_signed(std::uint32_t value) {
  return static_cast<std::int32_t>(value);
}

/// True if the row has a word of 0 for RA instead of a rule.
bool has_padded_ra(const EncodedRow& row, bool flex) {
  const std::uint32_t place = flex ? 2 : 1;
  return row.word_count() > place && row.control(place) == 0;
}

} // namespace

GnuListing::GnuListing(const Section& section, Write write)
    : header_(section.header()), abi_(section.abi()), write_(std::move(write)),
      old_(header_.version == old_version) {}

void GnuListing::flags() {
  std::uint8_t flags = header_.flags;
  if (old_ && flags & flag_frame_pointer) flags = flag_frame_pointer; // objdump 2.40 shows only one flag
  write_("    Flags: ");
  bool first = true;
  for (unsigned bit = 1; bit <= flags; bit <<= 1) {
    const std::string_view name = flag_name(bit);
    if (!(flags & bit) || name.empty()) continue;
    if (!first) write_(",\n           ");
    write_(name);
    first = false;
  }
  write_(first ? "NONE\n" : "\n");
}

void GnuListing::header() {
  line_.clear();
  write_(line_.text("\n  Header :\n\n    Version: SFRAME_VERSION_").number(header_.version).put('\n').view());
  flags();
  line_.clear();
  if (!old_ && header_.fixed_fp_offset)
    line_.text("    CFA fixed FP offset: ").number(header_.fixed_fp_offset).put('\n');
  if (!old_ && header_.fixed_ra_offset)
    line_.text("    CFA fixed RA offset: ").number(header_.fixed_ra_offset).put('\n');
  line_.text("    Num FDEs: ").number(as_signed(header_.num_fdes));
  line_.text("\n    Num FREs: ").number(as_signed(header_.num_fres)).put('\n');
  write_(line_.view());
}

void GnuListing::index_heading() {
  write_("\n  Function Index :\n");
}

void GnuListing::function_heading(const EncodedFde& fde) {
  line_.clear();
  line_.text("\n    func idx [").number(fde.number).text("]: pc = 0x").hex(fde.start);
  line_.text(", size = ").number(as_signed(fde.size)).text(" bytes");
  if (fde.signal_frame || flex_) {
    line_.text(", attr = \"").text(fde.signal_frame ? "S" : "").text(flex_ ? "F" : "").put('"');
  }
  if (abi_.signs_return_addresses && fde.pauth_key == PauthKey::b) line_.text(", pauth = B key");
  line_.text(fde.pc_type == PcType::mask ? "\n    STARTPC[m]      " : "\n    STARTPC         ");
  line_.text("CFA       FP        RA           \n");
  write_(line_.view());
}

std::optional<Error> GnuListing::function(const EncodedFde& fde, RowCursor& rows) {
  flex_ = fde.fde_type == FdeType::flex;
  function_heading(fde);
  const std::uint64_t start = fde.pc_type == PcType::mask ? 0 : fde.start;
  std::optional<Error> error;
  lines_.clear();
  for (EncodedRow row; rows.next(row);) {
    const auto rules = texts_.get<RowTexts::Whole>(row, rows, flex_, error, [&](const FrameRow& decoded) {
      append_rules(row, decoded);
      return line_.view();
    });
    if (!rules) break;
    lines_.text("    ").hex16(row.offset + start).text("  ").text(rules->text);
    if (lines_.size() < lines_.capacity - Line::capacity) continue;
    write_(lines_.view());
    lines_.clear();
  }
  if (lines_.size() != 0) write_(lines_.view());
  return error ? error : rows.error();
}

/// Sets line_ to a row's columns after the address. A longer rule shifts the rest to the right.
void GnuListing::append_rules(const EncodedRow& encoded, const FrameRow& row) {
  constexpr std::size_t rule_width = 10, ra_width = 13;
  line_.clear();
  if (row.is_outermost()) {
    line_.text("RA undefined\n");
    return;
  }
  append_cfa(row.cfa);
  line_.pad_to(rule_width);
  const std::size_t fp_at = line_.size();
  append_fp(row.fp);
  line_.pad_to(fp_at + rule_width);
  const std::size_t ra_at = line_.size();
  append_ra(row.ra, has_padded_ra(encoded, flex_));
  line_.text(row.ra_signed ? "[s]" : "   "); // before the padding, so a long rule has it too
  line_.pad_to(ra_at + ra_width).put('\n');
}

void GnuListing::append_register(std::uint16_t reg) {
  if (reg == abi_.sp)
    line_.text("sp");
  else if (reg == abi_.fp)
    line_.text("fp");
  else
    line_.put('r').number(reg);
}

/// A rule with base and offset.
void GnuListing::append_located(const Rule& rule) {
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

void GnuListing::append_cfa(const Rule& rule) {
  if (flex_) return append_located(rule);
  append_register(rule.base);
  line_.put('+').number(rule.offset); // a negative offset is printed as "sp+-8"
}

void GnuListing::append_fp(const Rule& rule) {
  if (rule.kind == Kind::fixed && !old_ && !flex_)
    line_.put('c').offset(header_.fixed_fp_offset);
  else if (rule.kind == Kind::same || rule.kind == Kind::fixed)
    line_.put('u');
  else
    append_located(rule);
}

void GnuListing::append_ra(const Rule& rule, bool padded) {
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

} // namespace sframe::listing
