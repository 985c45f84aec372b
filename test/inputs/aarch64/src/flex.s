// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What default functions cannot represent on aarch64: GNU as refuses most of it although FLEX functions could.

	.text

	.globl	fp_only				// FP saved, RA not: FLEX, or a zero RA word before the FP
	.type	fp_only, %function
fp_only:
	.cfi_startproc
	str	x29, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	mov	x29, xzr
	ldr	x29, [sp], #16
	.cfi_restore 29
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	fp_only, .-fp_only

	.globl	cfa_x9				// CFA in another register
	.type	cfa_x9, %function
cfa_x9:
	.cfi_startproc
	mov	x9, sp
	.cfi_def_cfa_register 9
	sub	sp, sp, #64
	mov	sp, x9
	.cfi_def_cfa_register 31
	ret
	.cfi_endproc
	.size	cfa_x9, .-cfa_x9

	.globl	ra_in_reg			// RA in another register
	.type	ra_in_reg, %function
ra_in_reg:
	.cfi_startproc
	mov	x9, x30
	.cfi_register 30, 9
	bl	cfa_x9
	ret	x9
	.cfi_endproc
	.size	ra_in_reg, .-ra_in_reg

	.globl	cfa_deref			// CFA = *(x29 + 16)
	.type	cfa_deref, %function
cfa_deref:
	.cfi_startproc
	.cfi_escape 0xf,0x3,0x8d,0x10,0x6
	nop
	ret
	.cfi_endproc
	.size	cfa_deref, .-cfa_deref

	.globl	outermost_part			// outermost from the second instruction on
	.type	outermost_part, %function
outermost_part:
	.cfi_startproc
	mov	x29, #0
	.cfi_undefined 30
	mov	x30, #0
	.cfi_restore 30
	ret
	.cfi_endproc
	.size	outermost_part, .-outermost_part

	.section .note.GNU-stack,"",%progbits
