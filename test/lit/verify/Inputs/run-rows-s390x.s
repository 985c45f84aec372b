# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A program without a C library, for --check=run in an emulator. Each function r40N has the finding of its name
# where BAD is 1, which does not change the code; the others are right in any case.
	.macro	function name
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm
	.macro	done name
	.cfi_endproc
	.size	\name, .-\name
	.endm

	function _start			# 10 instructions
	.if	!BAD			# R404
	.cfi_undefined %r14
	.endif
	aghi	%r15, -160
	.cfi_def_cfa_offset 320
	brasl	%r14, r401
	lghi	%r11, 0x5555
	brasl	%r14, r402
	brasl	%r14, r403
	brasl	%r14, r405
	brasl	%r14, tail
	brasl	%r14, in_register
	lghi	%r2, 0
	svc	1			# exit
	done	_start

	function r401			# 3: CFA after a change of SP
	aghi	%r15, -160
	.cfi_def_cfa_offset 320-160*BAD
	aghi	%r15, 160
	.cfi_def_cfa_offset 160
	br	%r14
	done	r401

	function r402			# 6: RA in another word
	lghi	%r0, 0
	stg	%r0, 120(%r15)
	stg	%r14, 112(%r15)
	.cfi_offset %r14, -48+8*BAD
	lghi	%r14, 0
	lg	%r14, 112(%r15)
	.cfi_restore %r14
	br	%r14
	done	r402

	function r403			# 6: FP in another word
	lghi	%r0, 0
	stg	%r0, 96(%r15)
	stg	%r11, 88(%r15)
	.cfi_offset %r11, -72+8*BAD
	lghi	%r11, 0
	lg	%r11, 88(%r15)
	.cfi_restore %r11
	br	%r14
	done	r403

	function r405			# 2: no caller
	.if	BAD
	.cfi_undefined %r14
	.endif
	nopr
	br	%r14
	done	r405

	function tail			# 2, a tail call
	larl	%r1, leaf
	br	%r1
	done	tail

	function leaf			# 1
	br	%r14
	done	leaf

	function in_register		# 4: RA in a floating-point register
	ldgr	%f0, %r14
	.cfi_register %r14, %f0
	lghi	%r14, 0
	lgdr	%r14, %f0
	.cfi_restore %r14
	br	%r14
	done	in_register
