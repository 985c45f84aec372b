# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A .plt with a block of zeros, as GNU ld 2.40 makes it in static PIEs: its rows, of SFrame and CFI alike, start inside instructions that no one runs.
	.section .plt,"ax",@progbits
	.balign	16
	.cfi_startproc
	.cfi_escape 0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22
	.irp	number, 0, 1
	jmp	*table(%rip)
	.byte	0x68			# push $number
	.4byte	\number
	jmp	resolve
	.endr
	.skip	16
	.cfi_endproc

	.text
resolve:
	ret

	.data
table:
	.quad	0
