# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One function with CFI and a hand-written .sframe that agree, unless --defsym changes that: version V (2 or 3).
#
#   f+0   push %rbp	CFA = SP + 8
#   f+1   nop ...	CFA = SP + 16, FP at CFA - 16
#
# The row at f+1 in SFrame: CFA (16), FP (-16), SP (1: CFA based on SP, 0: on FP), OUTER (0; 1: RA undefined). With FLEX=1
# (version 3) the row at f+1 also has RA's place (RA, -8). Of the function: START and SIZE (f and 16), SIGNAL (0), FIRST (offset of the
# first row, 0). The CFI: CFI (1: there is some), CFI_SIGNAL (0), INEXPRESSIBLE (0; 1: CFA by an expression, 2: FP by one, 3: malformed), DEBUG
# (offset in .debug_frame at f+1; 0: there is none).

	.macro	default name, value
	.ifndef	\name
	.set	\name, \value
	.endif
	.endm
	default	CFA, 16
	default	FP, -16
	default	SP, 1
	default	OUTER, 0
	default	FLEX, 0
	default	RA, -8
	default	START, 0
	default	SIZE, 16
	default	SIGNAL, 0
	default	FIRST, 0
	default	CFI, 1
	default	CFI_SIGNAL, 0
	default	INEXPRESSIBLE, 0
	default	DEBUG, 0
	default	FUNCTIONS, 1

	.text
	.balign	16
	.globl	f
	.hidden	f
	.type	f, @function
f:
	.if	CFI
	.cfi_startproc
	.if	CFI_SIGNAL
	.cfi_signal_frame
	.endif
	.endif
	push	%rbp
	.if	CFI
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	.if	INEXPRESSIBLE == 1
	.cfi_escape 0x0f, 0x04, 0x77, 0x10, 0x31, 0x24	# def_cfa_expression: (rsp + 16) << 1
	.elseif	INEXPRESSIBLE == 3
	.cfi_escape 0x3f		# an instruction that does not exist
	.elseif	INEXPRESSIBLE == 2
	.cfi_escape 0x10, 0x06, 0x03, 0x70, 0x08, 0x1f	# expression for rbp: -(rax + 8)
	.endif
	.endif
	.skip	15, 0x90
	.if	CFI
	.cfi_endproc
	.endif
	.size	f, .-f
	.type	g, @function
g:					# 16 bytes more of code, without any description
	.skip	16, 0x90

	.if	DEBUG
	.section .debug_frame,"",@progbits
.Lcie:
	.4byte	.Lcie_end-.Lcie_id
.Lcie_id:
	.4byte	0xffffffff
	.byte	4, 0, 8, 0		# version, augmentation "", address and segment selector size
	.byte	1, 0x78, 16		# code and data alignment (-8), RA column
	.byte	0x0c, 7, 8		# def_cfa rsp + 8
	.byte	0x90, 1			# offset rip: CFA - 8
	.balign	8, 0
.Lcie_end:
	.4byte	.Lfde_end-.Lfde_id
.Lfde_id:
	.4byte	.Lcie
	.8byte	f, 16
	.byte	0x41			# advance_loc 1
	.byte	0x0e, DEBUG		# def_cfa_offset
	.byte	0x86, 2			# offset rbp: CFA - 16
	.balign	8, 0
.Lfde_end:
	.endif

	.include "fields.inc"
	sframe
	header	flags=5, fixed_ra=-8, num_fdes=FUNCTIONS, num_fres=2*FUNCTIONS
	.if	FUNCTIONS
	fde	start=f+START-., size=SIZE, rows=a, num_fres=2, info=SIGNAL<<7, info2=FLEX
	.endif
	fres
	.if	FUNCTIONS
	func	a
	.if	FLEX
	row1	start=FIRST, words=2
	.byte	7<<3|1, 8		# CFA = rsp + 8
	.else
	row1	start=FIRST, words=1
	.byte	8			# CFA = SP + 8
	.endif
	.if	OUTER
	row1	start=FIRST+1, words=0
	.elseif	FLEX
	row1	start=FIRST+1, words=6
	.byte	7<<3|1, CFA, 2, RA, 2, FP
	.else
	row1	start=FIRST+1, words=2, sp=SP
	.byte	CFA, FP
	.endif
	.endif
	done
