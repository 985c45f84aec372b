# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Code of compilers' options for hardening, and what else changes SP or FP in unusual ways. All is described rightly with BAD=0; with BAD=1 the
# row at each `check` is 8 bytes off, and the functions under `.if BAD` are wrong, or cannot be decided.
	.include "code-head-amd64.inc"

	function goto_by_thunk		# gcc -mindirect-branch=thunk: a computed goto, with the frame
	frame
	cmp	$1, %edi
	ja	3f
	mov	%edi, %edi
	lea	.Ltable(%rip), %rax
	movslq	(%rax,%rdi,4), %rdx
	add	%rax, %rdx
	jmp	thunk_rdx
1:	check
	jmp	3f
2:	nop
3:	no_frame
	ret
	.section .rodata
	.balign	4
.Ltable:
	.4byte	1b-.Ltable, 2b-.Ltable
	.text
	done	goto_by_thunk

	function goto_by_fence		# clang -mlvi-hardening: the same
	frame
	cmp	$1, %edi
	ja	3f
	mov	%edi, %edi
	lea	.Ltable_2(%rip), %rax
	movslq	(%rax,%rdi,4), %r11
	add	%rax, %r11
	jmp	thunk_r11
1:	check
	jmp	3f
2:	nop
3:	no_frame
	ret
	.section .rodata
	.balign	4
.Ltable_2:
	.4byte	1b-.Ltable_2, 2b-.Ltable_2
	.text
	done	goto_by_fence

	function speculates		# clang -mspeculative-load-hardening
	mov	%rsp, %rax
	mov	$-1, %rcx
	sar	$63, %rax
	cmp	$2, %rdi
	jg	1f
	cmovg	%rcx, %rax
	shl	$47, %rax
	or	%rax, %rsp
	frame
	call	helper
	check
	no_frame
1:	ret
	done	speculates

	function walks_down		# gcc 15: an array from its end, which SP is the start of
	frame	264
	lea	256(%rsp), %rdx
1:	movq	$0, -8(%rdx)
	sub	$8, %rdx
	cmp	%rdx, %rsp
	je	2f
	jmp	1b
2:	check
	no_frame 264
	ret
	done	walks_down

	function walks_down_reversed
	frame	264
	lea	256(%rsp), %rdx
1:	movq	$0, -8(%rdx)
	sub	$8, %rdx
	cmp	%rsp, %rdx
	je	2f
	jmp	1b
2:	check
	no_frame 264
	ret
	done	walks_down_reversed

	function probes			# the reverse: SP walks down to a limit
	lea	-20480(%rsp), %r11
	.cfi_def_cfa %r11, 20488
1:	sub	$4096, %rsp
	orq	$0, (%rsp)
	cmp	%r11, %rsp
	jne	1b
	.cfi_def_cfa_register %rsp
	check
	no_frame 20480
	ret
	done	probes

	function thunk_rdx
	call	1f
2:	pause
	lfence
	jmp	2b
1:	.cfi_def_cfa_offset 16
	mov	%rdx, (%rsp)
	ret
	done	thunk_rdx
	function thunk_r11
	lfence
	jmp	*%r11
	done	thunk_r11

	function jumps_to_tail_call	# clang -fxray-instrument: the row for rbp stays, as does the word below SP
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rdi, %rbp
	call	helper
	check
	pop	%rbp
	.cfi_def_cfa_offset 8
	jmp	1f
	nopw	512(%rax, %rax)
1:	jmp	helper
	done	jumps_to_tail_call

	function helper
	.cfi_adjust_cfa_offset 8*BAD
	ret
	done	helper

	.if	BAD
	function pops_return		# clang -mlvi-hardening has no row for the pop
	frame
	no_frame
	pop	%rcx
	lfence
	jmp	*%rcx
	done	pops_return

	function async_frame		# Swift: FP in the frame is marked
	bts	$60, %rbp
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	nop
	pop	%rbp
	.cfi_def_cfa_offset 8
	.cfi_restore %rbp
	btr	$60, %rbp
	ret
	done	async_frame

	function indexed_slot		# OpenSSL: SP is in a word of the stack that the analysis does not know
	mov	%rsp, %rax
	.cfi_def_cfa_register %rax
	neg	%r9
	lea	-128(%rsp,%r9,8), %rsp
	mov	%rax, 8(%rsp,%r9,8)
	.cfi_escape 0x0f,0x0a,0x77,0x08,0x79,0x00,0x38,0x1e,0x22,0x06,0x23,0x08
	nop
	mov	8(%rsp,%r9,8), %rsi
	.cfi_def_cfa %rsi, 8
	nop
	lea	(%rsi), %rsp
	.cfi_def_cfa_register %rsp
	ret
	done	indexed_slot

	function not_a_mask		# `and`, not `or`: SP is lost
	frame
	and	%rax, %rsp
	nop
	ret
	done	not_a_mask
	.endif
