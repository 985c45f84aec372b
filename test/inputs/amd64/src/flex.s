# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What only version 3 can represent (FLEX functions), and what no version can.

	.text

	.globl	drap				# stack realignment through r10, as gcc does it
	.type	drap, @function
drap:
	.cfi_startproc
	leaq	8(%rsp), %r10
	.cfi_def_cfa %r10, 0			# CFA = r10
	andq	$-32, %rsp
	pushq	-8(%r10)
	pushq	%rbp
	movq	%rsp, %rbp
	.cfi_escape 0x10,0x6,0x2,0x76,0x0	# DW_CFA_expression rbp: breg6+0
	pushq	%r10
	.cfi_escape 0xf,0x3,0x76,0x78,0x6	# DW_CFA_def_cfa_expression: breg6-8, deref
	subq	$40, %rsp
	call	cfa_rbx
	addq	$40, %rsp
	popq	%r10
	.cfi_def_cfa %r10, 0
	popq	%rbp
	leaq	-8(%r10), %rsp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	drap, .-drap

	.globl	cfa_rbx				# CFA in another register
	.type	cfa_rbx, @function
cfa_rbx:
	.cfi_startproc
	movq	%rsp, %r11
	.cfi_def_cfa_register %r11
	subq	$64, %rsp
	movq	%r11, %rsp
	.cfi_def_cfa_register %rsp
	ret
	.cfi_endproc
	.size	cfa_rbx, .-cfa_rbx

	.globl	fp_in_reg			# the caller's FP kept in a register
	.type	fp_in_reg, @function
fp_in_reg:
	.cfi_startproc
	movq	%rbp, %r11
	.cfi_register %rbp, %r11
	xorl	%ebp, %ebp
	movq	%r11, %rbp
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	fp_in_reg, .-fp_in_reg

	.globl	ra_in_reg			# the return address popped into a register
	.type	ra_in_reg, @function
ra_in_reg:
	.cfi_startproc
	popq	%rdx
	.cfi_def_cfa_offset 0
	.cfi_register %rip, %rdx
	xorl	%eax, %eax
	jmp	*%rdx
	.cfi_endproc
	.size	ra_in_reg, .-ra_in_reg

	.globl	ra_elsewhere			# the return address at another offset from the CFA
	.type	ra_elsewhere, @function
ra_elsewhere:
	.cfi_startproc
	subq	$16, %rsp
	.cfi_def_cfa_offset 24
	movq	16(%rsp), %rax
	movq	%rax, (%rsp)
	.cfi_offset %rip, -24
	addq	$16, %rsp
	.cfi_def_cfa_offset 8
	.cfi_offset %rip, -8
	ret
	.cfi_endproc
	.size	ra_elsewhere, .-ra_elsewhere

	.globl	sigreturn_like			# kernel-style signal frame: everything relative to SP by expressions
	.type	sigreturn_like, @function
sigreturn_like:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_escape 0xf,0x4,0x77,0xa0,0x1,0x6	# CFA: *(rsp + 160)
	.cfi_escape 0x10,0x10,0x3,0x77,0xa8,0x1	# rip at rsp + 168
	.cfi_escape 0x10,0x6,0x3,0x77,0xf8,0x0	# rbp at rsp + 120
	movl	$15, %eax
	syscall
	ud2
	.cfi_endproc
	.size	sigreturn_like, .-sigreturn_like

	.globl	drap_far			# DRAP slot far away: 2-byte words
	.type	drap_far, @function
drap_far:
	.cfi_startproc
	.cfi_escape 0xf,0x4,0x76,0x80,0x7c,0x6	# CFA: *(rbp - 512)
	.cfi_escape 0x10,0x6,0x2,0x76,0x0	# rbp at rbp + 0
	nop
	ud2
	.cfi_endproc
	.size	drap_far, .-drap_far

	.globl	outermost_part			# outermost in the middle of a function: a row with no words
	.type	outermost_part, @function
outermost_part:
	.cfi_startproc
	nop
	.cfi_undefined %rip
	xorl	%ebp, %ebp
	nop
	.cfi_restore %rip
	ret
	.cfi_endproc
	.size	outermost_part, .-outermost_part

	.globl	unsayable			# CFA = rsp + (rip & 15 >= 11) * 8: no row can hold it
	.type	unsayable, @function
unsayable:
	.cfi_startproc
	.cfi_escape 0xf,0xb,0x77,0x8,0x80,0x0,0x3f,0x1a,0x3b,0x2a,0x33,0x24,0x22
	nop
	ret
	.cfi_endproc
	.size	unsayable, .-unsayable

	.section .note.GNU-stack,"",@progbits
