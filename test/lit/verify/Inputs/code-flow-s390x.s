# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Each function is named for the finding that its code brings about where BAD is 1; where it is 0 it has what comes near.
	.include "code-functions.inc"
	.macro	frame
	aghi	%r15, -32
	.cfi_adjust_cfa_offset 32
	.endm
	.macro	no_frame
	aghi	%r15, 32
	.cfi_adjust_cfa_offset -32
	.endm

	.macro	saved_frame
	stmg	%r14, %r15, 112(%r15)
	.cfi_offset 14, -48
	.cfi_offset 15, -40
	aghi	%r15, -160
	.cfi_def_cfa_offset 320
	brasl	%r14, helper
	.endm
	.macro	no_saved_frame
	lmg	%r14, %r15, 272(%r15)
	.cfi_restore 14
	.cfi_restore 15
	.cfi_def_cfa_offset 160
	br	%r14
	.endm

	.macro	two_paths
	ltr	%r2, %r2
	je	1f
	frame
	.if	BAD
	.cfi_adjust_cfa_offset -32
	.else
	no_frame
	.endif
1:
	.endm

	function k207			# paths with different frames meet
	two_paths
	lghi	%r2, 0
	br	%r14
	done	k207

	function k208			# they do, before a trap
	two_paths
	lghi	%r2, 0
	.2byte	0
	done	k208

	function k209			# a return with the frame still there
	frame
	.if	!BAD
	no_frame
	.endif
	br	%r14
	done	k209

	function k210			# a tail call with the frame still there
	frame
	.if	!BAD
	no_frame
	.endif
	jg	helper
	done	k210

	function k301			# a jump to unknown places; without a frame it would be a tail call
	.if	BAD
	frame
	.endif
	br	%r1
	done	k301

	function k303			# SP from elsewhere, or there and back
	lgr	%r1, %r15
	.if	BAD
	lg	%r1, 0(%r2)
	.endif
	lgr	%r15, %r1
	lghi	%r2, 0
	br	%r14
	done	k303

	function k305			# starts with a frame
	.if	BAD
	.cfi_def_cfa_offset 320
	.endif
	.2byte	0
	done	k305

	function k306			# the row after a call fits only if it does not return
	ltr	%r2, %r2
	je	1f
	stmg	%r14, %r15, 112(%r15)
	.cfi_offset 14, -48
	.cfi_offset 15, -40
	aghi	%r15, -160
	.cfi_def_cfa_offset 320
	brasl	%r14, helper
	.if	!BAD
	lmg	%r14, %r15, 272(%r15)
	.endif
	.cfi_restore 14
	.cfi_restore 15
	.cfi_def_cfa_offset 160
1:
	br	%r14
	done	k306

	function k203_kept		# the word is taken for something else while RA is in its register
	saved_frame
	lg	%r14, 272(%r15)
	.if	BAD
	stg	%r2, 272(%r15)
	.endif
	lghi	%r2, 0
	lghi	%r3, 0
	.cfi_restore 14
	aghi	%r15, 160
	.cfi_def_cfa_offset 160
	br	%r14
	done	k203_kept

	function k207_probe		# the loop's steps do not end where the row has SP
	stmg	%r11, %r15, 88(%r15)
	.cfi_offset 14, -48
	.cfi_offset 15, -40
	lgr	%r0, %r15
	aghi	%r0, -8192-8*BAD
	.cfi_def_cfa 0, 8352+8*BAD
1:	aghi	%r15, -4096
	clgrjh	%r15, %r0, 1b
	.cfi_def_cfa_register 15
	lghi	%r2, 0
2:	j	2b
	done	k207_probe

	function k209_other		# a return to another word of the frame
	saved_frame
	.if	BAD
	lg	%r14, 264(%r15)
	br	%r14
	.else
	no_saved_frame
	.endif
	done	k209_other

	function k301_link		# a jump by r14 to what is no word of the frame: a computed goto
	saved_frame
	.if	BAD
	lg	%r1, 0(%r2)
	lg	%r14, 0(%r1)
	br	%r14
	.else
	no_saved_frame
	.endif
	done	k301_link

	function helper
	br	%r14
	done	helper
