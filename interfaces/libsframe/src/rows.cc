// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Info bytes, and what a row holds. GNU's functions for offsets return data words as they are: of flexible
// FDEs the word after the control word, whatever that one states.

#include "contexts.h"

namespace sframe::gnu {

namespace {

/// The row, if it can be one.
Result<EncodedRow> checked(const sframe_frame_row_entry* fre) {
  if (!fre || !is_valid(view(*fre))) return unexpected(SFRAME_ERR_FRE_INVAL);
  return view(*fre);
}

/// The row, if it has data word `number`.
Result<EncodedRow> with_word(const sframe_frame_row_entry* fre, std::uint32_t number) {
  const auto row = checked(fre);
  if (row && number >= row->word_count()) return unexpected(SFRAME_ERR_FREOFFSET_NOPRESENT);
  return row;
}

Result<std::int32_t> signed_word(const sframe_frame_row_entry* fre, std::uint32_t number) {
  const auto row = with_word(fre, number);
  if (!row) return unexpected(row.error());
  return row->word(number);
}

Result<std::uint32_t> unsigned_word(const sframe_frame_row_entry* fre, std::uint32_t number) {
  const auto row = with_word(fre, number);
  if (!row) return unexpected(row.error());
  return row->control(number);
}

/// The offset in data word `number`, or the header's fixed one. A flexible FDE may store one in spite of the
/// header.
Result<std::int32_t> offset_or_fixed(const sframe_frame_row_entry& fre, std::uint32_t number,
                                     std::int8_t fixed, bool flex) {
  if (view(fre).word_count() == 0) return signed_word(&fre, 0); // outermost: no offset at all
  if (fixed && !flex) return fixed;
  const auto stored = signed_word(&fre, number);
  if (fixed && !stored) return fixed;
  return stored;
}

bool is_flex(std::uint32_t fde_type) {
  return fde_type == SFRAME_FDE_TYPE_FLEX;
}

Result<std::int32_t> cfa_offset(const sframe_decoder_ctx& decoder, const sframe_frame_row_entry& fre,
                                bool flex) {
  const auto word = signed_word(&fre, flex ? 1 : 0);
  if (!word) return word;
  const AbiTraits& abi = decoder.section.abi();
  return static_cast<std::int32_t>(std::int64_t{*word} * abi.cfa_scale + abi.cfa_bias);
}

Result<std::int32_t> ra_offset(const sframe_decoder_ctx& decoder, const sframe_frame_row_entry& fre,
                               bool flex) {
  return offset_or_fixed(fre, flex ? 3 : 1, decoder.section.header().fixed_ra_offset, flex);
}

Result<std::int32_t> fp_offset(const sframe_decoder_ctx& decoder, const sframe_frame_row_entry& fre,
                               bool flex) {
  const Header& header = decoder.section.header();
  std::uint32_t number = header.fixed_ra_offset ? 1 : 2;
  if (flex) number = unsigned_word(&fre, 2) == 0u ? 4 : 5; // RA is one word of padding, or two words
  return offset_or_fixed(fre, number, header.fixed_fp_offset, flex);
}

/// What the functions for offsets have in common.
template <class Offset>
std::int32_t get_offset(Offset&& offset, const sframe_decoder_ctx* decoder, const sframe_frame_row_entry* fre,
                        std::uint32_t fde_type, int* errp) {
  Result<std::int32_t> result;
  if (!fre)
    result = unexpected<int>(SFRAME_ERR_FRE_INVAL);
  else if (!decoder)
    result = unexpected<int>(SFRAME_ERR_DCTX_INVAL);
  else
    result = offset(*decoder, *fre, is_flex(fde_type));
  report(result ? 0 : result.error(), errp);
  return result.value_or(SFRAME_ERR);
}

/// A property of the row's info byte; true, with an error, if there is no valid row.
template <class Property>
bool get_property(Property&& property, const sframe_frame_row_entry* fre, int* errp) {
  const auto row = checked(fre);
  if (!row) report(row.error(), errp);
  return !row || property(*row);
}

} // namespace

} // namespace sframe::gnu

using namespace sframe::gnu;

unsigned char sframe_fde_create_func_info(uint32_t fre_type, uint32_t fde_type) {
  return static_cast<unsigned char>(SFRAME_V3_FDE_FUNC_INFO(fde_type, fre_type));
}

uint32_t sframe_calc_fre_type(size_t func_size) {
  if (func_size < SFRAME_FRE_TYPE_ADDR1_LIMIT) return SFRAME_FRE_TYPE_ADDR1;
  if (func_size < SFRAME_FRE_TYPE_ADDR2_LIMIT) return SFRAME_FRE_TYPE_ADDR2;
  if (func_size < SFRAME_FRE_TYPE_ADDR4_LIMIT) return SFRAME_FRE_TYPE_ADDR4;
  return SFRAME_FRE_TYPE_ADDR1; // no function is that large; GNU's result
}

uint32_t sframe_get_fre_udata(const sframe_frame_row_entry* fre, int idx, int* errp) {
  const auto word = unsigned_word(fre, static_cast<std::uint32_t>(idx));
  report(word ? 0 : word.error(), errp);
  return word.value_or(static_cast<std::uint32_t>(SFRAME_ERR));
}

uint8_t sframe_fre_get_base_reg_id(const sframe_frame_row_entry* fre, int* errp) {
  if (fre) return SFRAME_V1_FRE_CFA_BASE_REG_ID(fre->fre_info);
  report(SFRAME_ERR_FRE_INVAL, errp);
  return static_cast<std::uint8_t>(SFRAME_ERR);
}

int32_t sframe_fre_get_cfa_offset(const sframe_decoder_ctx* dctx, const sframe_frame_row_entry* fre,
                                  uint32_t fde_type, int* errp) {
  return get_offset(cfa_offset, dctx, fre, fde_type, errp);
}

int32_t sframe_fre_get_fp_offset(const sframe_decoder_ctx* dctx, const sframe_frame_row_entry* fre,
                                 uint32_t fde_type, int* errp) {
  return get_offset(fp_offset, dctx, fre, fde_type, errp);
}

int32_t sframe_fre_get_ra_offset(const sframe_decoder_ctx* dctx, const sframe_frame_row_entry* fre,
                                 uint32_t fde_type, int* errp) {
  return get_offset(ra_offset, dctx, fre, fde_type, errp);
}

bool sframe_fre_get_ra_mangled_p(const sframe_decoder_ctx*, const sframe_frame_row_entry* fre, int* errp) {
  return get_property([](const sframe::EncodedRow& row) { return row.ra_signed(); }, fre, errp);
}

bool sframe_fre_get_ra_undefined_p(const sframe_decoder_ctx*, const sframe_frame_row_entry* fre, int* errp) {
  return get_property([](const sframe::EncodedRow& row) { return row.word_count() == 0; }, fre, errp);
}
