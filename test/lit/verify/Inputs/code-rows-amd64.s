# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each function is named for the finding that its CFI brings about where BAD is 1. BAD does not change the code.
	.include "code-functions.inc"

	function k201			# CFA offset by SP
	sub	$24, %rsp
	.cfi_def_cfa_offset 32+8*BAD
	call	helper
	add	$24, %rsp
	.cfi_def_cfa_offset 8
	ret
	done	k201

	function k202			# FP is taken before it is set
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	.if	BAD
	.cfi_def_cfa_register %rbp
	.endif
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pop	%rbp
	.cfi_restore %rbp
	.cfi_def_cfa %rsp, 8
	ret
	done	k202

	function k203			# RA in another word
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	.cfi_offset %rip, -8-8*BAD
	call	helper
	add	$24, %rsp
	.cfi_def_cfa_offset 8
	.cfi_offset %rip, -8
	ret
	done	k203

	function k204			# FP in another word
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16-8*BAD
	call	helper
	pop	%rbp
	.cfi_restore %rbp
	.cfi_def_cfa_offset 8
	ret
	done	k204

	function k205			# sub $8, %rsp, with a row inside
	.byte	0x48
	.if	BAD
	.cfi_def_cfa_offset 16
	.endif
	.byte	0x83, 0xec, 0x08
	.cfi_def_cfa_offset 16
	call	helper
	add	$8, %rsp
	.cfi_def_cfa_offset 8
	ret
	done	k205

	function k206			# a row after the instruction that it is for
	push	%rbx
	.if	BAD
	call	helper
	.cfi_def_cfa_offset 16
	.else
	.cfi_def_cfa_offset 16
	call	helper
	.endif
	call	helper
	pop	%rbx
	.cfi_def_cfa_offset 8
	ret
	done	k206

	function k211			# no row for the epilogue
	sub	$24, %rsp
	.cfi_def_cfa_offset 32
	call	helper
	add	$24, %rsp
	.if	!BAD
	.cfi_def_cfa_offset 8
	.endif
	ret
	done	k211

	function helper
	ret
	done	helper
