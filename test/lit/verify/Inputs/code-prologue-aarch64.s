// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame is made by several instructions. With BAD=1 the CFI shows it after the last of them, as clang and rustc did before LLVM 15. BAD does not
// change the code.
	.include "code-functions.inc"
	.macro	make_frame
	sub	sp, sp, #48
	.if	!BAD
	.cfi_def_cfa_offset 48
	.endif
	stp	x29, x30, [sp, #32]
	.if	!BAD
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	.endif
	add	x29, sp, #32
	.cfi_def_cfa 29, 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	.endm

	function late
	make_frame
	bl	helper
	.cfi_def_cfa 31, 48
	ldp	x29, x30, [sp, #32]
	.cfi_restore 29
	.cfi_restore 30
	add	sp, sp, #48
	.cfi_def_cfa_offset 0
	ret
	done	late

	function two_paths		// a frame is made on each of two paths: one finding
	.cfi_remember_state
	cbz	w0, 1f
	make_frame
	bl	helper
	brk	#1
1:	.cfi_restore_state
	make_frame
2:	bl	helper			// a loop begins where the frame is complete
	b	2b
	done	two_paths

	function never			// no row ever shows this frame: not late, but wrong
	sub	sp, sp, #48
	.if	!BAD
	.cfi_def_cfa_offset 48
	.endif
	str	x30, [sp, #32]
	.if	!BAD
	.cfi_offset 30, -16
	.endif
	bl	helper
	brk	#1
	done	never

	.globl	helper
	.hidden	helper
	.type	helper, @function
helper:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	helper, .-helper
