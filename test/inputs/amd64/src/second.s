# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A second translation unit, for archives, concatenation and merging; it defines what basic.s calls.

	.text
	.globl	extern_a
	.type	extern_a, @function
extern_a:
	.cfi_startproc
	subq	$40, %rsp
	.cfi_def_cfa_offset 48
	call	extern_b@PLT
	addq	$40, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	extern_a, .-extern_a

	.globl	extern_b
	.type	extern_b, @function
extern_b:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	extern_b, .-extern_b

	.globl	extern_got
	.type	extern_got, @function
extern_got:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	extern_got, .-extern_got

	.section .note.GNU-stack,"",@progbits
