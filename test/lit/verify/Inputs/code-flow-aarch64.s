// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each function is named for the finding that its code brings about where BAD is 1; where it is 0 it has what comes near.
	.include "code-functions.inc"
	.macro	frame
	sub	sp, sp, #16
	.cfi_adjust_cfa_offset 16
	.endm
	.macro	no_frame
	add	sp, sp, #16
	.cfi_adjust_cfa_offset -16
	.endm

	.macro	two_paths
	cbz	w0, 1f
	frame
	.if	BAD
	.cfi_adjust_cfa_offset -16
	.else
	no_frame
	.endif
1:
	.endm

	function k207			// paths with different frames meet
	two_paths
	nop
	ret
	done	k207

	function k208			// they do, before a trap
	two_paths
	mov	w0, #1
	udf	#0
	done	k208

	function k209			// a return with the frame still there
	frame
	.if	!BAD
	no_frame
	.endif
	ret
	done	k209

	function k210			// a tail call with the frame still there
	frame
	.if	!BAD
	no_frame
	.endif
	b	helper
	done	k210

	function k301			// a jump to unknown places; without a frame it would be a tail call
	.if	BAD
	frame
	.endif
	br	x0
	done	k301

	function k303			// SP from elsewhere, or there and back
	mov	x9, sp
	.if	BAD
	ldr	x9, [x0]
	.endif
	mov	sp, x9
	nop
	ret
	done	k303

	function k305			// starts with a frame
	.if	BAD
	.cfi_def_cfa_offset 48
	.endif
	udf	#0
	done	k305

	function k306			// the row after a call fits only if it does not return
	cbz	w0, 1f
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	bl	helper
	.if	!BAD
	ldp	x29, x30, [sp], #16
	.endif
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
1:
	ret
	done	k306

	function helper
	ret
	done	helper
