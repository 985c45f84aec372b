// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frames with vectors of unknown length (SVE). Where these are part of the frame, the CFA is an expression with the vector length. BAD=1: the row
// at `check` is 16 bytes off; and the CFI of `as_by_gcc` changes the offset of the CFA while that is an expression.
	.arch_extension sve
	.include "code-head-aarch64.inc"
	.macro	vectors
	addvl	sp, sp, #-2
	.cfi_escape 0x0f, 8, 0x8f, 32, 0x92, 46, 0, 0x40, 0x1e, 0x22	// CFA = SP + 32 + VG * 16
	.endm

	function vectors_in_frame
	frame
	vectors
	str	z0, [sp]
	bl	helper
	addvl	sp, sp, #1		// in two steps
	addvl	sp, sp, #1
	.cfi_def_cfa 31, 32
	check
	no_frame
	ret
	done	vectors_in_frame

	function as_by_gcc
	frame
	vectors
	bl	helper
	addvl	sp, sp, #2
	.if	BAD
	.cfi_def_cfa_offset 32
	.else
	.cfi_def_cfa 31, 32
	.endif
	no_frame
	ret
	done	as_by_gcc

	function helper
	ret
	done	helper
