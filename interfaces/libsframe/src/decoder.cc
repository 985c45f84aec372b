// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading: sframe_decode() and the decoder's functions. The header is checked at once, functions and rows
// when they are read, all by the codec.

#include "contexts.h"

#include "sframe/convert.h"

#include <algorithm>
#include <span>

namespace sframe::gnu {

namespace {

/// Binutils 2.47 reads versions 2 and 3.
constexpr std::uint8_t oldest_version = SFRAME_VERSION_2, newest_version = SFRAME_VERSION_3;

bool is_supported(const Section& section) {
  const VersionTraits& version = section.version();
  return version.number >= oldest_version && version.number <= newest_version &&
         !(section.header().flags & ~version.flags);
}

/// The section at the start of `bytes` as a copy in the host's byte order.
expected<std::vector<std::byte>, Error> in_host_order(const Section& section) {
  if (section.header().byte_order != host_order) return flip_byte_order(section.bytes());
  return std::vector<std::byte>(section.bytes().begin(), section.bytes().end());
}

/// GNU's library refuses a section of the other byte order if anything but padding follows it.
bool is_followed_well(const Section& section, std::span<const std::byte> bytes) {
  return section.header().byte_order == host_order ||
         std::ranges::all_of(bytes.subspan(section.bytes().size()),
                             [](std::byte b) { return b == std::byte{0}; });
}

Result<sframe_decoder_ctx*> decode(std::span<const std::byte> bytes) {
  const auto given = Section::parse(bytes);
  if (!given || !is_supported(*given) || !is_followed_well(*given, bytes))
    return unexpected(SFRAME_ERR_BUF_INVAL);
  auto copy = in_host_order(*given);
  if (!copy) return unexpected(SFRAME_ERR_BUF_INVAL);
  const auto section = Section::parse(*copy);
  if (!section) return unexpected(SFRAME_ERR_BUF_INVAL);
  return new sframe_decoder_ctx{std::move(*copy),
                                *section}; // a vector's bytes stay where they are when it moves
}

/// The function, or nothing if there is no such function or it is malformed.
std::optional<EncodedFde> find_function(const sframe_decoder_ctx* decoder, std::uint32_t number) {
  if (!decoder) return std::nullopt;
  const auto fde = decoder->section.fde(number);
  return fde ? std::optional(*fde) : std::nullopt;
}

/// The start as stored: the codec returns addresses, of a section at address 0.
std::int64_t stored_start(const Section& section, const EncodedFde& fde) {
  const bool pcrel = section.header().flags & flag_func_start_pcrel;
  return static_cast<std::int64_t>(fde.start - (pcrel ? fde.index_offset : 0));
}

int copy_row(const EncodedRow& row, sframe_frame_row_entry& out) {
  if (!is_valid(row)) return SFRAME_ERR;
  out = {};
  out.fre_start_addr = row.offset;
  out.fre_info = row.info;
  std::copy_n(reinterpret_cast<const unsigned char*>(row.words), row.word_count() * row.word_size(),
              out.fre_datawords);
  return 0;
}

/// Row `number` of the function. Constant cost if `place` is at it or at the row before, else linear in the
/// number.
std::optional<EncodedRow> find_row(const Section& section, const EncodedFde& fde, std::uint32_t number,
                                   sframe_decoder_ctx::Place& place) {
  if (!place.rows || place.function != fde.number || (place.row && place.row->number > number))
    place = {fde.number, section.rows(fde), std::nullopt};
  EncodedRow row;
  while ((!place.row || place.row->number < number) && place.rows->next(row)) place.row = row;
  return place.row && place.row->number == number ? place.row : std::nullopt;
}

/// As above, from the decoder's own place, unless another thread is using it.
std::optional<EncodedRow> find_row(const sframe_decoder_ctx& decoder, const EncodedFde& fde,
                                   std::uint32_t number) {
  if (decoder.place_taken.test_and_set(std::memory_order_acquire)) {
    sframe_decoder_ctx::Place place;
    return find_row(decoder.section, fde, number, place);
  }
  const auto row = find_row(decoder.section, fde, number, decoder.place);
  decoder.place_taken.clear(std::memory_order_release);
  return row;
}

template <class T> void store_if(T* out, T value) {
  if (out) *out = value;
}

} // namespace

} // namespace sframe::gnu

using namespace sframe::gnu;

sframe_decoder_ctx* sframe_decode(const char* sf_buf, size_t sf_size, int* errp) {
  return guarded_pointer(errp, [&]() -> Result<sframe_decoder_ctx*> {
    if (!sf_buf || !sf_size) return sframe::unexpected(SFRAME_ERR_INVAL);
    return decode(std::as_bytes(std::span(sf_buf, sf_size)));
  });
}

void sframe_decoder_free(sframe_decoder_ctx** dctx) {
  if (dctx) delete std::exchange(*dctx, nullptr);
}

unsigned int sframe_decoder_get_hdr_size(const sframe_decoder_ctx* dctx) {
  return dctx ? sframe::header_size + dctx->section.header().aux_header_size : 0;
}

uint8_t sframe_decoder_get_abi_arch(const sframe_decoder_ctx* dctx) {
  return dctx ? dctx->section.header().abi : 0;
}

uint8_t sframe_decoder_get_version(const sframe_decoder_ctx* dctx) {
  return dctx ? dctx->section.header().version : 0;
}

uint8_t sframe_decoder_get_flags(const sframe_decoder_ctx* dctx) {
  return dctx ? dctx->section.header().flags : 0;
}

uint32_t sframe_decoder_get_num_fidx(const sframe_decoder_ctx* dctx) {
  return dctx ? dctx->section.num_fdes() : 0;
}

int8_t sframe_decoder_get_fixed_fp_offset(const sframe_decoder_ctx* dctx) {
  return dctx ? dctx->section.header().fixed_fp_offset : std::int8_t{0};
}

int8_t sframe_decoder_get_fixed_ra_offset(const sframe_decoder_ctx* dctx) {
  return dctx ? dctx->section.header().fixed_ra_offset : std::int8_t{0};
}

uint32_t sframe_decoder_get_offsetof_fde_start_addr(const sframe_decoder_ctx* dctx, uint32_t func_idx,
                                                    int* errp) {
  if (!dctx) {
    report(SFRAME_ERR_DCTX_INVAL, errp);
    return 0;
  }
  const sframe::Section& section = dctx->section;
  report(func_idx < section.num_fdes() ? 0 : SFRAME_ERR_FDE_NOTFOUND, errp);
  return static_cast<std::uint32_t>(section.index_offset() +
                                    std::uint64_t{func_idx} * section.version().entry_size);
}

int sframe_find_fre(const sframe_decoder_ctx* ctx, int64_t pc, sframe_frame_row_entry* frep) {
  if (!ctx || !frep || !ctx->section.sorted())
    return SFRAME_ERR; // GNU's library searches sorted sections only
  const auto address = static_cast<std::uint64_t>(pc);
  const auto fde = ctx->section.find_fde(address);
  if (!fde || !*fde) return SFRAME_ERR;
  sframe::RowCursor rows = ctx->section.rows(**fde);
  sframe::EncodedRow row;
  return rows.seek((*fde)->row_offset(address), row) ? copy_row(row, *frep) : SFRAME_ERR;
}

int sframe_decoder_get_fre(const sframe_decoder_ctx* ctx, unsigned int func_idx, unsigned int fre_idx,
                           sframe_frame_row_entry* fre) {
  const auto fde = find_function(ctx, func_idx);
  if (!fde || !fre) return SFRAME_ERR;
  const auto row = find_row(*ctx, *fde, fre_idx);
  return row ? copy_row(*row, *fre) : SFRAME_ERR;
}

int sframe_decoder_get_fres_buf(const sframe_decoder_ctx* dctx, uint32_t func_idx, char** fres_buf,
                                size_t* fres_buf_size, uint32_t* num_fres) {
  const auto fde = find_function(dctx, func_idx);
  if (!fde || !fres_buf || !fres_buf_size || !num_fres) return SFRAME_ERR;
  sframe::RowCursor rows = dctx->section.rows(*fde);
  for (sframe::EncodedRow row; rows.next(row);)
    if (!is_valid(row)) return SFRAME_ERR;
  if (rows.error()) return SFRAME_ERR;
  const std::uint64_t begin = fde->rows_offset - dctx->section.version().attribute_size;
  const auto* bytes = reinterpret_cast<const char*>(dctx->bytes.data()) + begin;
  *fres_buf = const_cast<char*>(bytes); // GNU's interface has no const here; the buffer is for reading
  *fres_buf_size = rows.section_offset() - begin;
  *num_fres = fde->num_fres;
  return 0;
}

int sframe_decoder_get_funcdesc_v2(const sframe_decoder_ctx* ctx, unsigned int i, uint32_t* num_fres,
                                   uint32_t* func_size, int32_t* func_start_address, unsigned char* func_info,
                                   uint8_t* rep_block_size) {
  const auto fde = find_function(ctx, i);
  if (!fde || !num_fres || !func_size || !func_start_address || !func_info || !rep_block_size)
    return SFRAME_ERR;
  *num_fres = fde->num_fres;
  *func_size = fde->size;
  *func_start_address = static_cast<std::int32_t>(stored_start(ctx->section, *fde));
  *func_info = fde->info;
  *rep_block_size = fde->rep_size;
  return 0;
}

int sframe_decoder_get_funcdesc_v3(const sframe_decoder_ctx* dctx, unsigned int i, uint32_t* num_fres,
                                   uint32_t* func_size, int64_t* start_pc_offset, unsigned char* func_info,
                                   unsigned char* func_info2, uint8_t* rep_block_size) {
  const auto fde = find_function(dctx, i);
  if (!fde || dctx->section.header().version != SFRAME_VERSION_3) return SFRAME_ERR;
  store_if(num_fres, fde->num_fres);
  store_if(func_size, fde->size);
  store_if(start_pc_offset, stored_start(dctx->section, *fde));
  store_if(func_info, fde->info);
  store_if(func_info2, fde->info2);
  store_if(rep_block_size, fde->rep_size);
  return 0;
}
