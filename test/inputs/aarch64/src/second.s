// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A second translation unit, for archives, concatenation and merging; it defines what basic.s calls.

	.text
	.globl	extern_a
	.type	extern_a, %function
extern_a:
	.cfi_startproc
	stp	x29, x30, [sp, #-48]!
	.cfi_def_cfa_offset 48
	.cfi_offset 29, -48
	.cfi_offset 30, -40
	bl	extern_b
	ldp	x29, x30, [sp], #48
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	extern_a, .-extern_a

	.globl	extern_b
	.type	extern_b, %function
extern_b:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	extern_b, .-extern_b

	.section .note.GNU-stack,"",%progbits
