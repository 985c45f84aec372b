// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What compilers do with stacks. All is described rightly; with BAD=1 the row at each `check` is 16 bytes off, so that an idiom which stops
// the analysis shows, too. BAD does not change the code.
	.include "code-head-aarch64.inc"

	function jump_table
	frame
	cmp	w0, #1
	b.hi	3f
	adrp	x1, .Ltable
	add	x1, x1, :lo12:.Ltable
	ldrb	w1, [x1, w0, uxtw]
	adr	x2, .Lbase
	add	x1, x2, w1, sxtb #2
	br	x1
.Lbase:
1:	check
	b	3f
2:	nop
3:	no_frame
	ret
	.section .rodata
.Ltable:
	.byte	(1b-.Lbase)/4, (2b-.Lbase)/4
	.text
	done	jump_table

	function tail_call
	frame
	check
	no_frame
	cbnz	w0, helper
	br	x16
	done	tail_call

	function hot			// with a cold part, which comes back
	frame
	cbz	w0, hot.cold
.Lback:
	check
	no_frame
	ret
	done	hot
	function hot.cold
	.cfi_def_cfa_offset 32+16*BAD
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	bl	helper
	.cfi_def_cfa_offset 32
	b	.Lback
	done	hot.cold

	function no_return		// only another path comes after the call
	cbnz	w0, 1f
	ret
1:	frame
	check
	bl	abort
	done	no_return

	function alloca
	frame
	mov	x29, sp
	.cfi_def_cfa_register 29
	sub	sp, sp, x0
	mov	x0, sp
	bl	helper
	check
	mov	sp, x29
	.cfi_def_cfa_register 31
	no_frame
	ret
	done	alloca

	function realigned
	frame
	mov	x29, sp
	.cfi_def_cfa_register 29
	sub	x9, sp, #96
	and	sp, x9, #0xffffffffffffffc0
	check
	mov	sp, x29
	.cfi_def_cfa_register 31
	no_frame
	ret
	done	realigned

	function shrink_wrapped		// and saves vector registers
	cbz	w0, 1f
	frame
	stp	d8, d9, [sp, #16]
	.cfi_offset 72, -16
	.cfi_offset 73, -8
	bl	helper
	check
	ldp	d8, d9, [sp, #16]
	.cfi_restore 72
	.cfi_restore 73
	no_frame
1:	ret
	done	shrink_wrapped

	function large			// in two steps
	sub	sp, sp, #1, lsl #12
	.cfi_def_cfa_offset 4096
	sub	sp, sp, #16
	.cfi_def_cfa_offset 4112
	check
	add	sp, sp, #16
	.cfi_def_cfa_offset 4096
	add	sp, sp, #1, lsl #12
	.cfi_def_cfa_offset 0
	ret
	done	large

	.arch_extension pauth
	function pac_and_bti
	bti	c
	paciasp
	.cfi_negate_ra_state
	frame
	bl	helper
	check
	no_frame
	autiasp
	.cfi_negate_ra_state
	ret
	done	pac_and_bti

	function pac_return
	paciasp
	.cfi_negate_ra_state
	frame
	check
	no_frame
	retaa
	done	pac_return

	function landing_pad
	.cfi_personality 0x1b, helper
	.cfi_lsda 0x1b, .Llsda
	frame
.Lfrom:	bl	helper
.Lto:	no_frame
	ret
.Lpad:	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	check
	bl	_Unwind_Resume
	.section .gcc_except_table, "a", @progbits
.Llsda:
	.byte	0xff, 0xff, 1			// no landing pad base, no types, call sites in ULEB128
	.uleb128 .Lsites_end-.Lsites
.Lsites:
	.uleb128 .Lfrom-landing_pad, .Lto-.Lfrom, .Lpad-landing_pad, 0
.Lsites_end:
	.text
	done	landing_pad

	function helper
	.cfi_adjust_cfa_offset 16*BAD
	ret
	done	helper
