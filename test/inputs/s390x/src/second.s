# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A second translation unit, for archives, concatenation and merging; it defines what basic.s calls.

	.text
	.globl	extern_a
	.type	extern_a, @function
extern_a:
	.cfi_startproc
	stmg	%r14, %r15, 112(%r15)
	.cfi_offset %r14, -48
	.cfi_offset %r15, -40
	aghi	%r15, -168
	.cfi_def_cfa_offset 328
	brasl	%r14, extern_b@PLT
	lmg	%r14, %r15, 280(%r15)
	.cfi_restore %r15
	.cfi_restore %r14
	.cfi_def_cfa_offset 160
	br	%r14
	.cfi_endproc
	.size	extern_a, .-extern_a

	.globl	extern_b
	.type	extern_b, @function
extern_b:
	.cfi_startproc
	br	%r14
	.cfi_endproc
	.size	extern_b, .-extern_b

	.section .note.GNU-stack,"",@progbits
