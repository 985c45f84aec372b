# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiled from cc.c by make --compile.

	.file	"cc.c"
	.section	.text.tail,"ax",@progbits
	.globl	tail                            # -- Begin function tail
	.p2align	4
	.type	tail,@function
tail:                                   # @tail
	.cfi_startproc
# %bb.0:
	ahi	%r2, 1
	lgfr	%r2, %r2
	jg	get@PLT
.Lfunc_end0:
	.size	tail, .Lfunc_end0-tail
	.cfi_endproc
                                        # -- End function
	.section	.text.frame,"ax",@progbits
	.globl	frame                           # -- Begin function frame
	.p2align	4
	.type	frame,@function
frame:                                  # @frame
	.cfi_startproc
# %bb.0:
	stmg	%r13, %r15, 104(%r15)
	.cfi_offset %r13, -56
	.cfi_offset %r14, -48
	.cfi_offset %r15, -40
	aghi	%r15, -224
	.cfi_def_cfa_offset 384
	lgr	%r13, %r2
	la	%r2, 160(%r15)
	brasl	%r14, use@PLT
	lgr	%r2, %r13
	brasl	%r14, get@PLT
	risbg	%r1, %r13, 58, 191, 0
	llc	%r0, 160(%r1,%r15)
	ar	%r0, %r2
	lgfr	%r2, %r0
	lmg	%r13, %r15, 328(%r15)
	br	%r14
.Lfunc_end1:
	.size	frame, .Lfunc_end1-frame
	.cfi_endproc
                                        # -- End function
	.section	.text.big_frame,"ax",@progbits
	.globl	big_frame                       # -- Begin function big_frame
	.p2align	4
	.type	big_frame,@function
big_frame:                              # @big_frame
	.cfi_startproc
# %bb.0:
	stmg	%r13, %r15, 104(%r15)
	.cfi_offset %r13, -56
	.cfi_offset %r14, -48
	.cfi_offset %r15, -40
	agfi	%r15, -40176
	.cfi_def_cfa_offset 40336
	lgr	%r13, %r2
	la	%r2, 176(%r15)
	brasl	%r14, use@PLT
	llgc	%r2, 176(%r13,%r15)
	lmg	%r13, %r15, 40280(%r15)
	br	%r14
.Lfunc_end2:
	.size	big_frame, .Lfunc_end2-big_frame
	.cfi_endproc
                                        # -- End function
	.section	.text.variable,"ax",@progbits
	.globl	variable                        # -- Begin function variable
	.p2align	4
	.type	variable,@function
variable:                               # @variable
	.cfi_startproc
# %bb.0:
	stmg	%r11, %r15, 88(%r15)
	.cfi_offset %r11, -72
	.cfi_offset %r13, -56
	.cfi_offset %r14, -48
	.cfi_offset %r15, -40
	aghi	%r15, -160
	.cfi_def_cfa_offset 320
	lgr	%r11, %r15
	.cfi_def_cfa_register %r11
	la	%r0, 7(%r2)
	risbg	%r0, %r0, 31, 188, 0
	sgrk	%r1, %r15, %r0
	la	%r13, 160(%r1)
	lgr	%r15, %r1
	lgr	%r2, %r13
	brasl	%r14, use@PLT
	llgc	%r2, 0(%r13)
	lmg	%r11, %r15, 248(%r11)
	br	%r14
.Lfunc_end3:
	.size	variable, .Lfunc_end3-variable
	.cfi_endproc
                                        # -- End function
	.section	.text.aligned,"ax",@progbits
	.globl	aligned                         # -- Begin function aligned
	.p2align	4
	.type	aligned,@function
aligned:                                # @aligned
	.cfi_startproc
# %bb.0:
	stmg	%r11, %r15, 88(%r15)
	.cfi_offset %r11, -72
	.cfi_offset %r12, -64
	.cfi_offset %r13, -56
	.cfi_offset %r14, -48
	.cfi_offset %r15, -40
	aghi	%r15, -160
	.cfi_def_cfa_offset 320
	lgr	%r11, %r15
	.cfi_def_cfa_register %r11
	aghik	%r1, %r15, -120
	la	%r12, 216(%r1)
	lgr	%r13, %r2
	nill	%r12, 65472
	lgr	%r15, %r1
	lgr	%r2, %r12
	brasl	%r14, use@PLT
	risbg	%r1, %r13, 58, 189, 2
	l	%r12, 0(%r1,%r12)
	lgr	%r2, %r13
	brasl	%r14, get@PLT
	ar	%r2, %r12
	lgfr	%r2, %r2
	lmg	%r11, %r15, 248(%r11)
	br	%r14
.Lfunc_end4:
	.size	aligned, .Lfunc_end4-aligned
	.cfi_endproc
                                        # -- End function
	.section	.text.aligned_variable,"ax",@progbits
	.globl	aligned_variable                # -- Begin function aligned_variable
	.p2align	4
	.type	aligned_variable,@function
aligned_variable:                       # @aligned_variable
	.cfi_startproc
# %bb.0:
	stmg	%r10, %r15, 80(%r15)
	.cfi_offset %r10, -80
	.cfi_offset %r11, -72
	.cfi_offset %r12, -64
	.cfi_offset %r13, -56
	.cfi_offset %r14, -48
	.cfi_offset %r15, -40
	aghi	%r15, -160
	.cfi_def_cfa_offset 320
	lgr	%r11, %r15
	.cfi_def_cfa_register %r11
	aghik	%r1, %r15, -120
	la	%r12, 216(%r1)
	lgr	%r13, %r2
	nill	%r12, 65472
	lgr	%r15, %r1
	la	%r0, 7(%r2)
	risbg	%r0, %r0, 31, 188, 0
	sgrk	%r1, %r15, %r0
	la	%r10, 160(%r1)
	lgr	%r15, %r1
	lgr	%r2, %r12
	brasl	%r14, use@PLT
	lgr	%r2, %r10
	brasl	%r14, use@PLT
	risbg	%r1, %r13, 58, 189, 2
	llc	%r0, 0(%r10)
	a	%r0, 0(%r1,%r12)
	lgfr	%r2, %r0
	lmg	%r10, %r15, 240(%r11)
	br	%r14
.Lfunc_end5:
	.size	aligned_variable, .Lfunc_end5-aligned_variable
	.cfi_endproc
                                        # -- End function
	.section	.text.saves,"ax",@progbits
	.globl	saves                           # -- Begin function saves
	.p2align	4
	.type	saves,@function
saves:                                  # @saves
	.cfi_startproc
# %bb.0:
	stmg	%r7, %r15, 56(%r15)
	.cfi_offset %r7, -104
	.cfi_offset %r8, -96
	.cfi_offset %r9, -88
	.cfi_offset %r10, -80
	.cfi_offset %r11, -72
	.cfi_offset %r12, -64
	.cfi_offset %r13, -56
	.cfi_offset %r14, -48
	.cfi_offset %r15, -40
	aghi	%r15, -160
	.cfi_def_cfa_offset 320
	lgr	%r11, %r2
	cije	%r11, 42, .LBB6_6
# %bb.1:
	cijle	%r11, 0, .LBB6_4
# %bb.2:
	lgr	%r13, %r5
	lgr	%r12, %r3
	lhi	%r8, 0
	lgfr	%r10, %r4
	lhi	%r7, 0
.LBB6_3:                                # =>This Inner Loop Header: Depth=1
	lgfr	%r2, %r7
	brasl	%r14, get@PLT
	lgr	%r9, %r2
	lgr	%r2, %r10
	msr	%r9, %r12
	brasl	%r14, get@PLT
	msr	%r2, %r13
	ar	%r9, %r8
	ark	%r8, %r9, %r2
	ahi	%r7, 1
	crjlh	%r11, %r7, .LBB6_3
	j	.LBB6_5
.LBB6_4:
	lhi	%r8, 0
.LBB6_5:
	lgfr	%r2, %r8
	lmg	%r7, %r15, 216(%r15)
	br	%r14
.LBB6_6:
	brasl	%r14, die@PLT
.Lfunc_end6:
	.size	saves, .Lfunc_end6-saves
	.cfi_endproc
                                        # -- End function
	.section	".note.GNU-stack","",@progbits
