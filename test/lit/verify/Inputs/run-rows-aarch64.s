// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program without a C library, for --check=run in an emulator. Each function r40N has the finding of its name
// where BAD is 1, which does not change the code; the others are right in any case.
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

	function _start			// 10 instructions
	.if	!BAD			// R404
	.cfi_undefined x30
	.endif
	bl	r401
	mov	x29, #0x5555
	bl	r402
	bl	r403
	bl	r405
	bl	tail
	bl	exclusive
	mov	x8, #93			// exit
	mov	x0, #0
	svc	#0
	done	_start

	function r401			// 3: CFA after a change of SP
	sub	sp, sp, #16
	.cfi_def_cfa_offset 16-16*BAD
	add	sp, sp, #16
	.cfi_def_cfa_offset 0
	ret
	done	r401

	function r402			// 3: RA in another word
	stp	x30, xzr, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x30, -16+8*BAD
	ldr	x30, [sp], #16
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
	done	r402

	function r403			// 5: FP in another word
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16+8*BAD
	.cfi_offset x30, -8
	mov	x29, #0
	nop
	ldp	x29, x30, [sp], #16
	.cfi_restore x29
	.cfi_restore x30
	.cfi_def_cfa_offset 0
	ret
	done	r403

	function r405			// 2: no caller
	.if	BAD
	.cfi_undefined x30
	.endif
	nop
	ret
	done	r405

	function tail			// 2, a tail call
	adr	x1, leaf
	br	x1
	done	tail

	function leaf			// 1
	ret
	done	leaf

	function exclusive		// 4 steps: ldxr to stxr, which fails if it is stopped before, is one
	mov	x1, sp
1:	ldxr	w2, [x1]
	add	w2, w2, #1
	stxr	w3, w2, [x1]
	cbnz	w3, 1b
	ret
	done	exclusive
