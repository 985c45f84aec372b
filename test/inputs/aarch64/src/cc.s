// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled from cc.c by make --compile.

	.file	"cc.c"
	.text
	.globl	tail                            // -- Begin function tail
	.p2align	2
	.type	tail,@function
tail:                                   // @tail
	.cfi_startproc
// %bb.0:
	add	w0, w0, #1
	b	get
.Lfunc_end0:
	.size	tail, .Lfunc_end0-tail
	.cfi_endproc
                                        // -- End function
	.globl	frame                           // -- Begin function frame
	.p2align	2
	.type	frame,@function
frame:                                  // @frame
	.cfi_startproc
// %bb.0:
	sub	sp, sp, #96
	.cfi_def_cfa_offset 96
	stp	x29, x30, [sp, #64]             // 16-byte Folded Spill
	stp	x20, x19, [sp, #80]             // 16-byte Folded Spill
	add	x29, sp, #64
	.cfi_def_cfa w29, 32
	.cfi_offset w19, -8
	.cfi_offset w20, -16
	.cfi_offset w30, -24
	.cfi_offset w29, -32
	mov	w19, w0
	mov	x0, sp
	mov	x20, sp
	bl	use
	mov	w0, w19
	bl	get
	and	x8, x19, #0x3f
	ldrb	w8, [x20, x8]
	add	w0, w0, w8
	.cfi_def_cfa wsp, 96
	ldp	x20, x19, [sp, #80]             // 16-byte Folded Reload
	ldp	x29, x30, [sp, #64]             // 16-byte Folded Reload
	add	sp, sp, #96
	.cfi_def_cfa_offset 0
	.cfi_restore w19
	.cfi_restore w20
	.cfi_restore w30
	.cfi_restore w29
	ret
.Lfunc_end1:
	.size	frame, .Lfunc_end1-frame
	.cfi_endproc
                                        // -- End function
	.globl	big_frame                       // -- Begin function big_frame
	.p2align	2
	.type	big_frame,@function
big_frame:                              // @big_frame
	.cfi_startproc
// %bb.0:
	stp	x29, x30, [sp, #-48]!           // 16-byte Folded Spill
	.cfi_def_cfa_offset 48
	str	x28, [sp, #16]                  // 8-byte Spill
	stp	x20, x19, [sp, #32]             // 16-byte Folded Spill
	mov	x29, sp
	.cfi_def_cfa w29, 48
	.cfi_offset w19, -8
	.cfi_offset w20, -16
	.cfi_offset w28, -32
	.cfi_offset w30, -40
	.cfi_offset w29, -48
	sub	sp, sp, #9, lsl #12             // =36864
	sub	sp, sp, #3136
	mov	w19, w0
	mov	x0, sp
	mov	x20, sp
	bl	use
	ldrb	w0, [x20, w19, sxtw]
	add	sp, sp, #9, lsl #12             // =36864
	add	sp, sp, #3136
	.cfi_def_cfa wsp, 48
	ldp	x20, x19, [sp, #32]             // 16-byte Folded Reload
	ldr	x28, [sp, #16]                  // 8-byte Reload
	ldp	x29, x30, [sp], #48             // 16-byte Folded Reload
	.cfi_def_cfa_offset 0
	.cfi_restore w19
	.cfi_restore w20
	.cfi_restore w28
	.cfi_restore w30
	.cfi_restore w29
	ret
.Lfunc_end2:
	.size	big_frame, .Lfunc_end2-big_frame
	.cfi_endproc
                                        // -- End function
	.globl	variable                        // -- Begin function variable
	.p2align	2
	.type	variable,@function
variable:                               // @variable
	.cfi_startproc
// %bb.0:
	stp	x29, x30, [sp, #-32]!           // 16-byte Folded Spill
	.cfi_def_cfa_offset 32
	str	x19, [sp, #16]                  // 8-byte Spill
	mov	x29, sp
	.cfi_def_cfa w29, 32
	.cfi_offset w19, -16
	.cfi_offset w30, -24
	.cfi_offset w29, -32
	mov	w8, w0
	mov	x9, sp
	add	x8, x8, #15
	and	x8, x8, #0x1fffffff0
	sub	x19, x9, x8
	mov	sp, x19
	mov	x0, x19
	bl	use
	ldrb	w0, [x19]
	mov	sp, x29
	.cfi_def_cfa wsp, 32
	ldr	x19, [sp, #16]                  // 8-byte Reload
	ldp	x29, x30, [sp], #32             // 16-byte Folded Reload
	.cfi_def_cfa_offset 0
	.cfi_restore w19
	.cfi_restore w30
	.cfi_restore w29
	ret
.Lfunc_end3:
	.size	variable, .Lfunc_end3-variable
	.cfi_endproc
                                        // -- End function
	.globl	aligned                         // -- Begin function aligned
	.p2align	2
	.type	aligned,@function
aligned:                                // @aligned
	.cfi_startproc
// %bb.0:
	stp	x29, x30, [sp, #-32]!           // 16-byte Folded Spill
	.cfi_def_cfa_offset 32
	stp	x20, x19, [sp, #16]             // 16-byte Folded Spill
	mov	x29, sp
	.cfi_def_cfa w29, 32
	.cfi_offset w19, -8
	.cfi_offset w20, -16
	.cfi_offset w30, -24
	.cfi_offset w29, -32
	sub	x9, sp, #96
	and	sp, x9, #0xffffffffffffffc0
	mov	w19, w0
	mov	x0, sp
	mov	x20, sp
	bl	use
	and	w8, w19, #0xf
	mov	w0, w19
	orr	x8, x20, x8, lsl #2
	ldr	w20, [x8]
	bl	get
	add	w0, w0, w20
	mov	sp, x29
	.cfi_def_cfa wsp, 32
	ldp	x20, x19, [sp, #16]             // 16-byte Folded Reload
	ldp	x29, x30, [sp], #32             // 16-byte Folded Reload
	.cfi_def_cfa_offset 0
	.cfi_restore w19
	.cfi_restore w20
	.cfi_restore w30
	.cfi_restore w29
	ret
.Lfunc_end4:
	.size	aligned, .Lfunc_end4-aligned
	.cfi_endproc
                                        // -- End function
	.globl	aligned_variable                // -- Begin function aligned_variable
	.p2align	2
	.type	aligned_variable,@function
aligned_variable:                       // @aligned_variable
	.cfi_startproc
// %bb.0:
	stp	x29, x30, [sp, #-48]!           // 16-byte Folded Spill
	.cfi_def_cfa_offset 48
	stp	x22, x21, [sp, #16]             // 16-byte Folded Spill
	stp	x20, x19, [sp, #32]             // 16-byte Folded Spill
	mov	x29, sp
	.cfi_def_cfa w29, 48
	.cfi_offset w19, -8
	.cfi_offset w20, -16
	.cfi_offset w21, -24
	.cfi_offset w22, -32
	.cfi_offset w30, -40
	.cfi_offset w29, -48
	sub	x9, sp, #80
	and	sp, x9, #0xffffffffffffffc0
	mov	w8, w0
	mov	x9, sp
	mov	x19, sp
	add	x8, x8, #15
	mov	w20, w0
	and	x8, x8, #0x1fffffff0
	sub	x21, x9, x8
	mov	sp, x21
	add	x0, x19, #0
	add	x22, x19, #0
	bl	use
	mov	x0, x21
	bl	use
	and	w8, w20, #0xf
	ldrb	w9, [x21]
	orr	x8, x22, x8, lsl #2
	ldr	w8, [x8]
	add	w0, w8, w9
	mov	sp, x29
	.cfi_def_cfa wsp, 48
	ldp	x20, x19, [sp, #32]             // 16-byte Folded Reload
	ldp	x22, x21, [sp, #16]             // 16-byte Folded Reload
	ldp	x29, x30, [sp], #48             // 16-byte Folded Reload
	.cfi_def_cfa_offset 0
	.cfi_restore w19
	.cfi_restore w20
	.cfi_restore w21
	.cfi_restore w22
	.cfi_restore w30
	.cfi_restore w29
	ret
.Lfunc_end5:
	.size	aligned_variable, .Lfunc_end5-aligned_variable
	.cfi_endproc
                                        // -- End function
	.globl	saves                           // -- Begin function saves
	.p2align	2
	.type	saves,@function
saves:                                  // @saves
	.cfi_startproc
// %bb.0:
	stp	x29, x30, [sp, #-80]!           // 16-byte Folded Spill
	.cfi_def_cfa_offset 80
	str	x25, [sp, #16]                  // 8-byte Spill
	stp	x24, x23, [sp, #32]             // 16-byte Folded Spill
	stp	x22, x21, [sp, #48]             // 16-byte Folded Spill
	stp	x20, x19, [sp, #64]             // 16-byte Folded Spill
	mov	x29, sp
	.cfi_def_cfa w29, 80
	.cfi_offset w19, -8
	.cfi_offset w20, -16
	.cfi_offset w21, -24
	.cfi_offset w22, -32
	.cfi_offset w23, -40
	.cfi_offset w24, -48
	.cfi_offset w25, -64
	.cfi_offset w30, -72
	.cfi_offset w29, -80
	.cfi_remember_state
	cmp	w0, #42
	b.eq	.LBB6_6
// %bb.1:
	mov	w21, w0
	cmp	w0, #1
	b.lt	.LBB6_4
// %bb.2:
	mov	w19, w3
	mov	w20, w2
	mov	w22, w1
	mov	w24, wzr
	mov	w23, wzr
.LBB6_3:                                // =>This Inner Loop Header: Depth=1
	mov	w0, w24
	bl	get
	mov	w25, w0
	mov	w0, w20
	bl	get
	madd	w8, w25, w22, w23
	add	w24, w24, #1
	madd	w23, w0, w19, w8
	cmp	w21, w24
	b.ne	.LBB6_3
	b	.LBB6_5
.LBB6_4:
	mov	w23, wzr
.LBB6_5:
	mov	w0, w23
	.cfi_def_cfa wsp, 80
	ldp	x20, x19, [sp, #64]             // 16-byte Folded Reload
	ldr	x25, [sp, #16]                  // 8-byte Reload
	ldp	x22, x21, [sp, #48]             // 16-byte Folded Reload
	ldp	x24, x23, [sp, #32]             // 16-byte Folded Reload
	ldp	x29, x30, [sp], #80             // 16-byte Folded Reload
	.cfi_def_cfa_offset 0
	.cfi_restore w19
	.cfi_restore w20
	.cfi_restore w21
	.cfi_restore w22
	.cfi_restore w23
	.cfi_restore w24
	.cfi_restore w25
	.cfi_restore w30
	.cfi_restore w29
	ret
.LBB6_6:
	.cfi_restore_state
	bl	die
.Lfunc_end6:
	.size	saves, .Lfunc_end6-saves
	.cfi_endproc
                                        // -- End function
	.section	".note.GNU-stack","",@progbits
