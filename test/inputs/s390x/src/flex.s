# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What version 3 represents with FLEX functions on s390x, and what no version can represent.

	.text

	.globl	ra_in_fpr			# RA in f0 (DWARF 16)
	.type	ra_in_fpr, @function
ra_in_fpr:
	.cfi_startproc
	ldgr	%f0, %r14
	.cfi_register %r14, %f0
	lghi	%r14, 0
	lgdr	%r14, %f0
	.cfi_restore %r14
	br	%r14
	.cfi_endproc
	.size	ra_in_fpr, .-ra_in_fpr

	.globl	both_in_fprs			# FP in f2 (DWARF 17), RA in f0
	.type	both_in_fprs, @function
both_in_fprs:
	.cfi_startproc
	ldgr	%f2, %r11
	.cfi_register %r11, %f2
	ldgr	%f0, %r14
	.cfi_register %r14, %f0
	lghi	%r11, 0
	lgdr	%r11, %f2
	.cfi_restore %r11
	lgdr	%r14, %f0
	.cfi_restore %r14
	br	%r14
	.cfi_endproc
	.size	both_in_fprs, .-both_in_fprs

	.globl	fp_in_fpr			# FP in f4 (DWARF 18), RA unchanged
	.type	fp_in_fpr, @function
fp_in_fpr:
	.cfi_startproc
	ldgr	%f4, %r11
	.cfi_register %r11, %f4
	lghi	%r11, 0
	lgdr	%r11, %f4
	.cfi_restore %r11
	br	%r14
	.cfi_endproc
	.size	fp_in_fpr, .-fp_in_fpr

	.globl	cfa_r12				# CFA in another register
	.type	cfa_r12, @function
cfa_r12:
	.cfi_startproc
	lgr	%r1, %r15
	.cfi_def_cfa_register %r1
	aghi	%r15, -64
	lgr	%r15, %r1
	.cfi_def_cfa_register %r15
	br	%r14
	.cfi_endproc
	.size	cfa_r12, .-cfa_r12

	.globl	cfa_unaligned			# CFA offset no multiple of 8: a default row cannot hold it
	.type	cfa_unaligned, @function
cfa_unaligned:
	.cfi_startproc
	aghi	%r15, -4
	.cfi_def_cfa_offset 164
	aghi	%r15, 4
	.cfi_def_cfa_offset 160
	br	%r14
	.cfi_endproc
	.size	cfa_unaligned, .-cfa_unaligned

	.globl	outermost_part			# outermost from the second instruction on
	.type	outermost_part, @function
outermost_part:
	.cfi_startproc
	lghi	%r11, 0
	.cfi_undefined %r14
	lghi	%r14, 0
	.cfi_restore %r14
	br	%r14
	.cfi_endproc
	.size	outermost_part, .-outermost_part

	.section .note.GNU-stack,"",@progbits
