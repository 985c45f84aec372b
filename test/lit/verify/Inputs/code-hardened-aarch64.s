// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code of compilers' options for hardening, and what else changes SP, FP or LR in unusual ways. All is described rightly with BAD=0; with BAD=1
// the row at each `check` is 16 bytes off, and the functions under `.if BAD` are wrong, or cannot be decided.
	.include "code-head-aarch64.inc"

	function shadow_stack		// -fsanitize=shadow-call-stack
	str	x30, [x18], #8
	frame
	bl	helper
	check
	no_frame
	ldr	x30, [x18, #-8]!
	ret
	done	shadow_stack

	function shadow_stack_signed	// the same with -mbranch-protection=pac-ret
	paciasp
	.cfi_negate_ra_state
	str	x30, [x18], #8
	frame
	bl	helper
	check
	no_frame
	ldr	x30, [x18, #-8]!
	autiasp
	.cfi_negate_ra_state
	ret
	done	shadow_stack_signed

	function shadow_stack.cold	// a part of such a function, which restores
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	bl	helper
	check
	no_frame
	ldr	x30, [x18, #-8]!
	ret
	done	shadow_stack.cold

	function speculates		// clang -mspeculative-load-hardening, gcc -mtrack-speculation
	cmp	sp, #0
	csetm	x16, ne
	frame
	cmp	x0, #2
	b.gt	1f
	csel	x16, x16, xzr, le
	mov	x17, sp
	and	x17, x17, x16
	mov	sp, x17
	bl	helper
	cmp	sp, #0
	csetm	x16, ne
	check
	b	2f
1:	csel	x16, x16, xzr, gt
2:	ldp	x29, x30, [sp], #32
	.cfi_def_cfa_offset 0
	and	x29, x29, x16
	and	x30, x16, x30
	.cfi_restore 29
	.cfi_restore 30
	ret
	done	speculates

	function walks_down		// an array from its end, which SP is the start of
	sub	sp, sp, #256
	.cfi_def_cfa_offset 256
	add	x2, sp, #256
1:	str	x0, [x2, #-8]!
	cmp	sp, x2
	b.eq	2f
	b	1b
2:	check
	add	sp, sp, #256
	.cfi_def_cfa_offset 0
	ret
	done	walks_down

	function aligned_already	// valgrind's requests: SP has this alignment
	frame
	mov	x21, sp
	bic	sp, x21, #15
	blr	x8
	check
	mov	sp, x21
	no_frame
	ret
	done	aligned_already

	function helper
	.cfi_adjust_cfa_offset 16*BAD
	ret
	done	helper

	.if	BAD
	function async_frame		// Swift: FP in the frame is marked
	orr	x29, x29, #0x1000000000000000
	frame
	nop
	no_frame
	and	x29, x29, #0xefffffffffffffff
	ret
	done	async_frame

	function lost_shadow		// nothing says what is there
	frame
	no_frame
	ldr	x30, [x18, #-16]!
	nop
	ret
	done	lost_shadow

	function not_from_shadow	// nothing of the function's was stored there
	ldr	x30, [x0]
	nop
	ret
	done	not_from_shadow

	function not_a_mask		// any number
	frame
	mov	x16, x1
	no_frame
	and	x30, x30, x16
	nop
	ret
	done	not_a_mask
	.endif
