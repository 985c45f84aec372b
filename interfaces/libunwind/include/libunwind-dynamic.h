/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Registration of generated code: _U_dyn_register(3). Unwinders read these structures in the memory of the
 * registering program, so their layout is that of libunwind. Included by libunwind-common.h only.
 */
#ifndef LIBUNWIND_DYNAMIC_H
#define LIBUNWIND_DYNAMIC_H

typedef enum {
  UNW_DYN_STOP = 0,
  UNW_DYN_SAVE_REG,     /* to register `val` */
  UNW_DYN_SPILL_FP_REL, /* to memory, `val` bytes from the frame pointer */
  UNW_DYN_SPILL_SP_REL, /* to memory, `val` bytes from the stack pointer */
  UNW_DYN_ADD,          /* `val` was added */
  UNW_DYN_POP_FRAMES,   /* `val` frames were dropped */
  UNW_DYN_LABEL_STATE,  /* the state is called `val` from now on */
  UNW_DYN_COPY_STATE,   /* the state is the one called `val` */
  UNW_DYN_ALIAS         /* as in the region at `val` */
} unw_dyn_operation_t;

typedef enum {
  UNW_INFO_FORMAT_DYNAMIC,      /* u.pi */
  UNW_INFO_FORMAT_TABLE,        /* u.ti: of this process */
  UNW_INFO_FORMAT_REMOTE_TABLE, /* u.rti: in the target's memory */
  UNW_INFO_FORMAT_ARM_EXIDX,    /* not for the targets here */
  UNW_INFO_FORMAT_IP_OFFSET     /* u.rti, with starts relative to start_ip instead of segbase */
} unw_dyn_info_format_t;

typedef struct unw_dyn_op {
  int8_t tag; /* unw_dyn_operation_t */
  int8_t qp;
  int16_t reg;
  int32_t when; /* instructions from the region's start */
  unw_word_t val;
} unw_dyn_op_t;

typedef struct unw_dyn_region_info {
  struct unw_dyn_region_info* next;
  int32_t insn_count;
  uint32_t op_count;
  unw_dyn_op_t op[1]; /* op_count of them */
} unw_dyn_region_info_t;

typedef struct unw_dyn_proc_info {
  unw_word_t name_ptr; /* address of the procedure's name */
  unw_word_t handler;  /* personality routine, or 0 */
  uint32_t flags;
  int32_t pad0;
  unw_dyn_region_info_t* regions;
} unw_dyn_proc_info_t;

typedef struct unw_dyn_table_info {
  unw_word_t name_ptr;
  unw_word_t segbase;
  unw_word_t table_len; /* in words */
  unw_word_t* table_data;
} unw_dyn_table_info_t;

typedef struct unw_dyn_remote_table_info {
  unw_word_t name_ptr;
  unw_word_t segbase;
  unw_word_t table_len; /* in words */
  unw_word_t table_data;
} unw_dyn_remote_table_info_t;

typedef struct unw_dyn_info {
  struct unw_dyn_info *next, *prev; /* set by _U_dyn_register() */
  unw_word_t start_ip;
  unw_word_t end_ip;
  unw_word_t gp;
  int32_t format; /* unw_dyn_info_format_t */
  int32_t pad;
  unw_word_t load_offset;
  union {
    unw_dyn_proc_info_t pi;
    unw_dyn_table_info_t ti;
    unw_dyn_remote_table_info_t rti;
  } u;
} unw_dyn_info_t;

typedef struct unw_dyn_info_list {
  uint32_t version;
  uint32_t generation; /* changes with every registration */
  unw_dyn_info_t* first;
} unw_dyn_info_list_t;

/* The list of this process; debuggers find it by this name. */
extern unw_dyn_info_list_t _U_dyn_info_list;

/* Add a procedure to the list, and remove it. The caller owns the structure and must not move it.
   Thread-safe, but not async-signal-safe. */
extern void _U_dyn_register(unw_dyn_info_t*);
extern void _U_dyn_cancel(unw_dyn_info_t*);

/* Size in bytes of a region with `op_count` operations. */
#define _U_dyn_region_info_size(op_count)                                                                    \
  (offsetof(unw_dyn_region_info_t, op) + (op_count) * sizeof(unw_dyn_op_t))

/* Each fills in one operation. */
#define _U_QP_TRUE 0
#ifdef __cplusplus
#define _U_dyn_op(tag, qp, when, reg, val) (unw_dyn_op_t{(tag), (qp), (reg), (when), (val)})
#else
#define _U_dyn_op(tag, qp, when, reg, val) ((unw_dyn_op_t){(tag), (qp), (reg), (when), (val)})
#endif
#define _U_dyn_op_save_reg(op, qp, when, reg, to)                                                            \
  (*(op) = _U_dyn_op(UNW_DYN_SAVE_REG, (qp), (when), (reg), (to)))
#define _U_dyn_op_spill_fp_rel(op, qp, when, reg, offset)                                                    \
  (*(op) = _U_dyn_op(UNW_DYN_SPILL_FP_REL, (qp), (when), (reg), (offset)))
#define _U_dyn_op_spill_sp_rel(op, qp, when, reg, offset)                                                    \
  (*(op) = _U_dyn_op(UNW_DYN_SPILL_SP_REL, (qp), (when), (reg), (offset)))
#define _U_dyn_op_add(op, qp, when, reg, value) (*(op) = _U_dyn_op(UNW_DYN_ADD, (qp), (when), (reg), (value)))
#define _U_dyn_op_pop_frames(op, qp, when, count)                                                            \
  (*(op) = _U_dyn_op(UNW_DYN_POP_FRAMES, (qp), (when), 0, (count)))
#define _U_dyn_op_label_state(op, label) (*(op) = _U_dyn_op(UNW_DYN_LABEL_STATE, _U_QP_TRUE, -1, 0, (label)))
#define _U_dyn_op_copy_state(op, label) (*(op) = _U_dyn_op(UNW_DYN_COPY_STATE, _U_QP_TRUE, -1, 0, (label)))
#define _U_dyn_op_alias(op, qp, when, region) (*(op) = _U_dyn_op(UNW_DYN_ALIAS, (qp), (when), 0, (region)))
#define _U_dyn_op_stop(op) (*(op) = _U_dyn_op(UNW_DYN_STOP, _U_QP_TRUE, -1, 0, 0))

#endif
