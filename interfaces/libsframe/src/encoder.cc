// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writing: sframe_encode() and the encoder's functions. They write rows as they are given, unlike the codec's
// Builder, which chooses the encoding. Binutils 2.47 writes version 3 only, with function starts relative to
// their own field.

#include "contexts.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace sframe::gnu {

namespace {

using Function = sframe_encoder_ctx::Function;

constexpr std::uint32_t max_fres = 0xffff; // of a function

/// `value` as it is stored in a section of that byte order.
template <class T> T ordered(T value, ByteOrder order) {
  return order == host_order ? value : swap_bytes(value);
}

template <class T> void append(std::vector<std::byte>& out, const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// Bytes of a row's offset; nothing if the info byte is malformed.
std::optional<std::uint32_t> offset_size(std::uint8_t func_info) {
  const std::uint32_t type = SFRAME_V3_FDE_FRE_TYPE(func_info);
  return type <= SFRAME_FRE_TYPE_ADDR4 ? std::optional(1u << type) : std::nullopt;
}

/// Appends a row to `function`; false if it cannot be one of it.
bool add_row(Function& function, const EncodedRow& row, ByteOrder order) {
  const auto size = offset_size(function.info);
  if (!size || !is_valid(row) || row.offset > function.size || function.num_fres == max_fres) return false;
  if (row.offset >= std::uint64_t{1} << 8 * *size) return false;
  const std::size_t begin = function.rows.size();
  function.rows.resize(begin + *size + 1 + row.word_count() * row.word_size());
  std::byte* to = function.rows.data() + begin;
  store_sized(to, row.offset, *size, order);
  to += *size;
  *to++ = std::byte{row.info};
  for (std::uint32_t i = 0; i < row.word_count(); ++i, to += row.word_size())
    store_sized(to, row.control(i), row.word_size(), order);
  ++function.num_fres;
  return true;
}

/// The row at the start of `bytes`, which are in the host's byte order; `bytes` then starts after it.
std::optional<EncodedRow> take_row(std::span<const std::byte>& bytes, std::uint32_t offset_size) {
  if (bytes.size() <= offset_size) return std::nullopt;
  EncodedRow row{
      .offset = static_cast<std::uint32_t>(load_sized(bytes.data(), offset_size, host_order)),
      .info = std::to_integer<std::uint8_t>(bytes[offset_size]),
      .words = bytes.data() + offset_size + 1,
      .byte_order = host_order,
  };
  const std::size_t size = offset_size + 1 + std::size_t{row.word_count()} * row.word_size();
  if (!is_valid(row) || size > bytes.size()) return std::nullopt;
  bytes = bytes.subspan(size);
  return row;
}

/// The function as it is after the rows in `bytes` have been added: attributes, and all rows, in the host's
/// byte order.
std::optional<Function> with_rows(Function function, std::uint32_t num_fres, std::span<const std::byte> bytes,
                                  ByteOrder order) {
  sframe_func_desc_attr_v3 attributes;
  if (bytes.size() < sizeof attributes) return std::nullopt;
  std::memcpy(&attributes, bytes.data(), sizeof attributes);
  bytes = bytes.subspan(sizeof attributes);
  function.info = attributes.sfda_func_info;
  function.info2 = attributes.sfda_func_info2;
  function.rep_size = attributes.sfda_func_rep_size;
  const auto size = offset_size(function.info);
  if (!size) return std::nullopt;
  function.rows.reserve(function.rows.size() + bytes.size());
  for (std::uint32_t i = 0; i < num_fres; ++i) {
    const auto row = take_row(bytes, *size);
    if (!row || !add_row(function, *row, order)) return std::nullopt;
  }
  return bytes.empty() ? std::optional(std::move(function)) : std::nullopt;
}

Function* find_function(sframe_encoder_ctx* encoder, std::uint32_t number) {
  return encoder && number < encoder->functions.size() ? &encoder->functions[number] : nullptr;
}

/// Bytes from the section's start to an index entry, which starts with the function's start.
std::uint64_t field_offset(std::uint64_t number) {
  return sizeof(sframe_header) + number * sizeof(sframe_func_desc_idx_v3);
}

/// A function's place in the section.
struct Placed {
  std::int64_t start; ///< from the section's start
  const Function* function;
};

std::vector<Placed> place(const sframe_encoder_ctx& encoder, bool sort) {
  std::vector<Placed> placed;
  for (const Function& function : encoder.functions) {
    const std::uint64_t field = field_offset(placed.size());
    placed.push_back(
        {static_cast<std::int64_t>(static_cast<std::uint64_t>(function.start) + field), &function});
  }
  if (sort) std::ranges::stable_sort(placed, {}, &Placed::start);
  return placed;
}

sframe_header make_header(const sframe_encoder_ctx& encoder, std::uint64_t num_fres, std::uint64_t fre_size) {
  const ByteOrder order = encoder.abi->byte_order;
  const auto field = [&](std::uint64_t value) { return ordered(static_cast<std::uint32_t>(value), order); };
  const std::uint64_t num_fdes = encoder.functions.size();
  return {
      .sfh_preamble = {ordered(std::uint16_t{SFRAME_MAGIC}, order), SFRAME_VERSION_3, encoder.flags},
      .sfh_abi_arch = static_cast<std::uint8_t>(encoder.abi->id),
      .sfh_cfa_fixed_fp_offset = encoder.fixed_fp_offset,
      .sfh_cfa_fixed_ra_offset = encoder.fixed_ra_offset,
      .sfh_auxhdr_len = 0,
      .sfh_num_fdes = field(num_fdes),
      .sfh_num_fres = field(num_fres),
      .sfh_fre_len = field(fre_size),
      .sfh_fdeoff = 0,
      .sfh_freoff = field(num_fdes * sizeof(sframe_func_desc_idx_v3)),
  };
}

void append_entry(std::vector<std::byte>& out, const Placed& placed, std::uint64_t fre_offset,
                  ByteOrder order) {
  const auto start = static_cast<std::int64_t>(static_cast<std::uint64_t>(placed.start) - out.size());
  append(out, sframe_func_desc_idx_v3{ordered(start, order), ordered(placed.function->size, order),
                                      ordered(static_cast<std::uint32_t>(fre_offset), order)});
}

void append_function_data(std::vector<std::byte>& out, const Function& function, ByteOrder order) {
  append(out, sframe_func_desc_attr_v3{ordered(static_cast<std::uint16_t>(function.num_fres), order),
                                       function.info, function.info2, function.rep_size});
  out.insert(out.end(), function.rows.begin(), function.rows.end());
}

Result<std::vector<std::byte>> write(const sframe_encoder_ctx& encoder, bool sort) {
  // The functions' data stays in the order of adding, as GNU's library leaves it.
  std::vector<std::uint64_t> fre_offsets;
  std::uint64_t num_fres = 0, fre_size = 0;
  for (const Function& function : encoder.functions) {
    fre_offsets.push_back(fre_size);
    num_fres += function.num_fres;
    fre_size += sizeof(sframe_func_desc_attr_v3) + function.rows.size();
  }
  if (field_offset(encoder.functions.size()) + fre_size > UINT32_MAX)
    return unexpected(SFRAME_ERR_ECTX_INVAL);

  const ByteOrder order = encoder.abi->byte_order;
  std::vector<std::byte> out;
  out.reserve(field_offset(encoder.functions.size()) + fre_size);
  append(out, make_header(encoder, num_fres, fre_size));
  for (const Placed& placed : place(encoder, sort))
    append_entry(out, placed,
                 fre_offsets[static_cast<std::size_t>(placed.function - encoder.functions.data())], order);
  for (const Function& function : encoder.functions) append_function_data(out, function, order);
  return out;
}

} // namespace

} // namespace sframe::gnu

using namespace sframe::gnu;

sframe_encoder_ctx* sframe_encode(uint8_t ver, uint8_t flags, uint8_t abi_arch, int8_t fixed_fp_offset,
                                  int8_t fixed_ra_offset, int* errp) {
  return guarded_pointer(errp, [&]() -> Result<sframe_encoder_ctx*> {
    if (ver != SFRAME_VERSION_3) return sframe::unexpected(SFRAME_ERR_VERSION_INVAL);
    const sframe::AbiTraits* abi = sframe::find_abi(abi_arch);
    if (!abi || !(flags & SFRAME_F_FDE_FUNC_START_PCREL) || flags & ~SFRAME_V2_F_ALL_FLAGS)
      return sframe::unexpected(SFRAME_ERR_ECTX_INVAL);
    return new sframe_encoder_ctx{flags, abi, fixed_fp_offset, fixed_ra_offset, {}, {}};
  });
}

void sframe_encoder_free(sframe_encoder_ctx** ectxp) {
  if (ectxp) delete std::exchange(*ectxp, nullptr);
}

unsigned int sframe_encoder_get_hdr_size(sframe_encoder_ctx* ectx) {
  return ectx ? sizeof(sframe_header) : 0;
}

uint8_t sframe_encoder_get_abi_arch(sframe_encoder_ctx* ectx) {
  return ectx ? static_cast<std::uint8_t>(ectx->abi->id) : 0;
}

uint8_t sframe_encoder_get_version(sframe_encoder_ctx* ectx) {
  return ectx ? SFRAME_VERSION_3 : 0;
}

uint8_t sframe_encoder_get_flags(sframe_encoder_ctx* ectx) {
  return ectx ? ectx->flags : 0;
}

uint32_t sframe_encoder_get_num_fidx(sframe_encoder_ctx* ectx) {
  return ectx ? static_cast<std::uint32_t>(ectx->functions.size()) : 0;
}

uint32_t sframe_encoder_get_offsetof_fde_start_addr(sframe_encoder_ctx* ectx, uint32_t func_idx, int* errp) {
  if (!ectx) {
    report(SFRAME_ERR_ECTX_INVAL, errp);
    return 0;
  }
  report(func_idx < ectx->functions.size() ? 0 : SFRAME_ERR_FDE_INVAL, errp);
  return static_cast<std::uint32_t>(field_offset(func_idx));
}

int sframe_encoder_add_funcdesc(sframe_encoder_ctx* ectx, int64_t start_addr, uint32_t func_size) {
  return ectx ? sframe_encoder_add_funcdesc_v3(ectx, start_addr, func_size, 0, 0, 0, 0) : SFRAME_ERR;
}

int sframe_encoder_add_funcdesc_v2(sframe_encoder_ctx* ectx, int32_t start_addr, uint32_t func_size,
                                   unsigned char func_info, uint8_t rep_block_size, uint32_t num_fres) {
  if (!ectx) return SFRAME_ERR;
  return sframe_encoder_add_funcdesc_v3(ectx, start_addr, func_size, func_info, 0, rep_block_size, num_fres);
}

// The number of rows is that of the rows added: GNU's library ignores the argument, too.
int sframe_encoder_add_funcdesc_v3(sframe_encoder_ctx* ectx, int64_t start_pc_offset, uint32_t func_size,
                                   unsigned char func_info, unsigned char func_info2, uint8_t rep_block_size,
                                   uint32_t) {
  if (!ectx) return SFRAME_ERR_INVAL; // the only one that returns the code
  return guarded([&] {
    ectx->functions.push_back({.start = start_pc_offset,
                               .size = func_size,
                               .info = func_info,
                               .info2 = func_info2,
                               .rep_size = rep_block_size});
    return 0;
  });
}

int sframe_encoder_add_fre(sframe_encoder_ctx* ectx, unsigned int func_idx, sframe_frame_row_entry* frep) {
  Function* function = find_function(ectx, func_idx);
  if (!function || !frep) return SFRAME_ERR;
  return guarded([&] { return add_row(*function, view(*frep), ectx->abi->byte_order) ? 0 : SFRAME_ERR; });
}

int sframe_encoder_add_fres_buf(sframe_encoder_ctx* ectx, unsigned int func_idx, uint32_t num_fres,
                                const char* fres_buf, size_t fres_buf_size) {
  Function* function = find_function(ectx, func_idx);
  if (!function || !fres_buf) return SFRAME_ERR;
  return guarded([&] {
    auto changed = with_rows(*function, num_fres, std::as_bytes(std::span(fres_buf, fres_buf_size)),
                             ectx->abi->byte_order);
    if (!changed) return SFRAME_ERR;
    *function = std::move(*changed);
    return 0;
  });
}

char* sframe_encoder_write(sframe_encoder_ctx* ectx, size_t* encoded_size, bool sort_fde_p, int* errp) {
  if (encoded_size) *encoded_size = 0;
  return guarded_pointer(errp, [&]() -> Result<char*> {
    if (!ectx || !encoded_size) return sframe::unexpected(SFRAME_ERR_INVAL);
    // An empty section is no section, and a section that is marked as sorted must be.
    if (ectx->functions.empty() || (!sort_fde_p && ectx->flags & SFRAME_F_FDE_SORTED))
      return sframe::unexpected(SFRAME_ERR_BUF_INVAL);
    if (sort_fde_p) ectx->flags |= SFRAME_F_FDE_SORTED;
    auto written = write(*ectx, sort_fde_p);
    if (!written) return sframe::unexpected(written.error());
    ectx->written = std::move(*written);
    *encoded_size = ectx->written.size();
    return reinterpret_cast<char*>(ectx->written.data());
  });
}
