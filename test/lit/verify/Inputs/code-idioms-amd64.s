# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What compilers and assembly programmers do with stacks. All is described rightly; with BAD=1 the row at each `check` is 8 bytes off, so
# that an idiom which stops the analysis shows, too. BAD does not change the code.
	.include "code-head-amd64.inc"
	.macro	push_reg reg
	push	%\reg
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %\reg, 0
	.endm
	.macro	pop_reg reg
	pop	%\reg
	.cfi_adjust_cfa_offset -8
	.cfi_restore %\reg
	.endm

	function jump_table
	frame
	cmp	$1, %edi
	ja	3f
	mov	%edi, %edi
	lea	.Ltable(%rip), %rax
	movslq	(%rax,%rdi,4), %rdx
	add	%rax, %rdx
	jmp	*%rdx
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
	done	jump_table

	function tail_call
	frame
	check
	no_frame
	test	%edi, %edi
	jne	helper
	jmp	*%rax
	done	tail_call

	function hot			# with a cold part, which comes back
	frame	24
	test	%edi, %edi
	je	hot.cold
.Lback:
	check
	no_frame 24
	ret
	done	hot
	function hot.cold
	.cfi_def_cfa_offset 32+8*BAD
	call	helper
	.cfi_def_cfa_offset 32
	jmp	.Lback
	done	hot.cold

	function other.cold		# in front of it ends hot.cold
	.cfi_def_cfa_offset 64
	ud2
	done	other.cold

	function unreachable		# the branch that is never taken goes past the end of something
	frame
	cmp	$3, %edi
	ja	other.cold
	check
	no_frame
	ret
	done	unreachable

	function no_return		# only another path comes after the call
	push_reg rbx
	test	%edi, %edi
	jne	1f
	pop_reg	rbx
	ret
1:	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbx, 0
	check
	call	abort
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	done	no_return

	function alloca
	push_reg rbp
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	sub	%rax, %rsp
	and	$-16, %rsp
	mov	%rsp, %rdi
	call	helper
	check
	leave
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	ret
	done	alloca

	function realigned		# gcc's DRAP
	lea	8(%rsp), %r10
	.cfi_def_cfa %r10, 0
	and	$-32, %rsp
	push	-8(%r10)
	push	%rbp
	mov	%rsp, %rbp
	.cfi_escape 0x10, 6, 2, 0x76, 0		# rbp at breg6 + 0
	push	%r10
	.cfi_escape 0x0f, 3, 0x76, 0x78, 6	# CFA = [rbp - 8]
	sub	$40, %rsp
	call	helper
	mov	-8(%rbp), %r10
	.cfi_def_cfa %r10, 0
	check
	leave
	.cfi_restore %rbp
	lea	-8(%r10), %rsp
	.cfi_def_cfa %rsp, 8
	ret
	done	realigned

	function call_pop
	call	1f
1:	.cfi_adjust_cfa_offset 8
	check
	pop	%rax
	.cfi_adjust_cfa_offset -8
	ret
	done	call_pop

	function push_pop
	push_reg rbp
	push_reg rbx
	push_reg r12
	call	helper
	pop_reg	r12
	check
	pop_reg	rbx
	pop_reg	rbp
	ret
	done	push_pop

	function shrink_wrapped
	test	%edi, %edi
	je	1f
	push_reg rbp
	call	helper
	check
	pop_reg	rbp
1:	ret
	done	shrink_wrapped

	function landing_pad
	.cfi_personality 0x1b, helper
	.cfi_lsda 0x1b, .Llsda
	frame	24
.Lfrom:	call	helper
.Lto:	no_frame 24
	ret
.Lpad:	.cfi_adjust_cfa_offset 24
	check
	mov	%rax, %rdi
	call	_Unwind_Resume
	.section .gcc_except_table, "a", @progbits
.Llsda:
	.byte	0xff, 0xff, 1			# no landing pad base, no types, call sites in ULEB128
	.uleb128 .Lsites_end-.Lsites
.Lsites:
	.uleb128 .Lfrom-landing_pad, .Lto-.Lfrom, .Lpad-landing_pad, 0
.Lsites_end:
	.text
	done	landing_pad

	function cet
	endbr64
	frame
	check
	no_frame
	ret
	done	cet

	function varargs
	frame	88
	test	%al, %al
	je	1f
	movaps	%xmm0, 16(%rsp)
	movaps	%xmm1, 32(%rsp)
1:	mov	%rdi, (%rsp)
	mov	%rsi, 8(%rsp)
	lea	96(%rsp), %rax
	mov	%rax, 56(%rsp)
	call	helper
	check
	no_frame 88
	ret
	done	varargs

	function thunk_rax		# a retpoline
	call	1f
2:	pause
	lfence
	jmp	2b
1:	.cfi_def_cfa_offset 16
	check
	mov	%rax, (%rsp)
	ret
	done	thunk_rax

	function red_zone
	mov	%rbp, -8(%rsp)
	.cfi_offset %rbp, -16
	mov	%rdi, %rbp
	check
	mov	-8(%rsp), %rbp
	.cfi_restore %rbp
	ret
	done	red_zone

	function other_base		# hand-written: SP kept in another register
	mov	%rsp, %rbx
	.cfi_def_cfa_register %rbx
	and	$-64, %rsp
	sub	$256, %rsp
	check
	mov	%rbx, %rsp
	.cfi_def_cfa_register %rsp
	ret
	done	other_base

	function fences			# and other instructions that leave the frame and rax alone
	mov	%rsp, %rax
	.cfi_def_cfa_register %rax
	lock addl $0, (%rsp)
	lock orq $0, (%rsp)
	neg	%rcx
	pxor	%xmm0, %xmm0
	check
	.cfi_def_cfa_register %rsp
	ret
	done	fences

	function copied			# hand-written: arguments pushed, taken away at once; a loop
	push	%rdi
	.cfi_adjust_cfa_offset 8
	push	%rsi
	.cfi_adjust_cfa_offset 8
1:	call	helper
	check
	dec	%ebx
	jnz	1b
	lea	16(%rsp), %rsp
	.cfi_adjust_cfa_offset -16
	ret
	done	copied

	function helper
	.cfi_adjust_cfa_offset 8*BAD
	ret
	done	helper
