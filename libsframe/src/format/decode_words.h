// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decoding half of words.h, which documents the words. Inline because it is the inner loop of every
// reader.

#pragma once

#include "format/words.h"

#include <utility>

namespace sframe::format {

inline bool fits_register(std::int64_t reg) {
  return reg >= 0 && reg < Rule::cfa_base;
}

/// A data word as a signed number.
inline std::int32_t load_word(const std::byte* at, std::uint32_t size, ByteOrder order) {
  if (size == 1) return std::to_integer<std::int8_t>(*at);
  if (size == 2) return load<std::int16_t>(at, order);
  return load<std::int32_t>(at, order);
}

/// Reads words in order, up to the end.
class WordReader {
public:
  explicit WordReader(const EncodedRow& row)
      : at_(row.words), left_(row.word_count()), size_(row.word_size()), order_(row.byte_order) {}
  bool done() const { return left_ == 0; }
  std::int32_t signed_word() { return load_word(next(), size_, order_); }
  std::uint32_t control_word() { return load_field(next(), size_, order_); }

private:
  const std::byte* next() {
    --left_;
    return std::exchange(at_, at_ + size_);
  }

  const std::byte* at_;
  std::uint32_t left_;
  std::uint32_t size_;
  ByteOrder order_;
};

inline bool decode_slot(std::int32_t word, const WordMeaning& meaning, Rule& out, ErrorKind& fault) {
  if (!meaning.register_words || !(word & 1)) {
    out = Rule::at_cfa(word);
    return true;
  }
  if (!fits_register(word >> 1)) {
    fault = ErrorKind::bad_register;
    return false;
  }
  out = Rule::in_register(static_cast<std::uint16_t>(word >> 1));
  return true;
}

/// The CFA offset that a word encodes.
inline bool decode_cfa_offset(std::int32_t word, const AbiTraits& abi, std::int32_t& out, ErrorKind& fault) {
  const std::int64_t offset = std::int64_t{word} * abi.cfa_scale + abi.cfa_bias;
  out = static_cast<std::int32_t>(offset);
  fault = ErrorKind::bad_rule;
  return offset == out;
}

inline bool decode_standard(const EncodedRow& row, const WordMeaning& meaning, FrameRow& out,
                            ErrorKind& fault) {
  const AbiTraits& abi = *meaning.abi;
  WordReader words(row);
  out.cfa = Rule::value(row.sp_based() ? abi.sp : abi.fp, 0);
  if (!decode_cfa_offset(words.signed_word(), abi, out.cfa.offset, fault)) return false;
  out.ra = meaning.fixed_ra ? Rule::fixed() : Rule::same();
  out.fp = meaning.fixed_fp ? Rule::fixed() : Rule::same();
  if (!meaning.fixed_ra && !words.done()) {
    const std::int32_t word = words.signed_word();
    if (word != 0 && !decode_slot(word, meaning, out.ra, fault)) return false;
  }
  if (!meaning.fixed_fp && !words.done() && !decode_slot(words.signed_word(), meaning, out.fp, fault))
    return false;
  fault = ErrorKind::bad_dataword_count;
  return words.done();
}

/// Reads one control word and, unless it is the padding word, its offset. `absent` is the rule for padding or
/// missing words.
inline bool decode_flex_rule(WordReader& words, const Rule& absent, Rule& out, ErrorKind& fault) {
  out = absent;
  if (words.done()) return true;
  const std::uint32_t word = words.control_word();
  if (word == 0) return true;
  if (words.done()) {
    fault = ErrorKind::bad_dataword_count;
    return false;
  }
  std::uint16_t base = Rule::cfa_base;
  if (word & control::reg_p) {
    if (!fits_register(word >> control::reg_shift)) {
      fault = ErrorKind::bad_register;
      return false;
    }
    base = static_cast<std::uint16_t>(word >> control::reg_shift);
  }
  out = {word & control::deref_p ? Rule::Kind::stored : Rule::Kind::value, base, words.signed_word()};
  return true;
}

inline bool decode_flex(const EncodedRow& row, const WordMeaning& meaning, FrameRow& out, ErrorKind& fault) {
  WordReader words(row);
  if (!decode_flex_rule(words, Rule::undefined(), out.cfa, fault)) return false;
  if (out.cfa.kind == Rule::Kind::undefined || out.cfa.base == Rule::cfa_base) {
    fault = ErrorKind::bad_rule;
    return false;
  }
  if (!decode_cfa_offset(out.cfa.offset, *meaning.abi, out.cfa.offset, fault)) return false;
  if (!decode_flex_rule(words, meaning.fixed_ra ? Rule::fixed() : Rule::same(), out.ra, fault)) return false;
  if (!decode_flex_rule(words, meaning.fixed_fp ? Rule::fixed() : Rule::same(), out.fp, fault)) return false;
  fault = ErrorKind::bad_dataword_count;
  return words.done();
}

/// The rules of `row`. False, with the error's kind, if the words are not defined.
inline bool decode_words(const EncodedRow& row, const WordMeaning& meaning, FrameRow& out, ErrorKind& fault) {
  if (row.word_count() == 0) {
    fault = ErrorKind::bad_dataword_count;
    out = FrameRow::outermost(row.offset);
    return meaning.zero_is_outermost;
  }
  out.offset = row.offset;
  out.ra_signed = row.ra_signed();
  return meaning.flex ? decode_flex(row, meaning, out, fault) : decode_standard(row, meaning, out, fault);
}

} // namespace sframe::format
