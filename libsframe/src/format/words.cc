// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "format/words.h"

#include <optional>

namespace sframe::format {

namespace {

using Kind = Rule::Kind;

/// Collects words and the width that they need.
class WordWriter {
public:
  void add_signed(std::int64_t value) {
    bits_ |= static_cast<std::uint64_t>(value < 0 ? ~value : value);
    add(static_cast<std::uint32_t>(value));
  }
  /// Control words are unsigned: they need no sign bit.
  void add_control(std::uint32_t value) {
    bits_ |= value >> 1;
    add(value);
  }
  expected<Words, RefusalReason> finish(bool sp_based, bool ra_signed) {
    if (bits_ > 0x7fffffff) return unexpected(RefusalReason::offset_range);
    const int size_code = bits_ <= 0x7f ? 0 : bits_ <= 0x7fff ? 1 : 2;
    words_.size = static_cast<std::uint8_t>(1 << size_code);
    words_.info = static_cast<std::uint8_t>((ra_signed << 7) | (size_code << 5) | (words_.count << 1) |
                                            (sp_based ? 1 : 0));
    return words_;
  }

private:
  void add(std::uint32_t value) { words_.values[words_.count++] = value; }

  Words words_;
  std::uint64_t bits_ = 0; ///< all bits of all words that a width must hold in addition to a sign
};

/// True if the rule equals the header's fixed offset.
bool is_fixed(const Rule& rule, std::int32_t fixed_offset) {
  return fixed_offset != 0 && (rule.kind == Kind::fixed || rule == Rule::at_cfa(fixed_offset));
}

/// Adds the word for a slot relative to the CFA, or for a register if words may name them.
bool encode_slot(const Rule& rule, const WordMeaning& meaning, bool zero_is_taken, WordWriter& words) {
  if (rule.kind == Kind::stored && rule.base == Rule::cfa_base) {
    if (zero_is_taken && rule.offset == 0) return false;
    if (meaning.register_words && rule.offset & 1) return false;
    words.add_signed(rule.offset);
    return true;
  }
  if (meaning.register_words && rule.kind == Kind::value && rule.base != Rule::cfa_base && rule.offset == 0) {
    words.add_signed(std::int64_t{rule.base} << 1 | 1);
    return true;
  }
  return false;
}

/// The word for a CFA offset; nothing if it is not a multiple of the ABI's unit.
std::optional<std::int64_t> encode_cfa_offset(std::int32_t offset, const AbiTraits& abi) {
  const std::int64_t unbiased = std::int64_t{offset} - abi.cfa_bias;
  if (abi.cfa_scale == 1) return unbiased; // avoids a division that took a tenth of a conversion
  if (unbiased % abi.cfa_scale != 0) return std::nullopt;
  return unbiased / abi.cfa_scale;
}

expected<Words, RefusalReason> encode_standard(const FrameRow& row, const WordMeaning& meaning) {
  const AbiTraits& abi = *meaning.abi;
  if (row.cfa.kind != Kind::value || (row.cfa.base != abi.sp && row.cfa.base != abi.fp))
    return unexpected(RefusalReason::cfa_rule);
  const auto cfa = encode_cfa_offset(row.cfa.offset, abi);
  if (!cfa) return unexpected(RefusalReason::cfa_alignment);

  WordWriter words;
  words.add_signed(*cfa);
  const bool has_fp = row.fp.kind != Kind::same;
  if (meaning.fixed_ra) {
    if (!is_fixed(row.ra, abi.fixed_ra_offset)) return unexpected(RefusalReason::ra_rule);
  } else if (row.ra.kind != Kind::same) {
    if (!encode_slot(row.ra, meaning, true, words)) return unexpected(RefusalReason::ra_rule);
  } else if (has_fp) {
    if (!abi.pads_ra_word) return unexpected(RefusalReason::fp_rule);
    words.add_signed(0);
  }
  if (meaning.fixed_fp) {
    if (!is_fixed(row.fp, abi.fixed_fp_offset)) return unexpected(RefusalReason::fp_rule);
  } else if (has_fp && !encode_slot(row.fp, meaning, false, words)) {
    return unexpected(RefusalReason::fp_rule);
  }
  return words.finish(row.cfa.base == abi.sp, row.ra_signed);
}

/// Adds control word and offset word. False if they cannot represent the rule.
bool encode_flex_rule(const Rule& rule, std::int64_t offset, WordWriter& words) {
  if (rule.kind != Kind::value && rule.kind != Kind::stored) return false;
  std::uint32_t word = rule.kind == Kind::stored ? control::deref_p : 0;
  if (rule.base != Rule::cfa_base) word |= std::uint32_t{rule.base} << control::reg_shift | control::reg_p;
  if (word == 0) return false; // the value CFA + offset would be read as "no rule"
  words.add_control(word);
  words.add_signed(offset);
  return true;
}

expected<Words, RefusalReason> encode_flex(const FrameRow& row, const WordMeaning& meaning) {
  const AbiTraits& abi = *meaning.abi;
  const auto cfa = encode_cfa_offset(row.cfa.offset, abi);
  if (!cfa) return unexpected(RefusalReason::cfa_alignment);
  WordWriter words;
  if (row.cfa.base == Rule::cfa_base || !encode_flex_rule(row.cfa, *cfa, words))
    return unexpected(RefusalReason::cfa_rule);
  const bool ra_absent = meaning.fixed_ra ? is_fixed(row.ra, abi.fixed_ra_offset) : row.ra.kind == Kind::same;
  const bool fp_absent = meaning.fixed_fp ? is_fixed(row.fp, abi.fixed_fp_offset) : row.fp.kind == Kind::same;
  if (ra_absent) {
    if (!fp_absent) words.add_control(0);
  } else if (!encode_flex_rule(row.ra, row.ra.offset, words)) {
    return unexpected(RefusalReason::ra_rule);
  }
  if (!fp_absent && !encode_flex_rule(row.fp, row.fp.offset, words))
    return unexpected(RefusalReason::fp_rule);
  return words.finish(false, row.ra_signed);
}

} // namespace

WordMeaning word_meaning(const Version& version, const AbiTraits& abi, FdeType type, std::int8_t fixed_ra,
                         std::int8_t fixed_fp) {
  return {
      .abi = &abi,
      .flex = type == FdeType::flex,
      .fixed_ra = fixed_ra != 0,
      .fixed_fp = fixed_fp != 0,
      .zero_is_outermost = version.has_outermost_rows,
      .register_words = version.register_words && abi.register_words,
  };
}

expected<Words, RefusalReason> encode_words(const FrameRow& row, const WordMeaning& meaning) {
  if (!row.is_outermost()) return meaning.flex ? encode_flex(row, meaning) : encode_standard(row, meaning);
  if (!meaning.zero_is_outermost) return unexpected(RefusalReason::outermost);
  return WordWriter().finish(false, false);
}

} // namespace sframe::format
