# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Code of compilers' options for hardening and profiling. All is described rightly with BAD=0; with BAD=1 the row at each `check` is 8 bytes off,
# and the functions under `.if BAD` are wrong, or cannot be decided.
	.include "code-head-s390x.inc"

	function profiled		# -pg -mfentry: the callee returns by r0 and preserves r14
	brasl	%r0, helper_r0
	frame
	brasl	%r14, helper
	lghi	%r3, 0
	check
	no_frame
	br	%r14
	done	profiled

	function goto_by_thunk		# gcc -mindirect-branch=thunk: a computed goto, with the frame
	frame
	clfi	%r2, 1
	jh	3f
	risbg	%r2, %r2, 29, 128+60, 3
	larl	%r1, .Ltable
	lg	%r2, 0(%r2,%r1)
	la	%r1, 0(%r2,%r1)
	jg	thunk_r1
1:	check
	j	3f
2:	lghi	%r2, 1
3:	no_frame
	br	%r14
	.section .rodata
	.balign	8
.Ltable:
	.8byte	1b-.Ltable, 2b-.Ltable
	.text
	done	goto_by_thunk
	function goto_by_link_thunk	# the same by the link register
	frame
	clfi	%r2, 1
	jh	3f
	risbg	%r2, %r2, 29, 128+60, 3
	larl	%r14, .Ltable_2
	lg	%r2, 0(%r2,%r14)
	la	%r14, 0(%r2,%r14)
	jg	thunk_r14
1:	check
	j	3f
2:	lghi	%r2, 1
3:	no_frame
	br	%r14
	.section .rodata
	.balign	8
.Ltable_2:
	.8byte	1b-.Ltable_2, 2b-.Ltable_2
	.text
	done	goto_by_link_thunk
	function return_by_thunk	# -mfunction-return=thunk
	frame
	check
	no_frame
	jg	thunk_r14
	done	return_by_thunk

	function literal_pool		# constants between the code
	frame
	bras	%r3, 1f
	.8byte	0x0102030405060708, 0x4040404040404040
1:	lg	%r1, 0(%r3)
	check
	no_frame
	br	%r14
	done	literal_pool

	function walks_down		# an array from its end, which SP is the start of
	aghi	%r15, -256
	.cfi_def_cfa_offset 416
	la	%r1, 256(%r15)
1:	aghi	%r1, -8
	lghi	%r2, 0
	stg	%r2, 0(%r1)
	clgr	%r15, %r1
	je	2f
	j	1b
2:	check
	aghi	%r15, 256
	.cfi_def_cfa_offset 160
	br	%r14
	done	walks_down

	function thunk_r1
	exrl	%r0, 1f
2:	j	2b
1:	br	%r1
	done	thunk_r1
	function thunk_r14
	exrl	%r0, 1f
2:	j	2b
1:	br	%r14
	done	thunk_r14

	function helper
	.cfi_adjust_cfa_offset 8*BAD
	br	%r14
	done	helper
	function helper_r0
	br	%r0
	done	helper_r0

	.if	BAD
	function calls_before		# a call by the link register of the ABI does not preserve it
	brasl	%r14, helper
	lghi	%r2, 0
	br	%r14
	done	calls_before

	function jumps_over_code	# not constants: control may get there
	frame
	bras	%r3, 1f
2:	lghi	%r2, 0
	no_frame
	br	%r14
1:	.cfi_def_cfa_offset 328
	saved
	br	%r3
	done	jumps_over_code
	.endif
