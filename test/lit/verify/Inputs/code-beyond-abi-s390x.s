# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Callees that keep to agreements of their own, and paths that are never taken. With BAD=0 all is described rightly. With BAD=1 the row at each
# `check` is 8 bytes off; and the functions under `.if BAD` are shaped alike but really wrong.
	.include "code-head-s390x.inc"
	.macro	lsda name from to pad
	.section .gcc_except_table, "a", @progbits
.Llsda_\name:
	.byte	0xff, 0xff, 1			# no landing pad base, no types, call sites in ULEB128
	.uleb128 2f-1f
1:	.uleb128 \from-\name, \to-\from, \pad-\name, 0
2:	.text
	.endm

	function kept_in_r1		# a leaf next door leaves the caller's base alone
	frame
	la	%r1, 0(%r15)
	.cfi_def_cfa_register 1
	brasl	%r14, leaf
	lghi	%r2, 0
	check
	lgr	%r15, %r1
	.cfi_def_cfa_register 15
	no_frame
	br	%r14
	done	kept_in_r1
	function leaf
	lghi	%r3, 1
	br	%r14
	done	leaf
	.if	BAD
	function wrong_in_r1		# this one clobbers it
	frame
	la	%r1, 0(%r15)
	.cfi_def_cfa_register 1
	brasl	%r14, no_such_leaf
	lghi	%r2, 0
	lghi	%r2, 0
	.cfi_def_cfa_register 15
	no_frame
	br	%r14
	done	wrong_in_r1
	function no_such_leaf
	lghi	%r1, 1
	br	%r14
	done	no_such_leaf
	.endif

	function kept_over_middle	# the helper is entered after its start, and is large
	frame
	la	%r1, 0(%r15)
	.cfi_def_cfa_register 1
	brasl	%r14, .Lmiddle
	lghi	%r2, 0
	check
	lgr	%r15, %r1
	.cfi_def_cfa_register 15
	no_frame
	br	%r14
	done	kept_over_middle
	function large_leaf
	lghi	%r1, 1
.Lmiddle:
	ltr	%r3, %r3
	je	1f
	.rept	500
	lghi	%r3, 1
	.endr
1:	lghi	%r4, 1
	br	%r14
	done	large_leaf
	.if	BAD
	function wrong_over_start	# the start clobbers it
	frame
	la	%r1, 0(%r15)
	.cfi_def_cfa_register 1
	brasl	%r14, large_leaf
	lghi	%r2, 0
	lghi	%r2, 0
	.cfi_def_cfa_register 15
	no_frame
	br	%r14
	done	wrong_over_start
	function kept_over_unclear	# the helper cannot be analysed: nothing is claimed
	frame
	la	%r1, 0(%r15)
	.cfi_def_cfa_register 1
	brasl	%r14, unclear_leaf
	lghi	%r2, 0
	lghi	%r2, 0
	.cfi_def_cfa_register 15
	no_frame
	br	%r14
	done	kept_over_unclear
	function unclear_leaf
	br	%r4
	done	unclear_leaf
	.endif

	function no_throw		# the call before r11 moves to r6 is in the range, but throws nothing
	.cfi_personality 0x1b, helper
	.cfi_lsda 0x1b, .Llsda_no_throw
	frame
.Lfrom1: brasl	%r14, helper
	lgr	%r6, %r11
	.cfi_register 11, 6
	lghi	%r11, 1
	brasl	%r14, helper
.Lto1:	no_frame
	br	%r14
.Lpad1:	.cfi_def_cfa_offset 328
	saved
	.cfi_register 11, 6
	lghi	%r2, 0
	check
	brasl	%r14, _Unwind_Resume@PLT
	lsda	no_throw, .Lfrom1, .Lto1, .Lpad1
	done	no_throw
	.if	BAD
	function wrong_pad		# no call leaves what the pad's row has
	.cfi_personality 0x1b, helper
	.cfi_lsda 0x1b, .Llsda_wrong_pad
	frame
.Lfrom2: brasl	%r14, helper
	brasl	%r14, helper
.Lto2:	no_frame
	br	%r14
.Lpad2:	.cfi_def_cfa_offset 328
	saved
	.cfi_register 11, 6
	lghi	%r2, 0
	brasl	%r14, _Unwind_Resume@PLT
	lsda	wrong_pad, .Lfrom2, .Lto2, .Lpad2
	done	wrong_pad
	.endif

	function too_large_a_copy	# the case of 128 bytes, to an object that is smaller
	frame
	lghi	%r11, 1
	lghi	%r14, 1
	ltr	%r3, %r3
	je	1f
	mvc	160(128,%r15), 0(%r2)
1:	check
	no_frame
	br	%r14
	done	too_large_a_copy
	.if	BAD
	function wrong_reuse		# the words are free once their registers are back
	frame
	lg	%r11, 256(%r15)
	mvc	160(128,%r15), 0(%r2)
	lghi	%r2, 0
	aghi	%r15, 168
	restored
	br	%r14
	done	wrong_reuse
	.endif

	function empty_block		# LLVM's unreachable: a jump to the function's end, where the next one starts
	frame
	ltr	%r2, %r2
	je	1f
	check
	no_frame
	br	%r14
1:	.cfi_def_cfa_offset 328
	saved
	j	helper
	done	empty_block
	function helper
	.cfi_adjust_cfa_offset 8*BAD
	br	%r14
	done	helper
	.if	BAD
	function wrong_jump		# to a function that is elsewhere
	frame
	j	helper
	done	wrong_jump

	# Where nothing is certain: this is no contradiction.
	function unknown_sp		# the way back from another stack
	stmg	%r6, %r15, 48(%r15)
	saved
	lgr	%r6, %r15
	stg	%r15, 0(%r2)
	lgr	%r15, %r2
	brasl	%r14, helper
	lg	%r15, 0(%r15)
	lmg	%r6, %r15, 48(%r15)
	restored
	br	%r14
	done	unknown_sp
	.endif
