# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What every version can represent on amd64. One function per situation; the names describe them.

	.text

	.globl	leaf				# no frame: one row, CFA = SP + 8
	.type	leaf, @function
leaf:
	.cfi_startproc
	xorl	%eax, %eax
	ret
	.cfi_endproc
	.size	leaf, .-leaf

	.globl	frame_fp			# FP frame: SP+8, SP+16 with FP saved, FP+16, SP+8
	.type	frame_fp, @function
frame_fp:
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	call	extern_a@PLT
	call	extern_b@PLT
	popq	%rbp
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	frame_fp, .-frame_fp

	.globl	frame_sp			# SP frame, 1-byte words; early return with remember/restore
	.type	frame_sp, @function
frame_sp:
	.cfi_startproc
	subq	$24, %rsp
	.cfi_def_cfa_offset 32
	testl	%edi, %edi
	je	1f
	.cfi_remember_state
	addq	$24, %rsp
	.cfi_def_cfa_offset 8
	ret
1:	.cfi_restore_state
	movq	extern_got@GOTPCREL(%rip), %rax
	call	extern_got@PLT
	addq	$24, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	frame_sp, .-frame_sp

	.globl	words2				# CFA offset needs a 2-byte word
	.type	words2, @function
words2:
	.cfi_startproc
	subq	$0x1000, %rsp
	.cfi_def_cfa_offset 0x1008
	call	leaf
	addq	$0x1000, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	words2, .-words2

	.globl	words4				# CFA offset needs a 4-byte word
	.type	words4, @function
words4:
	.cfi_startproc
	subq	$0x12345670, %rsp
	.cfi_def_cfa_offset 0x12345678
	call	leaf
	addq	$0x12345670, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	words4, .-words4

	.globl	fp_far				# FP saved 512 bytes below the CFA: 2-byte words for both
	.type	fp_far, @function
fp_far:
	.cfi_startproc
	subq	$504, %rsp
	.cfi_def_cfa_offset 512
	movq	%rbp, (%rsp)
	.cfi_offset %rbp, -512
	xorl	%ebp, %ebp
	call	leaf
	movq	(%rsp), %rbp
	.cfi_restore %rbp
	addq	$504, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	fp_far, .-fp_far

	.globl	addr2				# 256 bytes and more: 2-byte row addresses
	.type	addr2, @function
addr2:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rbx, -16			# not SFrame's business
	.rept	300
	nop
	.endr
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	addr2, .-addr2

	.globl	twin_a				# two functions with equal rows
	.type	twin_a, @function
twin_a:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	call	leaf
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	twin_a, .-twin_a

	.globl	twin_b
	.type	twin_b, @function
twin_b:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	call	frame_fp
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	twin_b, .-twin_b

	.globl	empty				# zero-size function
	.type	empty, @function
empty:
	.cfi_startproc
	.cfi_endproc
	.size	empty, .-empty

	.globl	equal_rows			# CFI that changes nothing SFrame can see
	.type	equal_rows, @function
equal_rows:
	.cfi_startproc
	movq	%rbx, -8(%rsp)
	.cfi_offset %rbx, -16
	movq	%r12, -16(%rsp)
	.cfi_offset %r12, -24
	movq	-8(%rsp), %rbx
	.cfi_restore %rbx
	ret
	.cfi_endproc
	.size	equal_rows, .-equal_rows

	.globl	restorer			# signal frame
	.type	restorer, @function
restorer:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa_offset 168
	movl	$15, %eax
	syscall
	ud2
	.cfi_endproc
	.size	restorer, .-restorer

	.globl	_start				# outermost frame
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined %rip
	xorl	%ebp, %ebp
	andq	$-16, %rsp
	call	frame_sp
	ud2
	.cfi_endproc
	.size	_start, .-_start

	.section .note.GNU-stack,"",@progbits
