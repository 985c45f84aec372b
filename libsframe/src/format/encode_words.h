// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The encoding half of words.h, which documents the words. Inline because it is the inner loop of every
// writer. Words are written in place: a copy right after them would wait until they are stored.

#pragma once

#include "format/words.h"

#include <optional>

namespace sframe::format {

/// Collects words and the width that they need.
class WordWriter {
public:
  explicit WordWriter(Words& words) : words_(words) {}

  void add_signed(std::int64_t value) {
    bits_ |= static_cast<std::uint64_t>(value < 0 ? ~value : value);
    add(static_cast<std::uint32_t>(value));
  }
  /// Control words are unsigned: they need no sign bit.
  void add_control(std::uint32_t value) {
    bits_ |= value >> 1;
    add(value);
  }
  std::optional<RefusalReason> finish(bool sp_based, bool ra_signed) {
    if (bits_ > 0x7fffffff) return RefusalReason::offset_range;
    const std::uint32_t size_code = (bits_ > 0x7f) + (bits_ > 0x7fff);
    words_.count = static_cast<std::uint8_t>(count_);
    words_.size = static_cast<std::uint8_t>(1u << size_code);
    words_.info = info_byte(sp_based, count_, size_code, ra_signed);
    return std::nullopt;
  }

private:
  void add(std::uint32_t value) { words_.values[count_++] = value; }

  Words& words_;
  std::uint32_t count_ = 0;
  std::uint64_t bits_ = 0; ///< all bits of all words that a width must hold in addition to a sign
};

/// True if the rule equals the header's fixed offset.
inline bool is_fixed(const Rule& rule, std::int32_t fixed_offset) {
  return fixed_offset != 0 && (rule.kind == Rule::Kind::fixed || rule == Rule::at_cfa(fixed_offset));
}

/// Adds the word for a slot relative to the CFA, or for a register if words may name them.
inline bool encode_slot(const Rule& rule, const WordMeaning& meaning, bool zero_is_taken, WordWriter& words) {
  if (rule.kind == Rule::Kind::stored && rule.base == Rule::cfa_base) {
    if (zero_is_taken && rule.offset == 0) return false;
    if (meaning.register_words && rule.offset & 1) return false;
    words.add_signed(rule.offset);
    return true;
  }
  if (meaning.register_words && rule.kind == Rule::Kind::value && rule.base != Rule::cfa_base &&
      rule.offset == 0) {
    words.add_signed(std::int64_t{rule.base} << 1 | 1);
    return true;
  }
  return false;
}

/// The word for a CFA offset; nothing if it is not a multiple of the ABI's unit.
inline std::optional<std::int64_t> encode_cfa_offset(std::int32_t offset, const AbiTraits& abi) {
  const std::int64_t unbiased = std::int64_t{offset} - abi.cfa_bias;
  if (abi.cfa_scale == 1) return unbiased; // avoids a division that took a tenth of a conversion
  if (unbiased % abi.cfa_scale != 0) return std::nullopt;
  return unbiased / abi.cfa_scale;
}

inline std::optional<RefusalReason> encode_standard(const FrameRow& row, const WordMeaning& meaning,
                                                    Words& out) {
  const AbiTraits& abi = *meaning.abi;
  if (row.cfa.kind != Rule::Kind::value || (row.cfa.base != abi.sp && row.cfa.base != abi.fp))
    return RefusalReason::cfa_rule;
  const auto cfa = encode_cfa_offset(row.cfa.offset, abi);
  if (!cfa) return RefusalReason::cfa_alignment;

  WordWriter words(out);
  words.add_signed(*cfa);
  const bool has_fp = row.fp.kind != Rule::Kind::same;
  if (meaning.fixed_ra) {
    if (!is_fixed(row.ra, abi.fixed_ra_offset)) return RefusalReason::ra_rule;
  } else if (row.ra.kind != Rule::Kind::same) {
    if (!encode_slot(row.ra, meaning, true, words)) return RefusalReason::ra_rule;
  } else if (has_fp) {
    if (!abi.pads_ra_word) return RefusalReason::fp_rule;
    words.add_signed(0);
  }
  if (meaning.fixed_fp) {
    if (!is_fixed(row.fp, abi.fixed_fp_offset)) return RefusalReason::fp_rule;
  } else if (has_fp && !encode_slot(row.fp, meaning, false, words)) {
    return RefusalReason::fp_rule;
  }
  return words.finish(row.cfa.base == abi.sp, row.ra_signed);
}

/// Adds control word and offset word. False if they cannot represent the rule.
inline bool encode_flex_rule(const Rule& rule, std::int64_t offset, WordWriter& words) {
  if (rule.kind != Rule::Kind::value && rule.kind != Rule::Kind::stored) return false;
  std::uint32_t word = rule.kind == Rule::Kind::stored ? control::deref_p : 0;
  if (rule.base != Rule::cfa_base) word |= std::uint32_t{rule.base} << control::reg_shift | control::reg_p;
  if (word == 0) return false; // the value CFA + offset would be read as "no rule"
  words.add_control(word);
  words.add_signed(offset);
  return true;
}

inline std::optional<RefusalReason> encode_flex(const FrameRow& row, const WordMeaning& meaning, Words& out) {
  const AbiTraits& abi = *meaning.abi;
  const auto cfa = encode_cfa_offset(row.cfa.offset, abi);
  if (!cfa) return RefusalReason::cfa_alignment;
  WordWriter words(out);
  if (row.cfa.base == Rule::cfa_base || !encode_flex_rule(row.cfa, *cfa, words))
    return RefusalReason::cfa_rule;
  const bool ra_absent =
      meaning.fixed_ra ? is_fixed(row.ra, abi.fixed_ra_offset) : row.ra.kind == Rule::Kind::same;
  const bool fp_absent =
      meaning.fixed_fp ? is_fixed(row.fp, abi.fixed_fp_offset) : row.fp.kind == Rule::Kind::same;
  if (ra_absent) {
    if (!fp_absent) words.add_control(0);
  } else if (!encode_flex_rule(row.ra, row.ra.offset, words)) {
    return RefusalReason::ra_rule;
  }
  if (!fp_absent && !encode_flex_rule(row.fp, row.fp.offset, words)) return RefusalReason::fp_rule;
  return words.finish(false, row.ra_signed);
}

/// Sets `out` to the words for `row`, in the smallest size that holds them, or returns the reason for
/// refusal.
inline std::optional<RefusalReason> encode_words(const FrameRow& row, const WordMeaning& meaning,
                                                 Words& out) {
  if (!row.is_outermost())
    return meaning.flex ? encode_flex(row, meaning, out) : encode_standard(row, meaning, out);
  if (!meaning.zero_is_outermost) return RefusalReason::outermost;
  return WordWriter(out).finish(false, false);
}

} // namespace sframe::format
