# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The frame is made by several instructions. With BAD=1 the CFI shows it after the last of them, as compilers without asynchronous CFI do. BAD does
# not change the code.
	.include "code-functions.inc"

	function late
	push	%rbp
	.if	!BAD
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	.endif
	push	%rbx
	.if	!BAD
	.cfi_def_cfa_offset 24
	.endif
	sub	$16, %rsp
	.cfi_def_cfa_offset 40
	.cfi_offset %rbp, -16
	call	helper
	add	$16, %rsp
	.cfi_def_cfa_offset 24
	pop	%rbx
	.cfi_def_cfa_offset 16
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore %rbp
	ret
	done	late

	function two_paths		# a frame is made on each of two paths: one finding
	test	%edi, %edi
	.cfi_remember_state
	je	1f
	push	%rbp
	.if	!BAD
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	.endif
	push	%rbx
	.if	!BAD
	.cfi_def_cfa_offset 24
	.endif
	sub	$16, %rsp
	.cfi_def_cfa_offset 40
	.cfi_offset %rbp, -16
	call	helper
	ud2
1:	.cfi_restore_state
	push	%rbp
	.if	!BAD
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	.endif
	push	%rbx
	.if	!BAD
	.cfi_def_cfa_offset 24
	.endif
	sub	$16, %rsp
	.cfi_def_cfa_offset 40
	.cfi_offset %rbp, -16
2:	call	helper			# a loop begins where the frame is complete
	jmp	2b
	done	two_paths

	function never			# no row ever shows this frame: not late, but wrong
	push	%rbp
	.if	!BAD
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	.endif
	push	%rbx
	.if	!BAD
	.cfi_def_cfa_offset 24
	.endif
	call	helper
	ud2
	done	never

	.globl	helper
	.hidden	helper
	.type	helper, @function
helper:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	helper, .-helper
