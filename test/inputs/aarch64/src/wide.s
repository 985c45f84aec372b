// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of each size class at its borders, in a section without contents so that the file stays small.
// 252, 256, 65,532 and 65,536 bytes: 1-, 2-, 2- and 4-byte row addresses.

	.section .wide,"ax",%nobits

	.macro	sized name, size
	.globl	\name
	.type	\name, %function
\name:
	.cfi_startproc
	.skip	4
	.cfi_def_cfa_offset 16
	.cfi_offset 30, -16
	.skip	4
	.cfi_offset 29, -8
	.skip	\size - 12
	.cfi_def_cfa_offset 0
	.skip	4
	.cfi_endproc
	.size	\name, .-\name
	.endm

	sized	size_252, 252
	sized	size_256, 256
	sized	size_65532, 65532
	sized	size_65536, 65536

	.section .note.GNU-stack,"",%progbits
