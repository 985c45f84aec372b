# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each function is named for the finding that its CFI brings about where BAD is 1. BAD does not change the code. The CFA is SP + 160 at the entry.
	.include "code-functions.inc"

	function k201			# CFA offset by SP
	aghi	%r15, -32
	.cfi_def_cfa_offset 192+8*BAD
	nopr	%r7
	aghi	%r15, 32
	.cfi_def_cfa_offset 160
	br	%r14
	done	k201

	function k202			# FP is taken before it is set
	stmg	%r11, %r15, 88(%r15)
	.cfi_offset 11, -72
	.cfi_offset 14, -48
	.cfi_offset 15, -40
	aghi	%r15, -160
	.cfi_def_cfa_offset 320
	.if	BAD
	.cfi_def_cfa_register 11
	.endif
	lgr	%r11, %r15
	.cfi_def_cfa_register 11
	nopr	%r7
	lmg	%r11, %r15, 248(%r11)
	.cfi_restore 11
	.cfi_restore 14
	.cfi_restore 15
	.cfi_def_cfa 15, 160
	br	%r14
	done	k202

	function k203			# RA in another word
	stmg	%r14, %r15, 112(%r15)
	.cfi_offset 14, -48+8*BAD
	.cfi_offset 15, -40
	aghi	%r15, -160
	.cfi_def_cfa_offset 320
	brasl	%r14, helper
	lmg	%r14, %r15, 272(%r15)
	.cfi_restore 14
	.cfi_restore 15
	.cfi_def_cfa_offset 160
	br	%r14
	done	k203

	function k204			# FP in another word
	stmg	%r11, %r15, 88(%r15)
	.cfi_offset 11, -72+8*BAD
	.cfi_offset 14, -48
	.cfi_offset 15, -40
	aghi	%r15, -160
	.cfi_def_cfa_offset 320
	brasl	%r14, helper
	lmg	%r11, %r15, 248(%r15)
	.cfi_restore 11
	.cfi_restore 14
	.cfi_restore 15
	.cfi_def_cfa_offset 160
	br	%r14
	done	k204

	function k205			# aghi %r15, -32, with a row inside
	.byte	0xa7, 0xfb
	.if	BAD
	.cfi_def_cfa_offset 192
	.endif
	.byte	0xff, 0xe0
	.cfi_def_cfa_offset 192
	nopr	%r7
	aghi	%r15, 32
	.cfi_def_cfa_offset 160
	br	%r14
	done	k205

	function k206			# a row after the instruction that it is for
	aghi	%r15, -32
	.if	BAD
	nopr	%r7
	.cfi_def_cfa_offset 192
	.else
	.cfi_def_cfa_offset 192
	nopr	%r7
	.endif
	nopr	%r7
	aghi	%r15, 32
	.cfi_def_cfa_offset 160
	br	%r14
	done	k206

	function k211			# no row for the epilogue
	aghi	%r15, -32
	.cfi_def_cfa_offset 192
	nopr	%r7
	aghi	%r15, 32
	.if	!BAD
	.cfi_def_cfa_offset 160
	.endif
	br	%r14
	done	k211

	function helper
	br	%r14
	done	helper
