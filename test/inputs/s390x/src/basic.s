# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What version 3 (and version 2, hand-written) can represent on s390x in default functions.
# The CFA is SP + 160 at entry; its word holds (offset - 160) / 8.

	.text

	.globl	leaf				# no frame: one row, one word of 0
	.type	leaf, @function
leaf:
	.cfi_startproc
	lghi	%r2, 0
	br	%r14
	.cfi_endproc
	.size	leaf, .-leaf

	.globl	frame_sp			# RA and FP saved, CFA from SP
	.type	frame_sp, @function
frame_sp:
	.cfi_startproc
	stmg	%r11, %r15, 88(%r15)
	.cfi_offset %r11, -72
	.cfi_offset %r14, -48
	.cfi_offset %r15, -40
	aghi	%r15, -160
	.cfi_def_cfa_offset 320
	brasl	%r14, extern_a@PLT
	brasl	%r14, extern_b@PLT
	lmg	%r11, %r15, 248(%r15)
	.cfi_restore %r15
	.cfi_restore %r14
	.cfi_restore %r11
	.cfi_def_cfa_offset 160
	br	%r14
	.cfi_endproc
	.size	frame_sp, .-frame_sp

	.globl	frame_fp			# CFA from FP
	.type	frame_fp, @function
frame_fp:
	.cfi_startproc
	stmg	%r11, %r15, 88(%r15)
	.cfi_offset %r11, -72
	.cfi_offset %r14, -48
	.cfi_offset %r15, -40
	aghi	%r15, -176
	.cfi_def_cfa_offset 336
	lgr	%r11, %r15
	.cfi_def_cfa_register %r11
	brasl	%r14, leaf@PLT
	lmg	%r11, %r15, 264(%r11)
	.cfi_restore %r15
	.cfi_restore %r14
	.cfi_restore %r11
	.cfi_def_cfa %r15, 160
	br	%r14
	.cfi_endproc
	.size	frame_fp, .-frame_fp

	.globl	ra_only				# RA saved, FP not: two words
	.type	ra_only, @function
ra_only:
	.cfi_startproc
	stmg	%r14, %r15, 112(%r15)
	.cfi_offset %r14, -48
	.cfi_offset %r15, -40
	aghi	%r15, -160
	.cfi_def_cfa_offset 320
	brasl	%r14, leaf@PLT
	lmg	%r14, %r15, 272(%r15)
	.cfi_restore %r15
	.cfi_restore %r14
	.cfi_def_cfa_offset 160
	br	%r14
	.cfi_endproc
	.size	ra_only, .-ra_only

	.globl	fp_only				# FP saved, RA not: words CFA, 0, FP
	.type	fp_only, @function
fp_only:
	.cfi_startproc
	stg	%r11, 88(%r15)
	.cfi_offset %r11, -72
	lghi	%r11, 0
	lg	%r11, 88(%r15)
	.cfi_restore %r11
	br	%r14
	.cfi_endproc
	.size	fp_only, .-fp_only

	.globl	words2				# 2-byte words: (0x2000 + 160 - 160) / 8 = 1024
	.type	words2, @function
words2:
	.cfi_startproc
	stmg	%r14, %r15, 112(%r15)
	.cfi_offset %r14, -48
	aghi	%r15, -0x2000
	.cfi_def_cfa_offset 0x20a0
	brasl	%r14, leaf@PLT
	aghi	%r15, 0x2000
	.cfi_def_cfa_offset 160
	lg	%r14, 112(%r15)
	.cfi_restore %r14
	br	%r14
	.cfi_endproc
	.size	words2, .-words2

	.globl	words4				# 4-byte words
	.type	words4, @function
words4:
	.cfi_startproc
	stg	%r14, 112(%r15)
	.cfi_offset %r14, -48
	agfi	%r15, -0x1000000
	.cfi_def_cfa_offset 0x10000a0
	brasl	%r14, leaf@PLT
	agfi	%r15, 0x1000000
	.cfi_def_cfa_offset 160
	lg	%r14, 112(%r15)
	.cfi_restore %r14
	br	%r14
	.cfi_endproc
	.size	words4, .-words4

	.globl	addr2				# 256 bytes and more: 2-byte row addresses
	.type	addr2, @function
addr2:
	.cfi_startproc
	aghi	%r15, -8
	.cfi_def_cfa_offset 168
	.rept	140
	nopr
	.endr
	aghi	%r15, 8
	.cfi_def_cfa_offset 160
	br	%r14
	.cfi_endproc
	.size	addr2, .-addr2

	.globl	twin_a				# two functions with equal rows
	.type	twin_a, @function
twin_a:
	.cfi_startproc
	aghi	%r15, -16
	.cfi_def_cfa_offset 176
	aghi	%r15, 16
	.cfi_def_cfa_offset 160
	br	%r14
	.cfi_endproc
	.size	twin_a, .-twin_a

	.globl	twin_b
	.type	twin_b, @function
twin_b:
	.cfi_startproc
	aghi	%r15, -16
	.cfi_def_cfa_offset 176
	aghi	%r15, 16
	.cfi_def_cfa_offset 160
	br	%r14
	.cfi_endproc
	.size	twin_b, .-twin_b

	.globl	empty				# zero-size function
	.type	empty, @function
empty:
	.cfi_startproc
	.cfi_endproc
	.size	empty, .-empty

	.globl	restorer			# signal frame
	.type	restorer, @function
restorer:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa_offset 520
	.cfi_offset %r11, -72
	.cfi_offset %r14, -48
	svc	173
	.cfi_endproc
	.size	restorer, .-restorer

	.globl	_start				# outermost frame
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined %r14
	lghi	%r11, 0
	brasl	%r14, frame_sp@PLT
	nopr
	.cfi_endproc
	.size	_start, .-_start

	.section .note.GNU-stack,"",@progbits
