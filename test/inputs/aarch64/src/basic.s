// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every version can represent on aarch64, either byte order. One function per situation; the names describe them.

	.text

	.globl	leaf				// no frame: one row, one word, CFA = SP + 0
	.type	leaf, %function
leaf:
	.cfi_startproc
	mov	w0, #0
	ret
	.cfi_endproc
	.size	leaf, .-leaf

	.globl	frame_fp			// frame record, CFA from FP
	.type	frame_fp, %function
frame_fp:
	.cfi_startproc
	stp	x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	mov	x29, sp
	.cfi_def_cfa_register 29
	bl	extern_a
	bl	extern_b
	mov	sp, x29
	.cfi_def_cfa_register 31
	ldp	x29, x30, [sp], #32
	.cfi_restore 30
	.cfi_restore 29
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	frame_fp, .-frame_fp

	.globl	ra_only				// RA saved, FP not: two words
	.type	ra_only, %function
ra_only:
	.cfi_startproc
	str	x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 30, -16
	bl	leaf
	ldr	x30, [sp], #16
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	ra_only, .-ra_only

	.globl	words2				// 2-byte words
	.type	words2, %function
words2:
	.cfi_startproc
	stp	x29, x30, [sp, #-512]!
	.cfi_def_cfa_offset 512
	.cfi_offset 29, -512
	.cfi_offset 30, -504
	bl	leaf
	ldp	x29, x30, [sp]
	.cfi_restore 29
	.cfi_restore 30
	add	sp, sp, #512
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	words2, .-words2

	.globl	words4				// 4-byte words
	.type	words4, %function
words4:
	.cfi_startproc
	sub	sp, sp, #0x100, lsl #12
	.cfi_def_cfa_offset 0x100000
	stp	x29, x30, [sp]
	.cfi_offset 29, -0x100000
	.cfi_offset 30, -0xffff8
	bl	leaf
	ldp	x29, x30, [sp]
	.cfi_restore 29
	.cfi_restore 30
	add	sp, sp, #0x100, lsl #12
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	words4, .-words4

	.globl	addr2				// 256 bytes and more: 2-byte row addresses
	.type	addr2, %function
addr2:
	.cfi_startproc
	sub	sp, sp, #16
	.cfi_def_cfa_offset 16
	.rept	70
	nop
	.endr
	add	sp, sp, #16
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	addr2, .-addr2

	.globl	pac_a				// return address signed with key A
	.type	pac_a, %function
pac_a:
	.cfi_startproc
	hint	#25				// paciasp
	.cfi_negate_ra_state
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	bl	leaf
	ldp	x29, x30, [sp], #16
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	hint	#29				// autiasp
	.cfi_negate_ra_state
	ret
	.cfi_endproc
	.size	pac_a, .-pac_a

	.globl	pac_b				// key B
	.type	pac_b, %function
pac_b:
	.cfi_startproc
	.cfi_b_key_frame
	hint	#27				// pacibsp
	.cfi_negate_ra_state
	str	x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 30, -16
	bl	leaf
	ldr	x30, [sp], #16
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	hint	#31				// autibsp
	.cfi_negate_ra_state
	ret
	.cfi_endproc
	.size	pac_b, .-pac_b

	.globl	twin_a				// two functions with equal rows
	.type	twin_a, %function
twin_a:
	.cfi_startproc
	str	x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 30, -32
	bl	leaf
	ldr	x30, [sp], #32
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	twin_a, .-twin_a

	.globl	twin_b
	.type	twin_b, %function
twin_b:
	.cfi_startproc
	str	x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 30, -32
	bl	frame_fp
	ldr	x30, [sp], #32
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	twin_b, .-twin_b

	.globl	empty				// zero-size function
	.type	empty, %function
empty:
	.cfi_startproc
	.cfi_endproc
	.size	empty, .-empty

	.globl	restorer			// signal frame
	.type	restorer, %function
restorer:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_def_cfa_offset 256
	.cfi_offset 29, -256
	.cfi_offset 30, -248
	mov	x8, #139
	svc	#0
	.cfi_endproc
	.size	restorer, .-restorer

	.globl	_start				// outermost frame
	.type	_start, %function
_start:
	.cfi_startproc
	.cfi_undefined 30
	mov	x29, #0
	bl	frame_fp
	udf	#0
	.cfi_endproc
	.size	_start, .-_start

	.section .note.GNU-stack,"",%progbits
