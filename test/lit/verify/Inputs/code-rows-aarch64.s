// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function is named for the finding that its CFI brings about where BAD is 1. BAD does not change the code.
	.include "code-functions.inc"

	function k201			// CFA offset by SP
	sub	sp, sp, #32
	.cfi_def_cfa_offset 32+16*BAD
	nop
	add	sp, sp, #32
	.cfi_def_cfa_offset 0
	ret
	done	k201

	function k202			// FP is taken before it is set
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	.if	BAD
	.cfi_def_cfa 29, 16
	.endif
	mov	x29, sp
	.cfi_def_cfa 29, 16
	ldp	x29, x30, [sp], #16
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa 31, 0
	ret
	done	k202

	function k203			// RA in another word
	str	x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 30, -32+8*BAD
	bl	helper
	ldr	x30, [sp], #32
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	done	k203

	function k203_signed		// RA is signed, the row has it unsigned
	paciasp
	.if	!BAD
	.cfi_negate_ra_state
	.endif
	nop
	autiasp
	.if	!BAD
	.cfi_negate_ra_state
	.endif
	ret
	done	k203_signed

	function k204			// FP in another word
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32+16*BAD
	.cfi_offset 30, -24
	bl	helper
	ldp	x29, x30, [sp], #32
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	done	k204

	function k206			// a row after the instruction that it is for
	sub	sp, sp, #16
	.if	BAD
	nop
	.cfi_def_cfa_offset 16
	.else
	.cfi_def_cfa_offset 16
	nop
	.endif
	nop
	add	sp, sp, #16
	.cfi_def_cfa_offset 0
	ret
	done	k206

	function k211			// no row for the epilogue
	sub	sp, sp, #16
	.cfi_def_cfa_offset 16
	nop
	add	sp, sp, #16
	.if	!BAD
	.cfi_def_cfa_offset 0
	.endif
	ret
	done	k211

	function helper
	ret
	done	helper
