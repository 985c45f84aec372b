# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The frame is made by several instructions. With BAD=1 the CFI shows it after the last of them. BAD does not change the code. The CFA is SP + 160 at
# the entry.
	.include "code-functions.inc"
	.macro	saved
	.cfi_offset 11, -72
	.cfi_offset 14, -48
	.cfi_offset 15, -40
	.endm
	.macro	make_frame
	stmg	%r11, %r15, 88(%r15)
	.if	!BAD
	saved
	.endif
	lgr	%r1, %r15
	aghi	%r15, -160
	.if	!BAD
	.cfi_def_cfa_offset 320
	.endif
	stg	%r1, 0(%r15)
	lgr	%r11, %r15
	.cfi_def_cfa_offset 320
	.cfi_def_cfa_register 11
	saved
	.endm

	function late
	make_frame
	brasl	%r14, helper
	lmg	%r11, %r15, 248(%r11)
	.cfi_restore 11
	.cfi_restore 14
	.cfi_restore 15
	.cfi_def_cfa 15, 160
	br	%r14
	done	late

	function two_paths		# a frame is made on each of two paths: one finding
	.cfi_remember_state
	ltr	%r2, %r2
	je	1f
	make_frame
	brasl	%r14, helper
	.byte	0, 0			# an exception: compilers end paths that are never taken so
1:	.cfi_restore_state
	make_frame
2:	brasl	%r14, helper		# a loop begins where the frame is complete
	j	2b
	done	two_paths

	function never			# no row ever shows this frame: not late, but wrong
	stg	%r14, 112(%r15)
	.if	!BAD
	.cfi_offset 14, -48
	.endif
	aghi	%r15, -160
	.if	!BAD
	.cfi_def_cfa_offset 320
	.endif
	nopr	%r7
	brasl	%r14, helper
	.byte	0, 0
	done	never

	.globl	helper
	.hidden	helper
	.type	helper, @function
helper:
	.cfi_startproc
	br	%r14
	.cfi_endproc
	.size	helper, .-helper
