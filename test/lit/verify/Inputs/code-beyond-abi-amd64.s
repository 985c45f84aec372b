# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Callees that keep to agreements of their own, and paths that are never taken. With BAD=0 all is described rightly. With BAD=1 the row at each
# `check` is 8 bytes off; and the functions under `.if BAD` are shaped alike but really wrong.
	.include "code-head-amd64.inc"
	.macro	lsda name from to pad
	.section .gcc_except_table, "a", @progbits
.Llsda_\name:
	.byte	0xff, 0xff, 1			# no landing pad base, no types, call sites in ULEB128
	.uleb128 2f-1f
1:	.uleb128 \from-\name, \to-\from, \pad-\name, 0
2:	.text
	.endm

	function kept_in_r11		# OpenSSL: helpers that leave the caller's base alone
	mov	%rsp, %r11
	.cfi_def_cfa_register %r11
	frame	0
	call	leaf
	nop
	check
	mov	%r11, %rsp
	.cfi_def_cfa_register %rsp
	ret
	done	kept_in_r11
	function leaf
	test	%eax, %eax
	je	1f
	mov	$1, %ecx
	ret
1:	mov	$2, %edx
	ret
	done	leaf
	.if	BAD
	function wrong_in_r11		# this one clobbers it
	mov	%rsp, %r11
	.cfi_def_cfa_register %r11
	call	no_such_leaf
	nop
	mov	%r11, %rsp
	.cfi_def_cfa_register %rsp
	ret
	done	wrong_in_r11
	function no_such_leaf
	test	%eax, %eax
	je	1f
	mov	$1, %r11d
	ret
1:	mov	$2, %edx
	ret
	done	no_such_leaf
	.endif

	function kept_over_middle	# the helper is entered after its start, and is large
	mov	%rsp, %r11
	.cfi_def_cfa_register %r11
	call	.Lmiddle
	nop
	check
	mov	%r11, %rsp
	.cfi_def_cfa_register %rsp
	ret
	done	kept_over_middle
	function large_leaf
	mov	$1, %r11d
.Lmiddle:
	test	%eax, %eax
	je	1f
	mov	$1, %ecx
	.fill	2000, 1, 0x90
1:	mov	$2, %edx
	jmp	2f
	.fill	2000, 1, 0x90
2:	ret
	done	large_leaf
	.if	BAD
	function wrong_over_start	# the start clobbers it
	mov	%rsp, %r11
	.cfi_def_cfa_register %r11
	call	large_leaf
	nop
	mov	%r11, %rsp
	.cfi_def_cfa_register %rsp
	ret
	done	wrong_over_start
	function kept_over_unclear	# the helper cannot be analysed: nothing is claimed
	mov	%rsp, %r11
	.cfi_def_cfa_register %r11
	call	unclear_leaf
	nop
	mov	%r11, %rsp
	.cfi_def_cfa_register %rsp
	ret
	done	kept_over_unclear
	function unclear_leaf
	jmp	*%rax
	done	unclear_leaf
	.endif

	function prologue_elsewhere	# what saves rbp and sets it up is taken out of line
	frame	24
	call	outlined
	.cfi_def_cfa %rbp, 24
	.cfi_offset %rbp, -16
	mov	$1, %eax
	check
	mov	8(%rbp), %rbp
	.cfi_def_cfa %rsp, 32
	.cfi_restore %rbp
	no_frame 24
	ret
	done	prologue_elsewhere
outlined:
	mov	%rbp, 24(%rsp)
	lea	16(%rsp), %rbp
	ret

	function last_system_call
	test	%edi, %edi
	je	1f
	frame
	check
	mov	$60, %eax
	syscall
	.cfi_adjust_cfa_offset -8
1:	ret
	done	last_system_call
	.if	BAD
	function wrong_system_call	# wait4 comes back
	test	%edi, %edi
	je	1f
	frame
	mov	$61, %eax
	syscall
	.cfi_adjust_cfa_offset -8
1:	ret
	done	wrong_system_call
	.endif

	function no_throw		# the call before rbp moves to rbx is in the range, but throws nothing
	.cfi_personality 0x1b, helper
	.cfi_lsda 0x1b, .Llsda_no_throw
	frame	24
.Lfrom1: call	helper
	mov	%rbx, 8(%rsp)
	.cfi_offset %rbx, -24
	mov	%rbp, %rbx
	.cfi_register %rbp, %rbx
	mov	$1, %ebp
	call	helper
.Lto1:	mov	%rbx, %rbp
	.cfi_restore %rbp
	mov	8(%rsp), %rbx
	.cfi_restore %rbx
	no_frame 24
	ret
.Lpad1:	.cfi_adjust_cfa_offset 24
	.cfi_register %rbp, %rbx
	mov	%rax, %rdi
	check
	call	_Unwind_Resume
	lsda	no_throw, .Lfrom1, .Lto1, .Lpad1
	done	no_throw
	.if	BAD
	function wrong_pad		# no call leaves what the pad's row has
	.cfi_personality 0x1b, helper
	.cfi_lsda 0x1b, .Llsda_wrong_pad
	frame	24
.Lfrom2: call	helper
	call	helper
.Lto2:	no_frame 24
	ret
.Lpad2:	.cfi_adjust_cfa_offset 24
	.cfi_register %rbp, %rbx
	mov	%rax, %rdi
	call	_Unwind_Resume
	lsda	wrong_pad, .Lfrom2, .Lto2, .Lpad2
	done	wrong_pad
	.endif

	function too_large_a_copy	# the case of 16 bytes and more, to an object of 8
	frame	24
	mov	%rbp, 16(%rsp)
	.cfi_offset %rbp, -16
	mov	%rdi, %rbp
	test	$16, %esi
	je	1f
	movups	%xmm0, (%rsp)
	movups	%xmm1, 16(%rsp)
1:	check
	mov	16(%rsp), %rbp
	.cfi_restore %rbp
	no_frame 24
	ret
	done	too_large_a_copy
	.if	BAD
	function wrong_reuse		# the word is free once its register is back
	frame	24
	mov	%rbp, 16(%rsp)
	.cfi_offset %rbp, -16
	mov	%rdi, %rbp
	mov	16(%rsp), %rbp
	movups	%xmm1, 8(%rsp)
	nop
	nop
	.cfi_restore %rbp
	no_frame 24
	ret
	done	wrong_reuse
	.endif

	function copied_index		# the copy has the bound of the second compare, too
	frame
	mov	%rdi, %rsi
	cmp	$100, %rdi
	ja	3f
	cmp	$1, %rdi
	ja	3f
	lea	.Lcopied_table(%rip), %rax
	movslq	(%rax,%rsi,4), %rdx
	add	%rax, %rdx
	jmp	*%rdx
1:	check
	jmp	3f
2:	nop
3:	no_frame
	ret
	.section .rodata
	.balign	4
.Lcopied_table:
	.4byte	1b-.Lcopied_table, 2b-.Lcopied_table
	.rept	100				# another table
	.4byte	copied_index-.Lcopied_table
	.endr
	.text
	done	copied_index

	function joined_bounds		# two paths with the same bound for different copies
	frame
	test	%esi, %esi
	je	1f
	mov	%rdi, %rax
	cmp	$1, %rax
	ja	5f
	jmp	2f
1:	mov	%rdx, %rax
	cmp	$1, %rax
	ja	5f
2:	lea	.Ljoined_table(%rip), %rcx
	movslq	(%rcx,%rax,4), %rdx
	add	%rcx, %rdx
	jmp	*%rdx
3:	check
	jmp	5f
4:	nop
5:	no_frame
	ret
	.section .rodata
	.balign	4
.Ljoined_table:
	.4byte	3b-.Ljoined_table, 4b-.Ljoined_table
	.4byte	0x10000000			# no entry
	.text
	done	joined_bounds

	function newer			# than the decoder library: these are in libcrypto
	frame
	.byte	0xc4, 0xe2, 0xf5, 0xb4, 0x46, 0x20	# {vex} vpmadd52luq 32(%rsi), %ymm1, %ymm0
	.byte	0xc4, 0xe2, 0x6f, 0xcb, 0xc1		# vsha512rnds2 %xmm1, %ymm2, %ymm0
	.byte	0xc4, 0xe3, 0x69, 0xde, 0x0f, 0x05	# vsm3rnds2 $5, (%rdi), %xmm2, %xmm1
	.byte	0xc4, 0xe2, 0x77, 0xda, 0xc2		# vsm4rnds4 %ymm2, %ymm1, %ymm0
	.byte	0xf2, 0x0f, 0x00, 0xf0			# lkgs %ax
	check
	no_frame
	ret
	done	newer

	function empty_block		# LLVM's unreachable: a jump to the function's end, where the next one starts
	frame
	test	%edi, %edi
	je	1f
	check
	no_frame
	ret
1:	.cfi_adjust_cfa_offset 8
	jmp	helper
	done	empty_block
	function helper
	.cfi_adjust_cfa_offset 8*BAD
	ret
	done	helper
	.if	BAD
	function wrong_jump		# to a function that is elsewhere
	frame	16
	jmp	helper
	done	wrong_jump

	# Where nothing is certain: this is no contradiction.
	function unknown_sp		# a kernel's way to the stack of interrupts and back
	push	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	mov	%rsp, (%rdi)
	mov	%rdi, %rsp
	call	helper
	pop	%rsp
	pop	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	nop
	ret
	done	unknown_sp
	.endif
