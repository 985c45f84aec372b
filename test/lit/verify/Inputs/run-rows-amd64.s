# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A program without a C library, for --check=run. Each function r40N has the finding of its name where BAD is 1,
# which does not change the code; the others are right in any case, and call and return in uncommon ways.
	.macro	function name
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm
	.macro	done name
	.cfi_endproc
	.size	\name, .-\name
	.endm

	function _start			# 15 instructions
	.if	!BAD			# R404
	.cfi_undefined %rip
	.endif
	pushf				# the flag that single-steps must not stay when the program is let go
	popf
	call	r401
	mov	$0x5555, %ebp
	call	r402
	call	r403
	call	r405
	call	tail
	call	thunk
	call	jump
	push	$1
	.cfi_adjust_cfa_offset 8
	call	clean
	.cfi_adjust_cfa_offset -8
	mov	$60, %eax		# exit
	xor	%edi, %edi
	syscall
	done	_start

	function r401			# 3: CFA after push
	push	%rbx
	.cfi_def_cfa_offset 16-8*BAD
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	done	r401

	function r402			# 3: RA in another word
	push	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset %rip, -8-8*BAD
	pop	%rbx
	.cfi_def_cfa_offset 8
	.cfi_offset %rip, -8
	ret
	done	r402

	function r403			# 5: FP in another word
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16+8*BAD
	xor	%ebp, %ebp
	nop
	pop	%rbp
	.cfi_restore %rbp
	.cfi_def_cfa_offset 8
	ret
	done	r403

	function r405			# 2: no caller
	.if	BAD
	.cfi_undefined %rip
	.endif
	nop
	ret
	done	r405

	function tail			# 2, a tail call
	lea	leaf(%rip), %rax
	jmp	*%rax
	done	tail

	function leaf			# 1
	ret
	done	leaf

	function thunk			# 4: the address of the next instruction
	call	1f
	.cfi_adjust_cfa_offset 8
1:	pop	%rax
	.cfi_adjust_cfa_offset -8
	nop
	ret
	done	thunk

	function jump			# 5: a return as a jump, once over a call
	lea	leaf(%rip), %rax
	push	%rax
	.cfi_adjust_cfa_offset 8
	ret				# to leaf, 1 instruction
	.cfi_adjust_cfa_offset -8
	done	jump

	function clean			# 1: removes an argument
	ret	$8
	done	clean
