/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

   The format's constants and structures under the names of GNU binutils' header of the same name, for
   programs written for it. Names, types and values are those of binutils 2.47; test/lit/libsframe-gnu
   compares them. (Version 3's specification; the names that end in V1 or V2 hold for later versions too,
   unless there is a newer one.) */

#ifndef _SFRAME_H
#define _SFRAME_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SFRAME_VERSION_1 1
#define SFRAME_VERSION_2 2
#define SFRAME_VERSION_3 3
#define SFRAME_VERSION SFRAME_VERSION_3

#define SFRAME_MAGIC 0xdee2

/* sfp_flags. */
#define SFRAME_F_FDE_SORTED 0x1
#define SFRAME_F_FRAME_POINTER 0x2 /* Versions 1 and 2. */
#define SFRAME_F_FDE_FUNC_START_PCREL 0x4
#define SFRAME_V2_F_ALL_FLAGS (SFRAME_F_FDE_SORTED | SFRAME_F_FRAME_POINTER | SFRAME_F_FDE_FUNC_START_PCREL)
#define SFRAME_V3_F_ALL_FLAGS (SFRAME_F_FDE_SORTED | SFRAME_F_FDE_FUNC_START_PCREL)

/* The fixed offsets of a header without them. */
#define SFRAME_CFA_FIXED_FP_INVALID 0
#define SFRAME_CFA_FIXED_RA_INVALID 0

/* sfh_abi_arch. */
#define SFRAME_ABI_AARCH64_ENDIAN_BIG 1
#define SFRAME_ABI_AARCH64_ENDIAN_LITTLE 2
#define SFRAME_ABI_AMD64_ENDIAN_LITTLE 3
#define SFRAME_ABI_S390X_ENDIAN_BIG 4

/* The width of row offsets. */
#define SFRAME_FRE_TYPE_ADDR1 0
#define SFRAME_FRE_TYPE_ADDR2 1
#define SFRAME_FRE_TYPE_ADDR4 2

/* How row offsets are compared with an address: from the function's start, or modulo the block size. */
#define SFRAME_FDE_TYPE_PCINC 0
#define SFRAME_FDE_TYPE_PCMASK 1
#define SFRAME_V3_FDE_PCTYPE_INC SFRAME_FDE_TYPE_PCINC
#define SFRAME_V3_FDE_PCTYPE_MASK SFRAME_FDE_TYPE_PCMASK

/* How data words are interpreted: by the ABI, or as pairs of control word and offset (version 3). */
#define SFRAME_FDE_TYPE_DEFAULT 0
#define SFRAME_FDE_TYPE_FLEX 1

typedef struct sframe_preamble {
  uint16_t sfp_magic;
  uint8_t sfp_version;
  uint8_t sfp_flags;
} __attribute__((packed)) sframe_preamble;

typedef struct sframe_header {
  sframe_preamble sfh_preamble;
  uint8_t sfh_abi_arch;
  int8_t sfh_cfa_fixed_fp_offset;
  int8_t sfh_cfa_fixed_ra_offset;
  uint8_t sfh_auxhdr_len;
  uint32_t sfh_num_fdes;
  uint32_t sfh_num_fres;
  uint32_t sfh_fre_len;
  uint32_t sfh_fdeoff; /* From the end of the header and auxiliary header. */
  uint32_t sfh_freoff;
} __attribute__((packed)) sframe_header;

#define SFRAME_V1_HDR_SIZE(sframe_hdr) ((sizeof(sframe_header) + (sframe_hdr).sfh_auxhdr_len))

/* AArch64: the keys that sign return addresses. */
#define SFRAME_AARCH64_PAUTH_KEY_A 0
#define SFRAME_AARCH64_PAUTH_KEY_B 1

/* An index entry of version 2. */
typedef struct sframe_func_desc_entry_v2 {
  int32_t sfde_func_start_address;
  uint32_t sfde_func_size;
  uint32_t sfde_func_start_fre_off;
  uint32_t sfde_func_num_fres;
  uint8_t sfde_func_info;
  uint8_t sfde_func_rep_size;
  uint16_t sfde_func_padding2;
} __attribute__((packed)) sframe_func_desc_entry_v2;

/* An index entry of version 3, and the attributes before the function's rows. */
typedef struct sframe_func_desc_idx_v3 {
  int64_t sfdi_func_start_offset;
  uint32_t sfdi_func_size;
  uint32_t sfdi_func_start_fre_off;
} __attribute__((packed)) sframe_func_desc_idx_v3;

typedef struct sframe_func_desc_attr_v3 {
  uint16_t sfda_func_num_fres;
  uint8_t sfda_func_info;
  uint8_t sfda_func_info2;
  uint8_t sfda_func_rep_size;
} __attribute__((packed)) sframe_func_desc_attr_v3;

/* A function's info byte: FRE type in bits 0 to 3, PC type in 4, key in 5, signal frame in 7 (version 3). */
#define SFRAME_V1_FUNC_INFO(fde_type, fre_enc_type)                                                          \
  (((SFRAME_AARCH64_PAUTH_KEY_A & 0x1) << 5) | (((fde_type)&0x1) << 4) | ((fre_enc_type)&0xf))
#define SFRAME_V1_FUNC_FRE_TYPE(data) ((data)&0xf)
#define SFRAME_V1_FUNC_FDE_TYPE(data) (((data) >> 4) & 0x1)
#define SFRAME_V1_FUNC_PAUTH_KEY(data) (((data) >> 5) & 0x1)
#define SFRAME_V1_FUNC_INFO_UPDATE_PAUTH_KEY(pauth_key, fde_info)                                            \
  ((((pauth_key)&0x1) << 5) | ((fde_info)&0xdf))

#define SFRAME_V2_FUNC_INFO(fde_type, fre_enc_type) (SFRAME_V1_FUNC_INFO(fde_type, fre_enc_type))
#define SFRAME_V2_FUNC_FRE_TYPE(data) (SFRAME_V1_FUNC_FRE_TYPE(data))
#define SFRAME_V2_FUNC_PC_TYPE(data) (SFRAME_V1_FUNC_FDE_TYPE(data))
#define SFRAME_V2_FUNC_PAUTH_KEY(data) (SFRAME_V1_FUNC_PAUTH_KEY(data))
#define SFRAME_V2_FUNC_INFO_UPDATE_PAUTH_KEY(pauth_key, fde_info)                                            \
  SFRAME_V1_FUNC_INFO_UPDATE_PAUTH_KEY(pauth_key, fde_info)

#define SFRAME_V3_FDE_FUNC_INFO(fde_pc_type, fre_type) (SFRAME_V2_FUNC_INFO(fde_pc_type, fre_type))
#define SFRAME_V3_FDE_FRE_TYPE(info) (SFRAME_V2_FUNC_FRE_TYPE(info))
#define SFRAME_V3_FDE_PC_TYPE(info) (SFRAME_V2_FUNC_PC_TYPE(info))
#define SFRAME_V3_AARCH64_FDE_PAUTH_KEY(info) (SFRAME_V2_FUNC_PAUTH_KEY(info))
#define SFRAME_V3_FDE_SIGNAL_P(info) (((info) >> 7) & 0x1)
#define SFRAME_V3_FDE_UPDATE_PAUTH_KEY(pauth_key, info) SFRAME_V2_FUNC_INFO_UPDATE_PAUTH_KEY(pauth_key, info)
#define SFRAME_V3_FDE_UPDATE_SIGNAL_P(signal_p, info) ((((signal_p)&0x1) << 7) | ((info)&0x7f))

/* Its second info byte (version 3): FDE type in bits 0 to 4. */
#define SFRAME_V3_FDE_TYPE_MASK 0x01f
#define SFRAME_V3_FDE_TYPE(info2) ((info2)&SFRAME_V3_FDE_TYPE_MASK)
#define SFRAME_V3_SET_FDE_TYPE(info2, fde_type)                                                              \
  (((info2) & ~SFRAME_V3_FDE_TYPE_MASK) | ((fde_type)&SFRAME_V3_FDE_TYPE_MASK))

/* A control word of a flexible FDE: the register, whether the value is in memory, whether there is a
 * register. */
#define SFRAME_V3_FLEX_FDE_CTRLWORD_ENCODE(reg, deref_p, reg_p)                                              \
  ((((reg) << 0x3) | (0 << 0x2) | (((deref_p)&0x1) << 0x1) | ((reg_p)&0x1)))
#define SFRAME_V3_FLEX_FDE_CTRLWORD_REGNUM(data) ((data) >> 3)
#define SFRAME_V3_FLEX_FDE_CTRLWORD_DEREF_P(data) (((data) >> 1) & 0x1)
#define SFRAME_V3_FLEX_FDE_CTRLWORD_REG_P(data) ((data)&0x1)

/* A row's info byte: CFA base in bit 0, number of data words in 1 to 4, their size in 5 and 6, signed RA
 * in 7. */
typedef struct sframe_fre_info {
  uint8_t fre_info;
} sframe_fre_info;

#define SFRAME_BASE_REG_FP 0
#define SFRAME_BASE_REG_SP 1

#define SFRAME_FRE_OFFSET_1B 0
#define SFRAME_FRE_OFFSET_2B 1
#define SFRAME_FRE_OFFSET_4B 2
#define SFRAME_FRE_DATAWORD_1B SFRAME_FRE_OFFSET_1B
#define SFRAME_FRE_DATAWORD_2B SFRAME_FRE_OFFSET_2B
#define SFRAME_FRE_DATAWORD_4B SFRAME_FRE_OFFSET_4B

#define SFRAME_V1_FRE_INFO(base_reg_id, offset_num, offset_size)                                             \
  (((0 & 0x1) << 7) | (((offset_size)&0x3) << 5) | (((offset_num)&0xf) << 1) | ((base_reg_id)&0x1))
#define SFRAME_V1_FRE_INFO_UPDATE_MANGLED_RA_P(mangled_ra_p, fre_info)                                       \
  ((((mangled_ra_p)&0x1) << 7) | ((fre_info)&0x7f))
#define SFRAME_V1_FRE_CFA_BASE_REG_ID(data) ((data)&0x1)
#define SFRAME_V1_FRE_OFFSET_COUNT(data) (((data) >> 1) & 0xf)
#define SFRAME_V1_FRE_OFFSET_SIZE(data) (((data) >> 5) & 0x3)
#define SFRAME_V1_FRE_MANGLED_RA_P(data) (((data) >> 7) & 0x1)
#define SFRAME_V2_FRE_RA_UNDEFINED_P(data) (SFRAME_V1_FRE_OFFSET_COUNT(data) == 0)
#define SFRAME_V3_FRE_RA_UNDEFINED_P(fre_info) (SFRAME_V2_FRE_RA_UNDEFINED_P(fre_info))
#define SFRAME_V3_FRE_DATAWORD_COUNT(data) SFRAME_V1_FRE_OFFSET_COUNT(data)
#define SFRAME_V3_FRE_DATAWORD_SIZE(data) SFRAME_V1_FRE_OFFSET_SIZE(data)

/* The places of a row's offsets among its data words, if RA is stored. */
#define SFRAME_FRE_CFA_OFFSET_IDX 0
#define SFRAME_FRE_RA_OFFSET_IDX 1
#define SFRAME_FRE_FP_OFFSET_IDX 2

/* s390x: the word of a row that stores FP but not RA. */
#define SFRAME_FRE_RA_OFFSET_INVALID 0

/* Rows, by the width of their offset; the data words follow. */
typedef struct sframe_frame_row_entry_addr1 {
  uint8_t sfre_start_address;
  sframe_fre_info sfre_info;
} __attribute__((packed)) sframe_frame_row_entry_addr1;

typedef struct sframe_frame_row_entry_addr2 {
  uint16_t sfre_start_address;
  sframe_fre_info sfre_info;
} __attribute__((packed)) sframe_frame_row_entry_addr2;

typedef struct sframe_frame_row_entry_addr4 {
  uint32_t sfre_start_address;
  sframe_fre_info sfre_info;
} __attribute__((packed)) sframe_frame_row_entry_addr4;

/* Row offsets are below these. */
#define SFRAME_FRE_TYPE_ADDR1_LIMIT (1ULL << ((SFRAME_FRE_TYPE_ADDR1 + 1) * 8))
#define SFRAME_FRE_TYPE_ADDR2_LIMIT (1ULL << ((SFRAME_FRE_TYPE_ADDR2 * 2) * 8))
#define SFRAME_FRE_TYPE_ADDR4_LIMIT (1ULL << ((SFRAME_FRE_TYPE_ADDR4 * 2) * 8))

/* s390x: the CFA offset is stored minus 160, divided by 8; an odd FP or RA word is a register (version 2). */
#define SFRAME_S390X_SP_VAL_OFFSET (-160)
#define SFRAME_S390X_CFA_OFFSET_ADJUSTMENT SFRAME_S390X_SP_VAL_OFFSET
#define SFRAME_S390X_CFA_OFFSET_ALIGNMENT_FACTOR 8
#define SFRAME_V2_S390X_CFA_OFFSET_ENCODE(offset)                                                            \
  (((offset) + SFRAME_S390X_CFA_OFFSET_ADJUSTMENT) / SFRAME_S390X_CFA_OFFSET_ALIGNMENT_FACTOR)
#define SFRAME_V2_S390X_CFA_OFFSET_DECODE(offset)                                                            \
  (((offset)*SFRAME_S390X_CFA_OFFSET_ALIGNMENT_FACTOR) - SFRAME_S390X_CFA_OFFSET_ADJUSTMENT)
#define SFRAME_V2_S390X_OFFSET_IS_REGNUM(offset) ((offset)&1)
#define SFRAME_V2_S390X_OFFSET_ENCODE_REGNUM(regnum) (((regnum) << 1) | 1)
#define SFRAME_V2_S390X_OFFSET_DECODE_REGNUM(offset) ((offset) >> 1)

#ifdef __cplusplus
}
#endif

#endif /* _SFRAME_H */
