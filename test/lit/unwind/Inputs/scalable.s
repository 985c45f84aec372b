// A frame with two scalable vectors: its CFA, and where FP and RA are saved, are expressions over VG, as gcc writes them.
// VG counts 8 bytes, so that two vectors have 16 * VG.
	.text
	.globl _start
_start:
	.cfi_startproc
	.cfi_undefined x30
	bl outer
after_start:
	brk #1
	.cfi_endproc

outer:
	.cfi_startproc
	stp x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	bl scalable
after_outer:
	ldp x29, x30, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc

scalable:
	.cfi_startproc
	addvl sp, sp, #-2
	.cfi_escape 0x0f, 8, 0x8f, 0, 0x92, 0x2e, 0, 0x40, 0x1e, 0x22 // sp + VG * 16
	sub sp, sp, #16
	.cfi_escape 0x0f, 10, 0x8f, 0, 0x92, 0x2e, 0, 0x40, 0x1e, 0x23, 16, 0x22 // sp + (VG * 16 + 16)
	stp x29, x30, [sp]
	.cfi_escape 0x10, 29, 2, 0x8f, 0 // at sp
	.cfi_escape 0x10, 30, 2, 0x8f, 8 // at sp + 8
	bl leaf
after_scalable:
	ldp x29, x30, [sp]
	.cfi_restore x29
	.cfi_restore x30
	add sp, sp, #16
	.cfi_escape 0x0f, 8, 0x8f, 0, 0x92, 0x2e, 0, 0x40, 0x1e, 0x22
	addvl sp, sp, #2
	.cfi_def_cfa sp, 0
	ret
	.cfi_endproc

leaf:
	.cfi_startproc
	brk #1
	ret
	.cfi_endproc

// A call in streaming mode: the caller's VG is saved.
streaming:
	.cfi_startproc
	stp x29, x30, [sp, #-32]!
	.cfi_def_cfa_offset 32
	.cfi_offset x29, -32
	.cfi_offset x30, -24
	.cfi_offset vg, -16
	bl leaf
after_streaming:
	ldp x29, x30, [sp], #32
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	.cfi_restore vg
	ret
	.cfi_endproc
