// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Callees that keep to agreements of their own, and paths that are never taken. With BAD=0 all is described rightly. With BAD=1 the row at each
// `check` is 16 bytes off; and the functions under `.if BAD` are shaped alike but really wrong.
	.include "code-head-aarch64.inc"
	.macro	lsda name from to pad
	.section .gcc_except_table, "a", @progbits
.Llsda_\name:
	.byte	0xff, 0xff, 1			// no landing pad base, no types, call sites in ULEB128
	.uleb128 2f-1f
1:	.uleb128 \from-\name, \to-\from, \pad-\name, 0
2:	.text
	.endm

	function return_by_x19		// OCaml's caml_c_call
	mov	x19, x30
	.cfi_register 30, 19
	blr	x15
	check
	ret	x19
	done	return_by_x19
	.if	BAD
	function wrong_return_by_x20
	mov	x19, x30
	.cfi_register 30, 19
	blr	x15
	ret	x20
	done	wrong_return_by_x20
	.endif

	function return_by_x15		// glibc's rawmemchr: strlen, through a PLT stub, leaves x15 alone
	mov	x15, x30
	.cfi_register 30, 15
	bl	elsewhere
	check
	ret	x15
	done	return_by_x15
	.if	BAD
	function wrong_x14		// x14 never had it
	mov	x15, x30
	.cfi_register 30, 15
	bl	elsewhere
	.cfi_register 30, 14
	nop
	.cfi_register 30, 15
	ret	x15
	done	wrong_x14
	.endif

	function kept_in_x13		// glibc's setjmp: a leaf next door, which preserves x13
	mov	x13, x30
	.cfi_register 30, 13
	bl	leaf
	nop
	check
	mov	x30, x13
	.cfi_restore 30
	cbnz	w0, 1f
	frame
	bl	helper
	no_frame
1:	ret
	done	kept_in_x13
	function leaf
	cbz	x14, 1f
	mov	x16, #1
	ret
1:	mov	x17, #1
	ret
	done	leaf
	.if	BAD
	function wrong_in_x13		// this one clobbers it
	mov	x13, x30
	.cfi_register 30, 13
	bl	no_such_leaf
	nop
	mov	x30, x13
	.cfi_restore 30
	cbz	w0, 1f
	nop
1:	ret
	done	wrong_in_x13
	function no_such_leaf
	cbz	x14, 1f
	mov	x16, #1
	ret
1:	mov	x13, #1
	ret
	done	no_such_leaf
	.endif

	function kept_over_middle	// the helper is entered after its start, and is large
	mov	x13, x30
	.cfi_register 30, 13
	bl	.Lmiddle
	nop
	check
	mov	x30, x13
	.cfi_restore 30
	ret
	done	kept_over_middle
	function large_leaf
	mov	x13, #1
.Lmiddle:
	cbz	x14, 1f
	mov	x16, #1
	.rept	500
	nop
	.endr
1:	mov	x17, #1
	b	2f
	.rept	500
	nop
	.endr
2:	ret
	done	large_leaf
	.if	BAD
	function wrong_over_start	// the start clobbers it
	mov	x13, x30
	.cfi_register 30, 13
	bl	large_leaf
	nop
	mov	x30, x13
	.cfi_restore 30
	cbnz	w0, 1f
	nop
1:	ret
	done	wrong_over_start
	function kept_over_unclear	// the helper cannot be analysed: nothing is claimed
	mov	x13, x30
	.cfi_register 30, 13
	bl	unclear_leaf
	nop
	mov	x30, x13
	.cfi_restore 30
	cbnz	w0, 1f
	nop
1:	ret
	done	kept_over_unclear
	function unclear_leaf
	br	x0
	done	unclear_leaf
	function prologue_without_rows	// the row before the call is wrong, and that after it right
	stp	x29, x30, [sp, #-64]!
	bl	outlined_96
	sub	sp, sp, #32
	.cfi_def_cfa 29, 64
	.cfi_offset 29, -64
	.cfi_offset 30, -56
	mov	w0, #1
	mov	sp, x29
	ldp	x29, x30, [sp], #64
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa 31, 0
	ret
	done	prologue_without_rows
	.endif

	function prologue_elsewhere	// LLVM's outlined one saves, and sets up the frame pointer
	str	x30, [sp, #-64]!
	.cfi_def_cfa_offset 64
	.cfi_offset 30, -64
	bl	outlined
	.cfi_def_cfa 29, 48
	.cfi_offset 29, -48
	mov	w0, #1
	check
	ldr	x29, [sp, #16]
	.cfi_restore 29
	.cfi_def_cfa 31, 64
	ldr	x30, [sp], #64
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	done	prologue_elsewhere
outlined:
	str	x29, [sp, #16]
	add	x29, sp, #16
	ret
	function prologue_elsewhere_96	// the same where the frame pointer's row starts only after SP was moved
	stp	x29, x30, [sp, #-96]!
	.cfi_def_cfa_offset 96
	.cfi_offset 29, -96
	.cfi_offset 30, -88
	bl	outlined_96
	sub	sp, sp, #32
	.cfi_def_cfa_offset 128
	sub	sp, sp, #32
	.cfi_def_cfa 29, 96
	mov	w0, #1
	check
	mov	sp, x29
	.cfi_def_cfa 31, 96
	ldp	x29, x30, [sp], #96
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	done	prologue_elsewhere_96
outlined_96:
	stp	x28, x27, [sp, #16]
	mov	x29, sp
	ret
	.if	BAD
	function wrong_prologue_96
	stp	x29, x30, [sp, #-96]!
	.cfi_def_cfa_offset 96
	.cfi_offset 29, -96
	.cfi_offset 30, -88
	bl	outlined_save
	sub	sp, sp, #64
	.cfi_def_cfa 29, 96
	nop
	add	sp, sp, #64
	.cfi_def_cfa 31, 96
	ldp	x29, x30, [sp], #96
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	done	wrong_prologue_96
	function wrong_prologue		// one that saves but sets up nothing
	str	x30, [sp, #-64]!
	.cfi_def_cfa_offset 64
	.cfi_offset 30, -64
	bl	outlined_save
	.cfi_def_cfa 29, 48
	.cfi_offset 29, -48
	mov	w0, #1
	ldr	x29, [sp, #16]
	.cfi_restore 29
	.cfi_def_cfa 31, 64
	ldr	x30, [sp], #64
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	done	wrong_prologue
outlined_save:
	str	x29, [sp, #16]
	ret
	.endif

	function more_stack		// Go's, which has no names when stripped
.Lmore_stack:
	ldr	x16, [x28, #16]
	cmp	sp, x16
	b.ls	1f
	str	x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 30, -32
	bl	helper
	check
	ldr	x30, [sp], #32
	.cfi_def_cfa_offset 0
	.cfi_restore 30
	ret
1:	str	x0, [sp, #8]
	mov	x3, x30
	bl	elsewhere
	ldr	x0, [sp, #8]
	b	.Lmore_stack
	done	more_stack
	.if	BAD
	function wrong_more_stack	// keeps nothing
	ldr	x16, [x28, #16]
	cmp	sp, x16
	b.ls	1f
	ret
1:	bl	elsewhere
	b	wrong_more_stack
	done	wrong_more_stack
	.endif

	function last_system_call
	cbz	w0, 1f
	frame
	check
	mov	x8, #93
	svc	#0
	.cfi_def_cfa_offset 0
	.cfi_restore 29
	.cfi_restore 30
1:	ret
	done	last_system_call
	.if	BAD
	function wrong_system_call	// wait4 comes back
	cbz	w0, 1f
	frame
	mov	x8, #260
	svc	#0
	.cfi_def_cfa_offset 0
	.cfi_restore 29
	.cfi_restore 30
1:	ret
	done	wrong_system_call
	.endif

	function no_throw		// the call with 16 bytes more on the stack is in the range, but throws nothing
	.cfi_personality 0x1b, helper
	.cfi_lsda 0x1b, .Llsda_no_throw
	frame
.Lfrom1: sub	sp, sp, #16
	.cfi_adjust_cfa_offset 16
	bl	helper
	add	sp, sp, #16
	.cfi_adjust_cfa_offset -16
	str	x20, [sp, #16]
	.cfi_offset 20, -16
	mov	x20, x29
	.cfi_register 29, 20
	mov	x29, #1
	bl	helper
.Lto1:	mov	x29, x20
	.cfi_offset 29, -32
	ldr	x20, [sp, #16]
	.cfi_restore 20
	no_frame
	ret
.Lpad1:	.cfi_def_cfa_offset 32
	.cfi_register 29, 20
	.cfi_offset 30, -24
	nop
	check
	bl	_Unwind_Resume
	lsda	no_throw, .Lfrom1, .Lto1, .Lpad1
	done	no_throw
	.if	BAD
	function wrong_pad		// no call leaves what the pad's row has
	.cfi_personality 0x1b, helper
	.cfi_lsda 0x1b, .Llsda_wrong_pad
	frame
.Lfrom2: bl	helper
	bl	helper
.Lto2:	no_frame
	ret
.Lpad2:	.cfi_def_cfa_offset 32
	.cfi_register 29, 20
	.cfi_offset 30, -24
	nop
	bl	_Unwind_Resume
	lsda	wrong_pad, .Lfrom2, .Lto2, .Lpad2
	done	wrong_pad
	.endif

	function too_large_a_copy	// the case of 16 bytes and more, to an object of 8
	sub	sp, sp, #32
	.cfi_def_cfa_offset 32
	stp	x29, x30, [sp, #16]
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	mov	x29, x0
	tbz	w1, #4, 1f
	stp	q0, q1, [sp]
1:	check
	ldp	x29, x30, [sp, #16]
	.cfi_restore 29
	.cfi_restore 30
	add	sp, sp, #32
	.cfi_def_cfa_offset 0
	ret
	done	too_large_a_copy
	.if	BAD
	function wrong_reuse		// the words are free once their registers are back
	sub	sp, sp, #32
	.cfi_def_cfa_offset 32
	stp	x29, x30, [sp, #16]
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	mov	x29, x0
	ldp	x29, x30, [sp, #16]
	stp	q0, q1, [sp]
	nop
	nop
	.cfi_restore 29
	.cfi_restore 30
	add	sp, sp, #32
	.cfi_def_cfa_offset 0
	ret
	done	wrong_reuse
	function wrong_save		// the first row has RA where it is saved only later
	.cfi_def_cfa_offset 0
	.cfi_offset 30, -16
	sub	sp, sp, #32
	.cfi_def_cfa_offset 32
	str	x30, [sp, #16]
	nop
	add	sp, sp, #32
	.cfi_def_cfa_offset 0
	ret
	done	wrong_save
	.endif

	function copied_index		// the copy has the bound of the second compare, too
	frame
	mov	x5, x1
	cmp	x1, #100
	b.hi	3f
	cmp	x1, #1
	b.hi	3f
	adrp	x0, .Lcopied_table
	add	x0, x0, :lo12:.Lcopied_table
	ldrh	w0, [x0, w5, uxtw #1]
	adr	x1, .Lcopied_base
	add	x0, x1, w0, sxth #2
	br	x0
.Lcopied_base:
1:	check
	b	3f
2:	nop
3:	no_frame
	ret
	.section .rodata
	.balign	2
.Lcopied_table:
	.hword	(1b-.Lcopied_base)/4, (2b-.Lcopied_base)/4
	.rept	100				// another table
	.hword	(copied_index-.Lcopied_base)/4
	.endr
	.text
	done	copied_index

	function joined_bounds		// two paths with the same bound for different copies
	frame
	cbz	w3, 1f
	mov	x5, x1
	cmp	x5, #1
	b.hi	5f
	b	2f
1:	mov	x5, x2
	cmp	x5, #1
	b.hi	5f
2:	adrp	x0, .Ljoined_table
	add	x0, x0, :lo12:.Ljoined_table
	ldrb	w0, [x0, x5]
	adr	x1, .Ljoined_base
	add	x0, x1, x0, lsl #2
	br	x0
.Ljoined_base:
3:	check
	b	5f
4:	nop
5:	no_frame
	ret
	.section .rodata
.Ljoined_table:
	.byte	(3b-.Ljoined_base)/4, (4b-.Ljoined_base)/4, 255
	.text
	done	joined_bounds

	function empty_block		// LLVM's unreachable: a jump to the function's end, where the next one starts
	frame
	cbz	w0, 1f
	check
	no_frame
	ret
1:	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	b	helper
	done	empty_block
	function helper
	.cfi_adjust_cfa_offset 16*BAD
	ret
	done	helper
	.if	BAD
	function wrong_jump		// to a function that is elsewhere
	frame
	b	helper
	done	wrong_jump
	.endif

	.if	BAD
	// Where nothing is certain: these are no contradictions.
	function unknown_sp		// the way back from another stack
	str	x29, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	add	sp, sp, w1, uxth #3
	ldr	x29, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore 29
	ret
	done	unknown_sp
	function eh_return		// the handler goes where RA was, SP to its frame
	frame
	mov	x29, sp
	cbz	w0, 1f
	bl	helper
	str	x1, [x29, #8]
	mov	x4, x0
	b	2f
1:	mov	x4, #0
2:	check
	no_frame
	add	sp, sp, x4
	ret
	done	eh_return
	.endif
