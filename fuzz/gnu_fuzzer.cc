// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arbitrary bytes through the interface of GNU's libsframe: every function of the decoder, and the encoder
// with the functions that were read. What is written decodes to the same functions and rows.

#include "cost.h"

#include <sframe-api.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

using sframe::fuzz::require;

namespace {

/// Functions may share rows, and a row is found by a walk from the function's first.
constexpr std::uint32_t max_functions = 200, max_rows = 200;

struct Function {
  std::uint32_t num_fres = 0, size = 0;
  std::int64_t start = 0;
  unsigned char info = 0, info2 = 0;
  std::uint8_t rep_size = 0;
  char* rows = nullptr;
  std::size_t rows_size = 0;
};

/// False if the function is malformed.
bool read(const sframe_decoder_ctx* decoder, std::uint32_t number, Function& out) {
  if (sframe_decoder_get_funcdesc_v3(decoder, number, &out.num_fres, &out.size, &out.start, &out.info,
                                     &out.info2, &out.rep_size))
    return false;
  std::uint32_t num_fres = 0;
  if (sframe_decoder_get_fres_buf(decoder, number, &out.rows, &out.rows_size, &num_fres)) return false;
  require(num_fres == out.num_fres);
  return true;
}

void use_row(const sframe_decoder_ctx* decoder, const sframe_frame_row_entry& row) {
  int error = 0;
  for (int i = -1; i <= MAX_NUM_DATAWORDS; ++i) (void)sframe_get_fre_udata(&row, i, &error);
  for (const std::uint32_t type : {SFRAME_FDE_TYPE_DEFAULT, SFRAME_FDE_TYPE_FLEX}) {
    (void)sframe_fre_get_cfa_offset(decoder, &row, type, &error);
    (void)sframe_fre_get_fp_offset(decoder, &row, type, &error);
    (void)sframe_fre_get_ra_offset(decoder, &row, type, nullptr);
  }
  (void)sframe_fre_get_base_reg_id(&row, nullptr);
  (void)sframe_fre_get_ra_mangled_p(decoder, &row, &error);
  (void)sframe_fre_get_ra_undefined_p(decoder, &row, &error);
}

void use_function(const sframe_decoder_ctx* decoder, std::uint32_t number) {
  std::uint32_t num_fres = 0, size = 0;
  std::int32_t start = 0;
  unsigned char info = 0;
  std::uint8_t rep_size = 0;
  const bool good =
      !sframe_decoder_get_funcdesc_v2(decoder, number, &num_fres, &size, &start, &info, &rep_size);
  sframe_frame_row_entry row;
  for (std::uint32_t i = 0; i < max_rows && !sframe_decoder_get_fre(decoder, number, i, &row); ++i) {
    require(good);
    use_row(decoder, row);
  }
  Function function;
  (void)read(decoder, number, function);
  const bool pcrel = sframe_decoder_get_flags(decoder) & SFRAME_F_FDE_FUNC_START_PCREL;
  const std::uint32_t field = sframe_decoder_get_offsetof_fde_start_addr(decoder, number, nullptr);
  const std::int64_t offset = std::int64_t{start} + (pcrel ? field : 0);
  for (const std::int64_t place :
       {std::int64_t{-1}, std::int64_t{0}, std::int64_t{size / 2}, std::int64_t{size}})
    if (!sframe_find_fre(decoder, offset + place, &row)) use_row(decoder, row);
}

/// Everything that was read, written again. `limit` functions at most.
void write_again(const sframe_decoder_ctx* decoder, std::uint32_t limit) {
  int error = 0;
  sframe_encoder_ctx* encoder = sframe_encode(
      SFRAME_VERSION_3, SFRAME_F_FDE_FUNC_START_PCREL, sframe_decoder_get_abi_arch(decoder),
      sframe_decoder_get_fixed_fp_offset(decoder), sframe_decoder_get_fixed_ra_offset(decoder), &error);
  require(encoder);
  require(sframe_encoder_get_version(encoder) == SFRAME_VERSION_3 &&
          sframe_encoder_get_flags(encoder) & SFRAME_F_FDE_FUNC_START_PCREL &&
          sframe_encoder_get_abi_arch(encoder) == sframe_decoder_get_abi_arch(decoder) &&
          sframe_encoder_get_hdr_size(encoder) == sizeof(sframe_header));
  std::uint32_t added = 0;
  for (std::uint32_t i = 0; i < limit; ++i) {
    require(sframe_encoder_get_num_fidx(encoder) == added);
    int beyond = 0;
    (void)sframe_encoder_get_offsetof_fde_start_addr(encoder, added, &beyond);
    require(beyond != 0);
    Function function;
    if (!read(decoder, i, function)) continue;
    require(!sframe_encoder_add_funcdesc_v3(encoder, function.start, function.size, function.info,
                                            function.info2, function.rep_size, function.num_fres));
    // A row past the function's end is refused in blocks, whose offsets are checked against the block only.
    (void)sframe_encoder_add_fres_buf(encoder, added++, function.num_fres, function.rows, function.rows_size);
  }
  std::size_t size = 0;
  for (const bool sort : {false, true}) {
    const char* bytes = sframe_encoder_write(encoder, &size, sort, &error);
    require((bytes != nullptr) == (added > 0));
    if (!bytes) break;
    sframe_decoder_ctx* again = sframe_decode(bytes, size, &error);
    require(again);
    require(sframe_decoder_get_num_fidx(again) == added);
    Function function, first;
    if (!sort && read(decoder, 0, first) && read(again, 0, function) && function.num_fres == first.num_fres)
      require(function.rows_size == first.rows_size &&
              !std::memcmp(function.rows, first.rows, first.rows_size));
    sframe_decoder_free(&again);
  }
  sframe_encoder_free(&encoder);
}

/// Row by row, with the interface of version 2.
void write_rows(const sframe_decoder_ctx* decoder, std::uint32_t limit) {
  int error = 0;
  sframe_encoder_ctx* encoder = sframe_encode(SFRAME_VERSION_2, 0, sframe_decoder_get_abi_arch(decoder),
                                              sframe_decoder_get_fixed_fp_offset(decoder),
                                              sframe_decoder_get_fixed_ra_offset(decoder), &error);
  if (!encoder) {
    require(*sframe_errmsg(error));
    return;
  }
  std::uint32_t added = 0;
  for (std::uint32_t i = 0; i < limit; ++i) {
    std::uint32_t num_fres = 0, size = 0;
    std::int32_t start = 0;
    unsigned char info = 0;
    std::uint8_t rep_size = 0;
    if (sframe_decoder_get_funcdesc_v2(decoder, i, &num_fres, &size, &start, &info, &rep_size) ||
        sframe_encoder_add_funcdesc_v2(encoder, start, size, info, rep_size, num_fres))
      continue;
    sframe_frame_row_entry row;
    for (std::uint32_t j = 0; j < max_rows && !sframe_decoder_get_fre(decoder, i, j, &row); ++j)
      (void)sframe_encoder_add_fre(encoder, added, &row);
    ++added;
  }
  std::size_t size = 0;
  (void)sframe_encoder_write(encoder, &size, true, &error);
  sframe_encoder_free(&encoder);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool quiet = std::freopen("/dev/null", "w", stdout) != nullptr; // dump_sframe() prints
  (void)quiet;
  const sframe::fuzz::Cost cost(size, sframe::fuzz::many_passes);
  int error = 0;
  sframe_decoder_ctx* decoder = sframe_decode(reinterpret_cast<const char*>(data), size, &error);
  require(decoder || *sframe_errmsg(error));
  if (!decoder) return 0;
  const std::uint32_t functions = std::min(sframe_decoder_get_num_fidx(decoder), max_functions);
  for (std::uint32_t i = 0; i <= functions; ++i) use_function(decoder, i);
  std::uint64_t rows = 0;
  for (std::uint32_t i = 0; i < functions; ++i) {
    Function function;
    if (read(decoder, i, function)) rows += function.num_fres;
  }
  if (sframe_decoder_get_num_fidx(decoder) <= max_functions && rows < 100'000) dump_sframe(decoder, 0x1000);
  write_again(decoder, functions);
  write_rows(decoder, functions);
  sframe_decoder_free(&decoder);
  return 0;
}
