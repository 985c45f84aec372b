/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   The interface of GNU binutils' libsframe, as of binutils 2.47 (libsframe.so.3), declared anew.
   docs/libsframe-gnu.md describes the library and how it differs from GNU's.

   Ownership: a context belongs to the caller, who frees it. A decoder has its own copy of the section. What
   sframe_decoder_get_fres_buf() returns belongs to the decoder, what sframe_encoder_write() returns to the
   encoder, until its next write.

   Errors: functions that return int return 0 or SFRAME_ERR, or an error code where the comment says so.
   `errp`, which may be NULL, receives the error code, and 0 or nothing if there is none. Functions accept
   NULL for a context: they return the error, or 0. */

#ifndef _SFRAME_API_H
#define _SFRAME_API_H

#include <sframe.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sframe_decoder_ctx sframe_decoder_ctx;
typedef struct sframe_encoder_ctx sframe_encoder_ctx;

/* The most data words of a row, and the bytes that they take. */
#define MAX_NUM_DATAWORDS 6
#define MAX_DATAWORD_BYTES ((SFRAME_FRE_DATAWORD_4B * 2 * MAX_NUM_DATAWORDS))

/* A row, whatever the width of its offset. */
typedef struct sframe_frame_row_entry {
  uint32_t fre_start_addr;
  unsigned char fre_datawords[MAX_DATAWORD_BYTES]; /* As stored, in the host's byte order. */
  unsigned char fre_info;
} sframe_frame_row_entry;

#define SFRAME_ERR ((int)-1)

/* The error codes and their texts (one has a typing error, which programs may compare). The user of this list
   defines _SFRAME_FIRST and _SFRAME_ITEM. */
#define _SFRAME_ERRORS                                                                                       \
  _SFRAME_FIRST(SFRAME_ERR_VERSION_INVAL, "SFrame version not supported.")                                   \
  _SFRAME_ITEM(SFRAME_ERR_NOMEM, "Out of Memory.")                                                           \
  _SFRAME_ITEM(SFRAME_ERR_INVAL, "Corrupt SFrame.")                                                          \
  _SFRAME_ITEM(SFRAME_ERR_BUF_INVAL, "Buffer does not contain SFrame data.")                                 \
  _SFRAME_ITEM(SFRAME_ERR_DCTX_INVAL, "Corrupt SFrame decoder.")                                             \
  _SFRAME_ITEM(SFRAME_ERR_ECTX_INVAL, "Corrupt SFrame encoder.")                                             \
  _SFRAME_ITEM(SFRAME_ERR_FDE_INVAL, "Corrput FDE.")                                                         \
  _SFRAME_ITEM(SFRAME_ERR_FRE_INVAL, "Corrupt FRE.")                                                         \
  _SFRAME_ITEM(SFRAME_ERR_FDE_NOTFOUND, "FDE not found.")                                                    \
  _SFRAME_ITEM(SFRAME_ERR_FDE_NOTSORTED, "FDEs not sorted.")                                                 \
  _SFRAME_ITEM(SFRAME_ERR_FRE_NOTFOUND, "FRE not found.")                                                    \
  _SFRAME_ITEM(SFRAME_ERR_FREOFFSET_NOPRESENT, "FRE offset not present.")

#define SFRAME_ERR_BASE 2000

enum {
#define _SFRAME_FIRST(NAME, STR) NAME = SFRAME_ERR_BASE
#define _SFRAME_ITEM(NAME, STR) , NAME
  _SFRAME_ERRORS
#undef _SFRAME_ITEM
#undef _SFRAME_FIRST
};

/* The number of error codes. */
#define SFRAME_ERR_NERR (SFRAME_ERR_FREOFFSET_NOPRESENT - SFRAME_ERR_BASE + 1)

/* The text of an error code, static. Other numbers are errno values. */
extern const char* sframe_errmsg(int error);

/* A function's info byte from an SFRAME_FRE_TYPE_* and an SFRAME_V3_FDE_PCTYPE_*. */
extern unsigned char sframe_fde_create_func_info(uint32_t fre_type, uint32_t fde_type);

/* The narrowest SFRAME_FRE_TYPE_* for a function of this size. */
extern uint32_t sframe_calc_fre_type(size_t func_size);

/* ---- Decoder ---- */

/* A decoder for the section in `sf_buf`, in either byte order; NULL on an error. The buffer may be freed at
 * once. */
extern sframe_decoder_ctx* sframe_decode(const char* sf_buf, size_t sf_size, int* errp);

/* Frees the decoder and sets the pointer to NULL. */
extern void sframe_decoder_free(sframe_decoder_ctx** dctx);

/* The header: its size in bytes with the auxiliary header, and its fields. */
extern unsigned int sframe_decoder_get_hdr_size(const sframe_decoder_ctx* dctx);
extern uint8_t sframe_decoder_get_abi_arch(const sframe_decoder_ctx* dctx);
extern uint8_t sframe_decoder_get_version(const sframe_decoder_ctx* dctx);
extern uint8_t sframe_decoder_get_flags(const sframe_decoder_ctx* dctx);
extern uint32_t sframe_decoder_get_num_fidx(const sframe_decoder_ctx* dctx);
extern int8_t sframe_decoder_get_fixed_fp_offset(const sframe_decoder_ctx* dctx);
extern int8_t sframe_decoder_get_fixed_ra_offset(const sframe_decoder_ctx* dctx);

/* Bytes from the section's start to the start field of function `func_idx`: what starts relative to their own
   field are relative to. The result is the same past the last function, with an error. */
extern uint32_t sframe_decoder_get_offsetof_fde_start_addr(const sframe_decoder_ctx* dctx, uint32_t func_idx,
                                                           int* errp);

/* The row for `pc`, an offset from the section's start. */
extern int sframe_find_fre(const sframe_decoder_ctx* ctx, int64_t pc, sframe_frame_row_entry* frep);

/* Row `fre_idx` of function `func_idx`. Constant cost if the last call was for this row or the one before it,
   else linear in `fre_idx`. Any number of threads may use a decoder. */
extern int sframe_decoder_get_fre(const sframe_decoder_ctx* ctx, unsigned int func_idx, unsigned int fre_idx,
                                  sframe_frame_row_entry* fre);

/* The encoded rows of a function, in version 3 with the attributes before them. */
extern int sframe_decoder_get_fres_buf(const sframe_decoder_ctx* dctx, uint32_t func_idx, char** fres_buf,
                                       size_t* fres_buf_size, uint32_t* num_fres);

/* A function's fields. The start is the field as stored. */
extern int sframe_decoder_get_funcdesc_v2(const sframe_decoder_ctx* ctx, unsigned int i, uint32_t* num_fres,
                                          uint32_t* func_size, int32_t* func_start_address,
                                          unsigned char* func_info, uint8_t* rep_block_size);
extern int sframe_decoder_get_funcdesc_v3(const sframe_decoder_ctx* dctx, unsigned int i, uint32_t* num_fres,
                                          uint32_t* func_size, int64_t* start_pc_offset,
                                          unsigned char* func_info, unsigned char* func_info2,
                                          uint8_t* rep_block_size);

/* Prints the section, at address `addr`, to the standard output, as objdump --sframe does. */
extern void dump_sframe(const sframe_decoder_ctx* decoder, uint64_t addr);

/* ---- Rows ---- */

/* Data word `idx` as an unsigned number. */
extern uint32_t sframe_get_fre_udata(const sframe_frame_row_entry* fre, int idx, int* errp);

/* The CFA's base register: SFRAME_BASE_REG_*. */
extern uint8_t sframe_fre_get_base_reg_id(const sframe_frame_row_entry* fre, int* errp);

/* The offsets of CFA, FP and RA in a row of a function of `fde_type` (SFRAME_FDE_TYPE_DEFAULT or _FLEX).
   Fixed offsets come from the header. In version 2, an odd offset of s390x is a register number. */
extern int32_t sframe_fre_get_cfa_offset(const sframe_decoder_ctx* dctx, const sframe_frame_row_entry* fre,
                                         uint32_t fde_type, int* errp);
extern int32_t sframe_fre_get_fp_offset(const sframe_decoder_ctx* dctx, const sframe_frame_row_entry* fre,
                                        uint32_t fde_type, int* errp);
extern int32_t sframe_fre_get_ra_offset(const sframe_decoder_ctx* dctx, const sframe_frame_row_entry* fre,
                                        uint32_t fde_type, int* errp);

/* AArch64: whether the return address is signed. */
extern bool sframe_fre_get_ra_mangled_p(const sframe_decoder_ctx* dctx, const sframe_frame_row_entry* fre,
                                        int* errp);

/* Whether the row is of the outermost frame. */
extern bool sframe_fre_get_ra_undefined_p(const sframe_decoder_ctx* dctx, const sframe_frame_row_entry* fre,
                                          int* errp);

/* ---- Encoder ---- */

/* An encoder for a section with this header; NULL on an error. */
extern sframe_encoder_ctx* sframe_encode(uint8_t ver, uint8_t flags, uint8_t abi_arch, int8_t fixed_fp_offset,
                                         int8_t fixed_ra_offset, int* errp);

/* Frees the encoder and what it wrote, and sets the pointer to NULL. */
extern void sframe_encoder_free(sframe_encoder_ctx** ectxp);

extern unsigned int sframe_encoder_get_hdr_size(sframe_encoder_ctx* ectx);
extern uint8_t sframe_encoder_get_abi_arch(sframe_encoder_ctx* ectx);
extern uint8_t sframe_encoder_get_version(sframe_encoder_ctx* ectx);
extern uint8_t sframe_encoder_get_flags(sframe_encoder_ctx* ectx);
extern uint32_t sframe_encoder_get_num_fidx(sframe_encoder_ctx* ectx);

/* As the decoder's function. */
extern uint32_t sframe_encoder_get_offsetof_fde_start_addr(sframe_encoder_ctx* ectx, uint32_t func_idx,
                                                           int* errp);

/* Adds a function: its fields as they will be stored. The rows follow, by sframe_encoder_add_fre() one at a
   time, or by sframe_encoder_add_fres_buf() all at once. */
extern int sframe_encoder_add_funcdesc(sframe_encoder_ctx* ectx, int64_t start_addr, uint32_t func_size);
extern int sframe_encoder_add_funcdesc_v2(sframe_encoder_ctx* ectx, int32_t start_addr, uint32_t func_size,
                                          unsigned char func_info, uint8_t rep_block_size, uint32_t num_fres);
extern int sframe_encoder_add_funcdesc_v3(sframe_encoder_ctx* ectx, int64_t start_pc_offset,
                                          uint32_t func_size, unsigned char func_info,
                                          unsigned char func_info2, uint8_t rep_block_size,
                                          uint32_t num_fres);

/* Adds a row to function `func_idx`. */
extern int sframe_encoder_add_fre(sframe_encoder_ctx* ectx, unsigned int func_idx,
                                  sframe_frame_row_entry* frep);

/* Adds rows as sframe_decoder_get_fres_buf() returns them to function `func_idx`. */
extern int sframe_encoder_add_fres_buf(sframe_encoder_ctx* ectx, unsigned int func_idx, uint32_t num_fres,
                                       const char* fres_buf, size_t fres_buf_size);

/* The section, in the byte order of the ABI, its functions sorted by address if `sort_fde_p`. */
extern char* sframe_encoder_write(sframe_encoder_ctx* ectx, size_t* encoded_size, bool sort_fde_p, int* errp);

#ifdef __cplusplus
}
#endif

#endif /* _SFRAME_API_H */
